"""A report as tables that fit eighty columns. Everything shown is plain text, never markup."""

import re
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from runner.model import Outcome, RunRecord
from runner.plain import plain
from runner.reports.cells import dollars
from runner.reports.formats import Shown
from runner.reports.honesty import asked
from runner.reports.readout import readout
from runner.reports.remarks import answered_by, drifted
from runner.reports.schema import Report
from runner.reports.sheet import Sheet
from runner.reports.sheets import published_sheets, runs_sheet, suite_sheets, summary_sheet
from runner.runs.protocol import label
from runner.suites.honesty_learning import Lesson
from runner.suites.memory_honesty import Exam
from runner.suites.registry import suite_of
from runner.suites.update_gate import Gate

__all__ = ["dollars", "render", "show", "shown", "spaced", "title"]


def show(report: Report, console: Console) -> None:
    """Print a report."""
    console.print(render(report))


def render(report: Report) -> RenderableType:
    """The whole of a report: runs, tallies, what failed, what to know."""
    parts: list[RenderableType] = [shown(title(report)), Text()]
    parts += spaced([runs_sheet(report), *suite_sheets(report)])
    parts.append(Shown(summary_sheet(report), head=False))
    for sheet in published_sheets(report):
        if sheet.rows:
            parts += [Text(), Shown(sheet)]
        else:
            parts += [Text(), *map(shown, sheet.notes)]
    if beside := readout(report):
        parts += [Text(), *beside]
    remarks = _remarks(report)
    if remarks:
        parts += [Text(), *remarks]
    return Group(*parts)


def spaced(sheets: Iterable[Sheet]) -> Iterator[RenderableType]:
    """Sheets as they are printed, each followed by an empty line; of one without rows its notes."""
    for sheet in sheets:
        if sheet.rows:
            yield Shown(sheet)
        else:
            yield from map(shown, sheet.notes)
        yield Text()


def title(report: Report) -> str:
    """What was asked of what, and how, in two lines."""
    suite = suite_of(report.case)
    rule = "" if report.options.get("same_slot_admits", True) else ", --no-same-slot-admits"
    told = ", ".join(part for part in label(report.case) if part != suite.name)
    if isinstance(report.case, Exam):
        told = f"{report.case.set} ({report.case.vault}, replaced pages by {report.case.marker})"
    about = f"{suite.title}, {told}" if told else suite.title
    if isinstance(report.case, Gate):
        how = f"{report.case.samples} samples of every pair"
    elif isinstance(report.case, Exam):
        how = f"{report.case.size} questions, {asked(report.case)}"
    elif isinstance(report.case, Lesson):
        proof = "" if report.options.get("proof", True) else ", no proof"
        how = f"{report.case.size} pairs, {report.case.top_k} pages each at most{proof}"
    else:
        how = f"checks version {report.checks_version}, clock {report.clock.mode}"
    model = f"model {report.model} ({answered_by(report)})" if report.purposes else "no model"
    return f"{about}: {report.system.name} {report.system.version}\n{model}, {how}{rule}"


def _remarks(report: Report) -> list[RenderableType]:
    lines: dict[str, list[str]] = {}
    for run in report.runs:
        # Runs that went alike are told of once.
        for line in _told(run, report.checks_version):
            lines.setdefault(line, []).append(f"{run.spec.kind} {run.spec.index}")
    remarks = [_bullet(f"{', '.join(runs)}: {line}") for line, runs in lines.items()]
    remarks += [_bullet(note) for note in (*report.notes, *drifted(report))]
    if not report.comparable.holds:
        remarks.append(_bullet(f"Not comparable with the published runs ({report.comparable.to}):"))
        remarks += [_bullet(why, indent=4) for why in report.comparable.why]
    return list(remarks)


def _bullet(text: str, indent: int = 0) -> Padding:
    return Padding(shown(text), (0, 0, 0, indent))


def _told(run: RunRecord, version: int) -> list[str]:
    """What there is to say of one run, a sentence each."""
    told = list(run.warnings)
    if run.ending.outcome in (Outcome.PASSED, Outcome.FAILED):
        result = next(result for result in run.checks if result.version == version)
        for check in result.checks:
            if not check.passed:
                why = "; ".join(_ID.sub("", evidence) for evidence in check.evidence)
                told.append(f"({check.id}) {check.title}: broken" + (f" by {why}" if why else ""))
    else:
        told.append(f"{run.ending.kind}. {run.ending.detail}")
    return told


_ID = re.compile(r" \([0-9a-f-]{36}\)$")
"""The claim's id, which the report holds and a terminal has no room for."""


def shown(text: str, style: str = "") -> Text:
    """Text of a stranger for the terminal."""
    return Text(plain(text), style=style)
