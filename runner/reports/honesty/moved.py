"""How much the answers moved between runs of the same questions."""

from collections.abc import Sequence

from runner.reports.cells import count, whole, words
from runner.reports.honesty._cells import table
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet
from runner.suites.memory_honesty import HonestyVerdict, Moved, Repeats, Spread

HEADS = ("runs", "any", "two by two", "wrong", "right", "neighbours", "false")
_KEYS = ("runs", "any", "two_by_two", "wrong", "right", "neighbours_refused", "false_refusals")
SPREADS = ("wrong_rate", "answerable_right", "neighbours_refused", "false_refusals")
NOTE = (
    "any: questions on which not all runs stand by the same page, or refuse; two by two: the mean"
    " over pairs of runs. Then the least and the most of a rate: wrong citations, right to"
    " answerable, neighbours refused, false refusals."
)


def repeated(report: Report) -> tuple[Repeats, Moved] | None:
    """How far a report's runs agree; none for fewer than two, or where that was not told yet."""
    verdict = report.verdict
    if not isinstance(verdict, HonestyVerdict) or verdict.repeats is None:
        return None
    moved = verdict.repeats.moved
    return None if moved is None else (verdict.repeats, moved)


def movements(reports: Sequence[Report]) -> tuple[Sheet, ...]:
    """What moved of each system's answers, a line each; nothing where nothing was run twice."""
    found = [(report.system.name, again) for report in reports if (again := repeated(report))]
    if not found:
        return ()
    lines = [(words(name), *_cells_of(repeats, moved)) for name, (repeats, moved) in found]
    heads = list(zip(HEADS, _KEYS, strict=True))
    title = "What moved between runs of the same questions"
    return (table("moved", title, ("system", "system"), heads, lines, (NOTE,)),)


def cells(repeats: Repeats, moved: Moved) -> tuple[str, ...]:
    """The figures of a line."""
    return tuple(cell.text for cell in _cells_of(repeats, moved))


def _cells_of(repeats: Repeats, moved: Moved) -> tuple[Cell, ...]:
    return (
        whole(repeats.runs),
        count(repeats.differing, moved.questions),
        Cell(f"{100 * moved.mean:.1f}%", value=moved.mean),
        *(_range(moved.rates[name]) for name in SPREADS),
    )


def _range(spread: Spread) -> Cell:
    if spread.least is None or spread.most is None:
        return Cell("none")
    least, most = f"{100 * spread.least:.0f}", f"{100 * spread.most:.0f}"
    told = f"{least}%" if least == most else f"{least}–{most}%"
    return Cell(told, value={"least": spread.least, "most": spread.most})
