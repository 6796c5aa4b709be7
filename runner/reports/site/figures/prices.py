"""What a system's answers are worth as wrong citations get dearer."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.reports.sheet import Cell, Column, Sheet
from runner.reports.site.figures._drawing import SMALL, WIDTH, drawing, ruled, spread
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import INK, dash, marker, series
from runner.suites.memory_honesty import WEIGHTS

_HEIGHT, _LEFT, _BOTTOM, _TOP, _LABELS = 300.0, 52.0, 42.0, 12.0, 190.0
_LOW, _HIGH = -1.0, 1.0
"""What is drawn of the worth of a question; what falls below leaves the picture and stays in the
table."""


@dataclass(frozen=True, slots=True)
class Worth:
    """One system's counts."""

    label: str
    right: int
    wrong: int
    n: int
    """Questions; at least one."""

    def at(self, weight: float) -> float:
        """Right minus so many times wrong, a question."""
        return (self.right - weight * self.wrong) / self.n


def prices(name: str, title: str, description: str, all_: Sequence[Worth]) -> Figure:
    """Right citations minus wrong ones, by what a wrong one costs: a straight line a system.

    Args:
        name: of the figure.
        title: the same in words.
        description: what is drawn, for who does not see it.
        all_: the systems.
    """
    last = float(WEIGHTS[-1])
    with drawing(_HEIGHT) as page:
        width, height = WIDTH - _LEFT - _LABELS, _HEIGHT - _BOTTOM - _TOP
        axis = page.axes(_LEFT, _BOTTOM, width, height)
        axis.set_xlim(0, last)
        axis.set_ylim(_LOW, _HIGH)
        axis.set_xticks(range(int(last) + 1))
        axis.set_yticks([-1, -0.5, 0, 0.5, 1], ["−1", "−0.5", "0", "+0.5", "+1"])
        ruled(axis, "x")
        ruled(axis, "y")
        axis.hlines([0], [0], [last], colors=INK, linewidth=1, clip_on=False)
        axis.set_xlabel("right citations that a wrong one costs")
        axis.set_ylabel("worth of a question")
        ends = []
        for number, one in enumerate(all_):
            until = _leaves(one, last)
            axis.plot(
                [0, until], [one.at(0), one.at(until)], color=series(number),
                linestyle=dash(number), linewidth=1.8, clip_on=False,
            )  # fmt: skip
            marks = [(weight, one.at(weight)) for weight in WEIGHTS if weight <= until]
            if marks:
                axis.plot(
                    *zip(*marks, strict=True), color=series(number), marker=marker(number),
                    markersize=5.5, linestyle="none", clip_on=False,
                )  # fmt: skip
            share = (one.at(until) - _LOW) / (_HIGH - _LOW)
            ends.append((_LEFT + width * until / last, _BOTTOM + height * share))
        shifted = spread([y for _, y in ends], 13, _BOTTOM - 24, _HEIGHT - 8)
        for number, (one, (x, end), y) in enumerate(zip(all_, ends, shifted, strict=True)):
            told = page.theirs(one.label, 26)
            if one.at(last) >= _LOW:
                page.lead(
                    [x, WIDTH - _LABELS + 4, WIDTH - _LABELS + 14], [end, y, y], series(number)
                )
            page.mark(WIDTH - _LABELS + 19, y, series(number), marker(number))
            page.say(WIDTH - _LABELS + 28, y, told, fontsize=SMALL)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, all_))


def _leaves(one: Worth, last: float) -> float:
    """The price at which a line leaves the picture; the last one where it stays."""
    if one.at(last) >= _LOW:
        return last
    return (one.right - _LOW * one.n) / one.wrong


def _table(name: str, title: str, all_: Sequence[Worth]) -> Sheet:
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(
            Column("system"),
            *(Column(head, numeric=True) for head in ("right", "wrong", "questions")),
            *(Column(f"costs {weight}", numeric=True, key=f"cost_{weight}") for weight in WEIGHTS),
        ),
        rows=tuple(
            (
                Cell(one.label),
                *(Cell(str(count), value=count) for count in (one.right, one.wrong, one.n)),
                *(Cell(f"{one.at(w):+.2f}".replace("-", "−"), value=one.at(w)) for w in WEIGHTS),
            )
            for one in all_
        ),
        notes=(
            "Right citations minus so many times the wrong ones, over all questions; a refusal"
            " costs nothing and earns nothing. Nothing is ranked by it: what a wrong citation"
            " costs is the reader's to say.",
        ),
    )
