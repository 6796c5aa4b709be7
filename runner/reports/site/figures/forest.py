"""Rates with their 95% intervals, a line each, in as many fields as there are rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.reports.site.figures._drawing import (
    PLAIN,
    SMALL,
    WIDTH,
    Drawing,
    drawing,
    wide,
)
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import GRID, INK, MUTED, PAPER, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _HEAD, _FOOT, _GAP = 17.0, 22.0, 18.0, 52.0
"""Heights of a row, of a field's title and of its scale; the room for figures beside a field."""
_ACROSS = 3


@dataclass(frozen=True, slots=True)
class Share:
    """A rate from 0 to 1 and where it may well lie; none where it is of nothing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    """What it is a count of; none where it is none of anything countable."""
    of: int | None = None

    @property
    def text(self) -> str:
        """In words, to a tenth of a percent."""
        if self.value is None:
            return "none"
        told = f"{100 * self.value:.1f}%"
        if self.low is not None and self.high is not None:
            told += f" [{100 * self.low:.1f}–{100 * self.high:.1f}]"
        return f"{told} {self.hits}/{self.of}" if self.of else told


@dataclass(frozen=True, slots=True)
class Panel:
    """One field: a rate of everyone."""

    title: str
    shares: tuple[Share | None, ...]
    """One for each line, none where there is nothing to tell."""
    less: bool = False
    """Whether less is better; said beside the title."""


def forest(
    name: str,
    title: str,
    description: str,
    labels: Sequence[str],
    panels: Sequence[Panel],
    *,
    first: str = "system",
    hollow: Sequence[int] = (),
) -> Figure:
    """Rates of everyone side by side.

    Args:
        name: of the figure.
        title: the same in words.
        description: what the fields are, for who does not see them.
        labels: of the lines; strangers' text.
        panels: the fields, three in a row.
        first: what the lines are.
        hollow: lines whose marks are left open, such as what rules made of a line above.

    Raises:
        ValueError: a field that has not as many rates as there are lines.
    """
    for panel in panels:
        if len(panel.shares) != len(labels):
            raise ValueError(f"{panel.title}: {len(panel.shares)} rates for {len(labels)} lines")
    margin = 16 + 5.4 * min(34, max(map(wide, labels), default=0))
    body = _ROW * max(1, len(labels))
    block = _HEAD + body + _FOOT
    lines = -(-len(panels) // _ACROSS)
    across = min(_ACROSS, len(panels))
    field = (WIDTH - margin) / across
    height = block * lines + 4
    with drawing(height) as page:
        # One field of matplotlib's for all of ours: each costs more than what is drawn in it.
        axis = page.axes(0, 0, WIDTH, height)
        axis.set_xlim(0, WIDTH)
        axis.set_ylim(0, height)
        for number, panel in enumerate(panels):
            row, column = divmod(number, _ACROSS)
            bottom = height - block * row - _HEAD - body
            left = margin + column * field
            spot = _Field(left, bottom, field - _GAP, body)
            _one(page, axis, spot, panel, hollow)
            told = f"{panel.title}{' (less is better)' if panel.less else ''}"
            page.say(left, bottom + body + 11, told, fontsize=PLAIN, weight="bold")
            for line, share in enumerate(panel.shares):
                if column == 0:
                    label = page.theirs(labels[line], 34)
                    page.say(margin - 8, spot.line(line), label, ha="right")
                _beside(page, left + field - 14, spot.line(line), share)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, labels, panels, first))


def _beside(page: Drawing, x: float, y: float, share: Share | None) -> None:
    if share is None:
        return
    told = "none" if share.value is None else f"{100 * share.value:.0f}%"
    page.say(x, y, told, ha="right", fontsize=SMALL, color=MUTED)


@dataclass(frozen=True, slots=True)
class _Field:
    """Where one rate is drawn, in units of the page."""

    left: float
    bottom: float
    width: float
    height: float

    def share(self, value: float) -> float:
        return self.left + self.width * value

    def line(self, number: int) -> float:
        return self.bottom + self.height - _ROW * (number + 0.5)


def _one(page: Drawing, axis: "Axes", spot: _Field, panel: Panel, hollow: Sequence[int]) -> None:
    quarters = [spot.share(quarter / 4) for quarter in range(5)]
    top = spot.bottom + spot.height
    axis.vlines(quarters, spot.bottom, top, colors=GRID, linewidth=0.6, clip_on=False)
    for value in (0.0, 0.5, 1.0):
        page.say(
            spot.share(value), spot.bottom - 9, f"{value:.0%}", ha="center", fontsize=SMALL,
            color=MUTED,
        )  # fmt: skip
    told = [(line, share) for line, share in enumerate(panel.shares) if share is not None]
    known = [
        (spot.line(line), spot.share(share.low), spot.share(share.high))
        for line, share in told
        if share.low is not None and share.high is not None
    ]
    if known:
        lines, lows, highs = zip(*known, strict=True)
        axis.hlines(lines, lows, highs, colors=INK, linewidth=1.4, clip_on=False)
    for filled in (True, False):
        marks = [
            (spot.share(share.value), spot.line(line))
            for line, share in told
            if share.value is not None and (line in hollow) != filled
        ]
        if marks:
            axis.plot(
                *zip(*marks, strict=True), color=series(0), marker="o", markersize=6,
                clip_on=False, markeredgecolor=series(0), markeredgewidth=1.5, linestyle="none",
                markerfacecolor=series(0) if filled else PAPER,
            )  # fmt: skip


def _table(
    name: str, title: str, labels: Sequence[str], panels: Sequence[Panel], first: str
) -> Sheet:
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(Column(first), *(Column(panel.title, numeric=True) for panel in panels)),
        rows=tuple(
            (Cell(label), *(_cell(panel.shares[line]) for panel in panels))
            for line, label in enumerate(labels)
        ),
        notes=("Rates with their 95% intervals, and what they are of.",),
    )


def _cell(share: Share | None) -> Cell:
    if share is None:
        return Cell("not told", Tone.FAINT)
    tone = Tone.FAINT if share.value is None else Tone.PLAIN
    numbers = {"rate": share.value, "low": share.low, "high": share.high}
    counts = {} if share.of is None else {"hits": share.hits, "of": share.of}
    return Cell(share.text, tone, {**counts, **numbers})
