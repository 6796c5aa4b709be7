"""One run from its first step to its last: its days, its model calls, and its money."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING

from runner.model import RunRecord
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.reports.site.figures._drawing import (
    PLAIN,
    SMALL,
    WIDTH,
    Drawing,
    drawing,
    ruled,
)
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import INK, MUTED, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _RIGHT, _NAMES, _FIELD, _BETWEEN, _DAYS = 64.0, 24.0, 30.0, 78.0, 24.0, 34.0
_FEW = 8
"""Steps that there is room to name."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One step, and what it took."""

    name: str
    verb: str
    day: date | None
    seconds: float
    calls: int
    usd: Decimal
    total: Decimal
    """Of this step and those before it."""


def moments(run: RunRecord) -> tuple[Moment, ...]:
    """The steps of a run in their order, with the calls that were made in them."""
    calls = Counter(call.step for call in run.calls)
    spent: dict[str, Decimal] = {}
    for call in run.calls:
        spent[call.step] = spent.get(call.step, Decimal(0)) + call.cost_usd
    each = [spent.get(step.name, Decimal(0)) for step in run.steps]
    return tuple(
        Moment(step.name, step.verb, step.day, step.seconds, calls[step.name], usd, total)
        for step, usd, total in zip(run.steps, each, accumulate(each), strict=True)
    )


def timeline(name: str, run: RunRecord) -> Figure:
    """The steps of a run at their days, the calls of each, and the money so far.

    Steps stand one beside another in their order; where the day changes it says by how much.

    Args:
        name: of the figure.
        run: with its steps; of one without any the picture is empty.
    """
    told = moments(run)
    title = f"Timeline of {run.spec.id}"
    ceiling = run.spec.max_usd
    description = (
        "The steps from left to right with the days they happened on; below each the model calls"
        " made in it; below those the dollars spent so far"
        f"{'' if ceiling is None else ', with the ceiling as a broken line'}."
    )
    height = _NAMES + 2 * _FIELD + _BETWEEN + _DAYS
    with drawing(height) as page:
        width = WIDTH - _LEFT - _RIGHT
        calls = page.axes(_LEFT, _DAYS + _FIELD + _BETWEEN, width, _FIELD)
        money = page.axes(_LEFT, _DAYS, width, _FIELD)
        slots = list(range(len(told)))
        for axis in (calls, money):
            axis.set_xlim(-0.5, max(1, len(told)) - 0.5)
        _calls(calls, told, slots)
        _money(money, told, slots, ceiling)
        _names(page, told, width, height)
        _days(page, told, width)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, told, ceiling))


def _calls(axis: "Axes", told: Sequence[Moment], slots: Sequence[int]) -> None:
    most = max((one.calls for one in told), default=0) or 1
    axis.set_ylim(0, most)
    axis.set_yticks([0, most])
    axis.set_ylabel("calls")
    ruled(axis, "y")
    axis.bar(
        slots, [one.calls for one in told], width=0.6, color=(series(0), 0.45),
        edgecolor=(series(0), 1.0), linewidth=1, clip_on=False,
    )  # fmt: skip


def _money(
    axis: "Axes", told: Sequence[Moment], slots: Sequence[int], ceiling: Decimal | None
) -> None:
    totals = [float(one.total) for one in told]
    most = max([*totals, float(ceiling or 0)]) or 1.0
    axis.set_ylim(0, most)
    ticks = dict.fromkeys([0.0, totals[-1] if totals else 0.0, most])
    far = [tick for tick in ticks if tick in (0.0, most) or 0.15 < tick / most < 0.85]
    axis.set_yticks(far, [_usd(tick) for tick in far])
    axis.set_ylabel("US$ so far")
    ruled(axis, "y")
    axis.plot(
        slots, totals, color=series(5), linewidth=1.8, drawstyle="steps-post", marker="o",
        markersize=4.5, clip_on=False,
    )  # fmt: skip
    if ceiling is not None:
        low, high = axis.get_xlim()
        axis.plot(
            [low, high], [float(ceiling)] * 2, color=INK, linewidth=1.2, linestyle=(0, (5, 3)),
            clip_on=False,
        )  # fmt: skip


def _names(page: Drawing, told: Sequence[Moment], width: float, height: float) -> None:
    """What each step was, or its number where there are too many."""
    slot = width / max(1, len(told))
    every = -(-len(told) // 24) or 1
    for number, one in enumerate(told):
        x = _LEFT + slot * (number + 0.5)
        if len(told) <= _FEW:
            label = page.theirs(one.name, max(5, int(slot / 5.4)))
            page.say(x, height - 12, label, ha="center", fontsize=SMALL)
        elif number % every == 0:
            page.say(x, height - 12, str(number + 1), ha="center", fontsize=SMALL)


def _days(page: Drawing, told: Sequence[Moment], width: float) -> None:
    """The day of each group of steps below them, and how far it is from the one before."""
    slot = width / max(1, len(told))
    before: date | None = None
    number, room = 0, -1e9
    while number < len(told):
        day = told[number].day
        until = number
        while until < len(told) and told[until].day == day:
            until += 1
        begin, end = _LEFT + slot * number, _LEFT + slot * until
        page.lead([begin + 3, end - 3], [_DAYS - 10] * 2, MUTED)
        if begin >= room:
            label = "the machine's own day" if day is None else day.isoformat()
            later = "" if day is None or before is None else f" (+{(day - before).days} d)"
            page.say((begin + end) / 2, _DAYS - 20, f"{label}{later}", ha="center", fontsize=PLAIN)
            room = (begin + end) / 2 + 60
        before, number = day, until


def _usd(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value else "0"


def _table(name: str, title: str, told: Sequence[Moment], ceiling: Decimal | None) -> Sheet:
    notes = () if ceiling is None else (f"Ceiling: US${ceiling}.",)
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(
            Column("#", numeric=True, key="number"),
            Column("step"),
            Column("verb"),
            Column("day"),
            Column("seconds", numeric=True),
            Column("calls", numeric=True),
            Column("US$", numeric=True, key="usd"),
            Column("so far", numeric=True, key="usd_so_far"),
        ),
        rows=tuple(
            (
                Cell(str(number), value=number),
                Cell(one.name),
                Cell(one.verb),
                Cell("own clock", Tone.FAINT) if one.day is None else Cell(one.day.isoformat()),
                Cell(f"{one.seconds:.1f}", value=one.seconds),
                Cell(str(one.calls), value=one.calls),
                Cell(f"{one.usd:.4f}", value=str(one.usd)),
                Cell(f"{one.total:.4f}", value=str(one.total)),
            )
            for number, one in enumerate(told, 1)
        ),
        notes=notes,
    )
