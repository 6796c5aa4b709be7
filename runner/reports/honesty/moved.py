"""How much the answers moved between runs of the same questions."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from runner.reports.honesty._cells import table, words
from runner.reports.schema import Report
from runner.suites.memory_honesty import HonestyVerdict, Moved, Repeats, Spread

HEADS = ("runs", "any", "two by two", "wrong", "right", "neighbours", "false")
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


def movements(reports: Sequence[Report]) -> list[RenderableType]:
    """What moved of each system's answers, a line each; nothing where nothing was run twice."""
    found = [(report.system.name, again) for report in reports if (again := repeated(report))]
    if not found:
        return []
    made = table("system", *HEADS)
    for name, (repeats, moved) in found:
        made.add_row(words(name), *cells(repeats, moved))
    return [Group(made, Text(NOTE))]


def cells(repeats: Repeats, moved: Moved) -> tuple[str, ...]:
    """The figures of a line."""
    return (
        str(repeats.runs),
        f"{repeats.differing}/{moved.questions}",
        f"{100 * moved.mean:.1f}%",
        *(_range(moved.rates[name]) for name in SPREADS),
    )


def _range(spread: Spread) -> str:
    if spread.least is None or spread.most is None:
        return "none"
    least, most = f"{100 * spread.least:.0f}", f"{100 * spread.most:.0f}"
    return f"{least}%" if least == most else f"{least}–{most}%"
