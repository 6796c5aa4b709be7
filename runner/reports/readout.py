"""What came first when a system was asked, as a table that fits eighty columns.

Runs in which the same came first are told of together, and a step after which the same came first
as after the one before is not listed again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from runner.model import RunSpec
from runner.reports.cells import NOTHING, figure, sheet, text, whole, words
from runner.reports.formats import cell_text, line
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet, Tone
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


def readout_sheet(report: Report) -> tuple[Sheet, ...]:
    """What came first, as a sheet; nothing where nothing was asked."""
    found = rows(report)
    case = report.case
    if not found or not isinstance(case, Case):
        return ()
    everyone = [run.spec for run in report.runs if read_outs(run.observations)]
    columns = [text("question"), text("asked after", "after"), text("in", "runs")]
    columns += [text("what came first", "first"), figure("days", "age_days"), text("names")]
    days = (
        f"days: its age. old: it names {case.home}, the home before the move;"
        f" new: {case.away}, the one after."
    )
    lines = [
        (
            words(row.came.asked),
            Cell(_short(row.after), value=row.after),
            words(_which(row.runs, everyone)),
            _first(row.came),
            _age(row.came),
            words(_names(row.came)),
        )
        for row in found
    ]
    return (sheet("read-out", HEAD, columns, lines, (days,)),)


HEAD = "Read out beside the checks, and no part of the verdict (docs/read-out.md):"


def readout(report: Report) -> list[RenderableType]:
    """The table, and how to read it; nothing where nothing was asked. A question stands above what
    came first of it, as wide as it is."""
    parts: list[RenderableType] = []
    for one in readout_sheet(report):
        heads = (Text(column.name) for column in one.columns[1:])
        parts += [Text(one.title), Text(), _Line(*heads), Rule(style="")]
        asked = None
        for question, *rest in one.rows:
            if question != asked:
                asked = question
                parts.append(Text(line(question.text), "bold"))
            parts.append(_Line(*map(cell_text, rest)))
        parts += [Text(line(note)) for note in one.notes]
    return parts


class _Line:
    """A line of the table; narrow terminals are told what came first below the rest."""

    def __init__(self, *cells: Text) -> None:
        self.cells = cells

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < sum(width for width, _ in _COLUMNS) + 2 * (len(_COLUMNS) - 1):
            yield Text("  ").join([Text(" "), *(cell for cell in self.cells if cell.plain)])
            return
        made = Table.grid(padding=(0, 2, 0, 0))
        for width, justify in _COLUMNS:
            made.add_column(width=width, justify=justify, overflow="fold")
        made.add_row(*self.cells)
        yield made


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


def _first(one: Readout) -> Cell:
    if one.error is not None:
        return words(f"error: {_cut(one.error)}", Tone.UNSURE)
    return words(_cut(one.first.text)) if one.first else words("nothing", Tone.FAINT)


def _age(one: Readout) -> Cell:
    age = one.first.age_days if one.first else None
    return NOTHING if age is None else whole(age)


def _names(one: Readout) -> str:
    first = one.first
    named = (("old", first.names_before), ("new", first.names_after)) if first else ()
    return " ".join(name for name, there in named if there) or "·"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
