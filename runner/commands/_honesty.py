"""What is shown of the runs of ``bench honesty``: tables, comparisons, a page of results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console, Group
from rich.text import Text

from runner.commands._exit import code_of
from runner.commands._formats import write_sheets
from runner.commands._options import Output
from runner.commands._show import print_report, print_reports
from runner.errors import CannotStart, UsageError
from runner.paths import fixtures
from runner.plain import plain
from runner.reports.files import prepare, write_atomically
from runner.reports.formats import Shown
from runner.reports.honesty import (
    Row,
    at_coverage_of,
    compared,
    costs,
    curves,
    effort,
    every_rate,
    exact_rates,
    matrix,
    parts,
    questions,
    row_of,
    title,
    under_rules,
)
from runner.reports.kept_answers import keep
from runner.reports.others import others
from runner.reports.results import page
from runner.reports.schema import Report
from runner.reports.sheet import Sheet
from runner.reports.sheets import sheets_of
from runner.reports.terminal import spaced
from runner.runs.disk import make_folder, try_out
from runner.suites.memory_honesty import Exam, HonestyVerdict

Rows = Mapping[tuple[str, str], Row]
"""By system and set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be shown, as it was typed; sets and systems that only serve a comparison or a
    floor are in neither list."""

    sets: Sequence[str]
    systems: Sequence[str]
    vs: Sequence[str]
    vs_matched: Sequence[str]
    rules: bool
    curve: bool
    ci: bool
    stratified: bool
    reveal: bool
    results: Path | None
    remark: str
    answers: Path | None
    format_: Output

    def prepare(self) -> None:
        """Find out before anything starts whether all can be written.

        Raises:
            CannotStart: something cannot.
        """
        if self.results is not None:
            prepare(self.results.resolve(), resume=True)
        if self.answers is not None:
            try:
                make_folder(self.answers)
                try_out(self.answers)
            except OSError as error:
                raise CannotStart(
                    f"No answers can be written at {self.answers}: {error.strerror or error}.",
                    hint="Nothing was started. Choose a writable --answers.",
                ) from error


def show(done: Sequence[tuple[Report, Path]], wanted: Wanted) -> int:
    """Print all that was asked for.

    Returns:
        The exit code.
    """
    console, errors = Console(), Console(stderr=True)
    reports = [report for report, _ in done]
    rows = _rows(reports)
    if wanted.format_ is Output.JSON:
        print_reports(reports, wanted.format_, console)
    elif wanted.format_ is Output.TABLE:
        _tables(rows, reports, wanted, console)
    else:
        write_sheets(_sheets(rows, reports, wanted, errors), wanted.format_)
    if wanted.results is not None:
        lines = [row for name in wanted.sets for row in _lines(rows, name, rules=wanted.rules)]
        written = page(
            lines, reports, vs=wanted.vs, vs_matched=wanted.vs_matched, remark=wanted.remark
        )
        write_atomically(wanted.results.resolve(), written.encode())
        errors.print(Text(f"Written: {wanted.results}"), soft_wrap=True)
    if wanted.answers is not None:
        for report in reports:
            _keep(wanted.answers, report, errors)
    for _, path in done:
        errors.print(Text(f"Report: {path}"), soft_wrap=True)
    if wanted.reveal and wanted.format_ is Output.TABLE:
        for (_, name), row in rows.items():
            if name in wanted.sets:
                reveal(row, console)
    return code_of(*reports)


def _tables(rows: Rows, reports: Sequence[Report], wanted: Wanted, console: Console) -> None:
    alone = len(reports) == 1
    if alone:
        print_report(reports[0], Output.TABLE, console)
    for name in wanted.sets:
        lines = _lines(rows, name, rules=wanted.rules)
        if not lines or (alone and len(lines) == 1 and wanted.stratified):
            continue  # there is nothing to it that the report does not say
        if alone:
            console.print()
        console.print(Text(title(lines[0].exam)), Text(), sep="\n")
        console.print(Group(*spaced([_matrix(lines, wanted), exact_rates(lines)])), end="")
        if not alone:
            told = effort([one for one in reports if _asks(one, name)])
            console.print(Group(*spaced([*told, *others(name)])), end="")
    if not alone:
        _failures(reports, console)
    for name in wanted.sets:
        for table in _comparisons(rows, name, wanted, console):
            console.print(Text(f"{name}:"), Shown(table), Text(), sep="\n")
        for row in _lines(rows, name, rules=wanted.rules) if wanted.ci else ():
            console.print(Shown(every_rate(row, stratified=wanted.stratified)), Text(), sep="\n")
        if wanted.curve:
            console.print(Group(*spaced([curves(_of_set(rows, name))])), end="")


def _sheets(rows: Rows, reports: Sequence[Report], wanted: Wanted, errors: Console) -> list[Sheet]:
    """All that is shown, as tables named after set and system; what is no table is told aside."""
    found = []
    if len(reports) == 1:
        found += [_called(one, "report") for one in sheets_of(reports[0])]
    for name in wanted.sets:
        lines = _lines(rows, name, rules=wanted.rules)
        if not lines:
            continue
        found += [_called(one, name) for one in (_matrix(lines, wanted), exact_rates(lines))]
        if len(reports) > 1:
            found += [_called(parts(row), f"{name}/{row.label}") for row in lines]
            told = effort([one for one in reports if _asks(one, name)])
            found += [_called(one, name) for one in (costs(lines), *told, *others(name))]
        for table in _comparisons(rows, name, wanted, errors):
            found.append(_called(table, f"{name}/{table.title}"))
        for row in lines if wanted.ci else ():
            rates = every_rate(row, stratified=wanted.stratified)
            found.append(_called(rates, f"{name}/{row.label}"))
        if wanted.curve:
            found.append(_called(curves(_of_set(rows, name)), name))
    _failures(reports, errors)
    return found


def _matrix(lines: Sequence[Row], wanted: Wanted) -> Sheet:
    """The systems side by side, with what there is to know of the rules."""
    made = matrix(lines, stratified=wanted.stratified)
    notes = dict.fromkeys(note for row in lines for note in row.notes)
    return replace(made, notes=(*made.notes, *notes))


def _called(sheet: Sheet, where: str) -> Sheet:
    """The same sheet, named and headed for where it belongs."""
    return replace(sheet, name=f"{where}/{sheet.name}", title=f"{where}: {sheet.title}")


def _of_set(rows: Rows, name: str) -> list[Row]:
    return [row for key, row in rows.items() if key[1] == name]


def _rows(reports: Sequence[Report]) -> Rows:
    """Of every report with a run that came to its end."""
    return {
        (report.system.name, report.case.set): row_of(report)
        for report in reports
        if isinstance(report.case, Exam)
        and isinstance(report.verdict, HonestyVerdict)
        and report.verdict.runs
    }


def _lines(rows: Rows, name: str, *, rules: bool) -> list[Row]:
    found = []
    for (system, set_), row in rows.items():
        if set_ != name:
            continue
        found.append(row)
        dev = rows.get((system, row.exam.floors_from))
        if rules and row.result.metrics.answered and _ruled(row, dev):
            found.append(under_rules(row, dev))
    return found


def _ruled(row: Row, dev: Row | None) -> bool:
    """Whether rules can be laid on answers: without scores all of them that need none."""
    return not row.tells_scores or (dev is not None and dev.result.curve is not None)


def _asks(report: Report, name: str) -> bool:
    return isinstance(report.case, Exam) and report.case.set == name


def _keep(folder: Path, report: Report, errors: Console) -> None:
    """Write what was answered to a development set."""
    if isinstance(report.case, Exam) and report.case.held_out:
        told = f"The answers of {report.system.name} to {report.case.set} are not written: it is"
        errors.print(Text(f"{told} held out."), soft_wrap=True)
        return
    path = keep(folder, report)
    if path is not None:
        errors.print(Text(f"Answers: {path}"), soft_wrap=True)


def _failures(reports: Sequence[Report], console: Console) -> None:
    """Runs that came to no verdict: a search that failed is no refusal."""
    for report in reports:
        for one in report.runs:
            if one.ending.kind != "graded":
                told = f"{report.system.name}, {one.spec.kind}: {one.ending.outcome.value}"
                console.print(Text(plain(f"{told}, {one.ending.kind}. {one.ending.detail}")))


def _comparisons(rows: Rows, name: str, wanted: Wanted, console: Console) -> Iterator[Sheet]:
    """One system minus another; who cannot be compared is told on ``console``."""
    for system in wanted.systems:
        row = rows.get((system, name))
        for other, matched in (
            *((one, False) for one in wanted.vs),
            *((one, True) for one in wanted.vs_matched),
        ):
            against = rows.get((other, name))
            if row is None or against is None or other == system:
                continue
            if matched:
                try:
                    against = at_coverage_of(against, row)
                except UsageError as error:  # the runs are done, and all else is to be shown
                    told = f"{name}: {against.label} is not matched: {error}"
                    console.print(Text(plain(told)), Text())
                    continue
            yield compared(row, against, stratified=wanted.stratified)


def reveal(row: Row, console: Console) -> None:
    """Print every question; for a held-out set the register is told first."""
    if row.exam.held_out:
        register = fixtures() / "honesty" / "REGISTER.md"
        whose = " ".join(plain(row.label).split()).replace("|", "\\|")
        line = f"| {datetime.now(UTC):%Y-%m-%d} | {row.exam.set} | revealed: {whose} |\n"
        try:
            with register.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise UsageError(
                f"The register cannot be written at {register}: {error.strerror or error}.",
                hint="Without a line there, no held-out question is shown.",
            ) from error
    console.print(Text(plain(f"{row.label} on {row.exam.set}")))
    for told in questions(row):
        console.print(Text(told), soft_wrap=True)
    console.print(Text())
