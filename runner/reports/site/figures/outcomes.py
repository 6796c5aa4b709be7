"""What became of questions, as bars that are as long as there are questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.reports.sheet import Cell, Column, Sheet
from runner.reports.site._honesty_marks import SIGNS
from runner.reports.site.figures._drawing import PLAIN, SMALL, WIDTH, Drawing, drawing, ruled, wide
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import series
from runner.suites.memory_honesty import Mark

_ROW, _HEAD, _FOOT = 24.0, 26.0, 30.0
_COLOURS: Mapping[Mark, int] = {
    Mark.RIGHT: 2,
    Mark.REFUSED: 0,
    Mark.STALE: 1,
    Mark.NEIGHBOUR: 5,
    Mark.UNRELATED: 3,
    Mark.FALSE_REFUSAL: 6,
}


@dataclass(frozen=True, slots=True)
class Group:
    """Some questions by what became of them."""

    label: str
    counts: Mapping[Mark, int]

    @property
    def n(self) -> int:
        """How many there are."""
        return sum(self.counts.values())


def outcomes(
    name: str,
    title: str,
    description: str,
    groups: Sequence[Group],
    *,
    first: str = "questions",
) -> Figure:
    """Questions by what became of them, a bar for each group.

    Args:
        name: of the figure.
        title: the same in words.
        description: what is drawn, for who does not see it.
        groups: the bars, from the top; their labels may be strangers' text.
        first: what the bars are.
    """
    margin = 16 + 5.4 * min(34, max((wide(group.label) for group in groups), default=0))
    most = max((group.n for group in groups), default=0) or 1
    body = _ROW * max(1, len(groups))
    height = _HEAD + body + _FOOT
    with drawing(height) as page:
        width = WIDTH - margin - 20
        axis = page.axes(margin, _FOOT, width, body)
        axis.set_xlim(0, most)
        axis.set_ylim(max(1, len(groups)) - 0.5, -0.5)
        axis.set_xticks(_ticks(most))
        ruled(axis, "x")
        axis.set_xlabel("questions")
        for line, group in enumerate(groups):
            begin = 0
            y = _FOOT + body - _ROW * (line + 0.5)
            page.say(margin - 8, y, page.theirs(group.label, 34), ha="right")
            for mark, sign in SIGNS.items():
                count = group.counts.get(mark, 0)
                if not count:
                    continue
                colour = series(_COLOURS[mark])
                axis.barh(
                    [line], [count], left=[begin], height=0.72, color=(colour, 0.28),
                    edgecolor=(colour, 1.0), linewidth=1.2, clip_on=False,
                )  # fmt: skip
                told = f"{sign.symbol} {count}"
                room = width * count / most
                if room >= 6 * len(told):
                    x = margin + width * (begin + count / 2) / most
                    page.say(x, y, page.theirs(told), ha="center", fontsize=SMALL)
                elif room >= 8:
                    x = margin + width * (begin + count / 2) / most
                    page.say(x, y, page.theirs(sign.symbol), ha="center", fontsize=SMALL)
                begin += count
        _legend(page, height - 11)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, groups, first))


def _legend(page: Drawing, y: float) -> None:
    x = 8.0
    for mark, sign in SIGNS.items():
        page.mark(x + 4, y, series(_COLOURS[mark]), "s")
        told = f"{sign.symbol} {sign.word}"
        page.say(x + 12, y, page.theirs(told), fontsize=PLAIN)
        x += 34 + 6 * len(told)


def _ticks(most: int) -> list[int]:
    """Whole numbers, at most six of them."""
    step = next(
        step * 10**power for power in range(9) for step in (1, 2, 5) if most <= 5 * step * 10**power
    )
    return list(range(0, most + 1, step))


def _table(name: str, title: str, groups: Sequence[Group], first: str) -> Sheet:
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(
            Column(first),
            Column("n", numeric=True),
            *(Column(f"{sign.symbol} {sign.word}", numeric=True, key=mark.value)
              for mark, sign in SIGNS.items()),
        ),
        rows=tuple(
            (
                Cell(group.label),
                Cell(str(group.n), value=group.n),
                *(_cell(group.counts.get(mark, 0)) for mark in SIGNS),
            )
            for group in groups
        ),
        notes=tuple(f"{sign.symbol} {sign.word}: {sign.meaning}." for sign in SIGNS.values()),
    )  # fmt: skip


def _cell(count: int) -> Cell:
    return Cell(str(count), value=count)
