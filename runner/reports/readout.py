"""What came first when a system was asked, as a table that fits eighty columns.

Runs in which the same came first are told of together, and a step after which the same came first
as after the one before is not listed again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runner.model import RunSpec
from runner.plain import plain
from runner.reports.schema import Report
from runner.suites.trip_vs_move import Case, Readout, read_outs

LONGEST = 160
"""Characters of a statement that are shown; the report holds all of it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came first after one step, and in which runs."""

    question: str
    after: str
    came: Readout
    runs: tuple[RunSpec, ...]


def rows(report: Report) -> tuple[Row, ...]:
    """What came first of every question after every step, where it is not what came before."""
    runs = [(run.spec, read_outs(run.observations)) for run in report.runs]
    news = [(spec, one) for spec, told in runs for one in _news(told)]
    order = dict.fromkeys((one.question, one.after) for _, told in runs for one in told)
    return tuple(
        Row(question, after, came, specs)
        for question in dict.fromkeys(question for question, _ in order)
        for _, after in (key for key in order if key[0] == question)
        for came, specs in _alike(
            (spec, one) for spec, one in news if (one.question, one.after) == (question, after)
        )
    )


def readout(report: Report) -> list[RenderableType]:
    """The table, and how to read it; nothing where nothing was asked."""
    found = rows(report)
    if not found or not isinstance(report.case, Case):
        return []
    everyone = [run.spec for run in report.runs if read_outs(run.observations)]
    parts: list[RenderableType] = [
        Text("Read out beside the checks, and no part of the verdict (docs/read-out.md):"),
        Text(),
        _line(*map(Text, ("asked after", "in", "what came first", "days", "names"))),
        Text("─" * 80),
    ]
    asked = None
    for row in found:
        if row.question != asked:
            asked = row.question
            parts.append(_shown(row.came.asked, "bold"))
        parts.append(
            _line(
                _shown(_short(row.after)),
                _shown(_which(row.runs, everyone)),
                _text(row.came),
                _shown(_age(row.came)),
                _shown(_names(row.came)),
            )
        )
    case = report.case
    parts.append(
        _shown(
            f"days: its age. old: it names {case.home}, the home before the move;"
            f" new: {case.away}, the one after."
        )
    )
    return parts


def _line(*cells: Text) -> Table:
    """A line of the table; a question stands above its own, as wide as it is."""
    line = Table.grid(padding=(0, 2, 0, 0))
    for width, justify in _COLUMNS:
        line.add_column(width=width, justify=justify, overflow="fold")
    line.add_row(*cells)
    return line


_COLUMNS: tuple[tuple[int, Literal["left", "right"]], ...] = (
    (16, "left"),
    (10, "left"),
    (35, "left"),
    (4, "right"),
    (7, "left"),
)


def _news(told: Iterable[Readout]) -> Iterator[Readout]:
    """Answers that differ from what the same question brought up before, in one run."""
    last: dict[str, object] = {}
    for one in told:
        if last.get(one.question) != (seen := _seen(one)):
            yield one
        last[one.question] = seen


def _seen(one: Readout) -> object:
    """All of an answer that is shown."""
    first = one.first
    return (one.error, first and (first.text, first.age_days))


def _alike(
    told: Iterable[tuple[RunSpec, Readout]],
) -> Iterator[tuple[Readout, tuple[RunSpec, ...]]]:
    groups: dict[object, list[tuple[RunSpec, Readout]]] = {}
    for spec, one in told:
        groups.setdefault(_seen(one), []).append((spec, one))
    for group in groups.values():
        yield group[0][1], tuple(spec for spec, _ in group)


def _which(runs: Iterable[RunSpec], everyone: Iterable[RunSpec]) -> str:
    """Runs in few words: a kind where all of it are meant."""
    there, meant = _by_kind(everyone), _by_kind(runs)
    if there == meant:
        return "all"
    return ", ".join(
        kind if there[kind] == numbers else f"{kind} {', '.join(map(str, numbers))}"
        for kind, numbers in meant.items()
    )


def _by_kind(runs: Iterable[RunSpec]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for run in runs:
        found.setdefault(run.kind, []).append(run.index)
    return found


def _short(step: str) -> str:
    return step.removeprefix("deposit ").removesuffix(".md")


def _text(one: Readout) -> Text:
    if one.error is not None:
        return _shown(f"error: {_cut(one.error)}", "yellow")
    return _shown(_cut(one.first.text)) if one.first else _shown("nothing", "dim")


def _age(one: Readout) -> str:
    age = one.first.age_days if one.first else None
    return "·" if age is None else str(age)


def _names(one: Readout) -> str:
    first = one.first
    named = (("old", first.names_before), ("new", first.names_after)) if first else ()
    return " ".join(name for name, there in named if there) or "·"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _shown(text: str, style: str = "") -> Text:
    return Text(plain(text), style=style)
