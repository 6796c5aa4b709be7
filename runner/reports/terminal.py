"""A report as tables that fit eighty columns. Everything shown is plain text, never markup."""

import re
from collections.abc import Iterator
from decimal import Decimal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runner.model import Outcome, PurposeUsage, RunRecord
from runner.plain import plain
from runner.reports.against import published
from runner.reports.gate import sets
from runner.reports.honesty import asked, costs, effort, matrix, row_of
from runner.reports.honesty import parts as by_part
from runner.reports.learning import night
from runner.reports.others import others
from runner.reports.readout import readout
from runner.reports.remarks import answered_by, drifted
from runner.reports.schema import Report
from runner.runs.protocol import label
from runner.stats import rate
from runner.suites.honesty_learning import Lesson, LessonVerdict
from runner.suites.memory_honesty import Exam, HonestyVerdict
from runner.suites.registry import suite_of
from runner.suites.trip_vs_move import Verdict
from runner.suites.trip_vs_move.score import BAR_VERSIONS
from runner.suites.update_gate import Gate, GateVerdict

_STYLE = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.INCOMPLETE: "yellow",
    Outcome.INVALID: "magenta",
    Outcome.ERRORED: "bright_red",
}


def show(report: Report, console: Console) -> None:
    """Print a report."""
    console.print(render(report))


def render(report: Report) -> RenderableType:
    """The whole of a report: runs, tallies, what failed, what to know."""
    parts: list[RenderableType] = [_title(report), Text(), _runs(report), Text()]
    if isinstance(report.verdict, GateVerdict):
        parts += [*sets(report.verdict), Text()]
    if isinstance(report.verdict, HonestyVerdict) and report.verdict.runs:
        row = row_of(report)
        parts += [matrix([row]), Text(), by_part(row), Text(), costs([row]), Text()]
        parts += [part for one in effort([report]) for part in (one, Text())]
        parts += others(row.exam.set)
    if isinstance(report.verdict, LessonVerdict) and report.verdict.runs:
        parts += [*night([report.verdict]), Text()]
    parts += [_tallies(report), *_published(report)]
    if beside := readout(report):
        parts += [Text(), *beside]
    remarks = _remarks(report)
    if remarks:
        parts += [Text(), *remarks]
    return Group(*parts)


def _title(report: Report) -> Text:
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
    return shown(f"{about}: {report.system.name} {report.system.version}\n{model}, {how}{rule}")


def _runs(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("run", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("checks", overflow="fold")
    for name in ("calls", "US$", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in report.runs:
        table.add_row(
            shown(f"{run.spec.kind} {run.spec.index}"),
            shown(run.ending.outcome.value, style=_STYLE[run.ending.outcome]),
            _checks(run, report.checks_version),
            str(len(run.calls)),
            dollars(run.cost_usd),
            f"{run.seconds:.1f}",
        )
    for planned in report.missing:
        table.add_row(
            shown(f"{planned.kind} {planned.index}"),
            shown("not run", style="yellow"),
            "",
            "",
            "",
            "",
        )
    return table


def _checks(run: RunRecord, version: int) -> Text:
    """Which checks hold and which are broken; the kind of ending where none was made."""
    result = next((result for result in run.checks if result.version == version), None)
    if result is None:
        return shown(run.ending.kind)
    broken = [check.id for check in result.checks if not check.passed]
    holding = [check.id for check in result.checks if check.passed]
    text = Text()
    if broken:
        text.append(f"broken: {', '.join(broken)}", "red")
        text.append("; " if holding else "")
    if holding:
        every = not broken and len(f"{run.spec.kind} {', '.join(holding)}") > _NARROW
        text.append(f"all {len(holding)} hold" if every else f"hold: {', '.join(holding)}")
    return text


_NARROW = 26
"""Characters of a run's kind and its checks beyond which checks that hold are counted instead."""


def _tallies(report: Report) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    if report.verdict is None:
        table.add_row("result", "no run yet")
        return table
    if isinstance(report.verdict, Verdict):
        for name, text in _by_kind(report, report.verdict):
            table.add_row(name, shown(text))
    if not isinstance(report.verdict, HonestyVerdict | LessonVerdict):
        table.add_row("bar", shown(_bar(report.verdict)))
    spend = report.spend
    kind = "simulated, at list prices" if spend.simulated else "at list prices"
    ceiling = f", ceiling {dollars(spend.max_usd_per_run)} a run" if spend.max_usd_per_run else ""
    if spend.max_usd_total is not None:
        ceiling += f", {dollars(spend.max_usd_total)} in all"
    if report.purposes:
        table.add_row("cost", f"US${dollars(spend.cost_usd)} ({kind}{ceiling})")
    for purpose, usage in _usage(report).items():
        table.add_row("", Text(f"{purpose}: {usage}"))
    if report.cassette is not None:
        cassette = report.cassette
        table.add_row("cassette", Text(f"{cassette.name}, sha256 {cassette.sha256[:16]}"))
    return table


def _bar(verdict: Verdict | GateVerdict) -> str:
    bar = {True: "met", False: "not met", None: "none"}[verdict.bar_met]
    return f"{bar}. {verdict.bar_note}"


def _published(report: Report) -> list[RenderableType]:
    """What was published of the same case and model, beside this report's figures."""
    found = published(report)
    if found is None:
        return []
    parts: list[RenderableType] = [Text()]
    if found.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("published beside", overflow="fold")
        table.add_column("here", overflow="fold")
        for head in found.heads:
            table.add_column(shown(head), overflow="fold")
        for row in found.rows:
            table.add_row(shown(row.label), row.ours or "·", *(one or "·" for one in row.published))
        parts.append(table)
    return [*parts, *(_bullet(note) for note in found.notes)]


def _by_kind(report: Report, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """What the runs of each kind come to, and what other versions of the checks say."""
    for tally in verdict.tallies:
        if tally.planned:
            yield tally.kind, _rate(tally.passed, tally.counted, tally.planned)
    for version in report.case.checks_versions:
        if version != report.checks_version:
            planned = {tally.kind: tally.planned for tally in verdict.tallies}
            other = suite_of(report.case).score(report.case, report.runs, version, planned)
            yield f"checks v{version}", _short(other)


def _usage(report: Report) -> dict[str, str]:
    """What each purpose took in all runs; told of real models only."""
    if report.spend.simulated:
        return {}
    rows: dict[str, list[PurposeUsage]] = {}
    for run in report.runs:
        for row in run.usage:
            rows.setdefault(row.purpose, []).append(row)
    told = {}
    for purpose, some in sorted(rows.items()):
        calls, usd = sum(row.calls for row in some), sum((row.cost_usd for row in some), Decimal(0))
        tokens = sum(sum(row.usage.model_dump().values()) for row in some)
        told[purpose] = f"{calls} calls, {tokens} tokens, US${dollars(usd)}"
    return told


def _rate(passed: int, counted: int, planned: int) -> str:
    rest = planned - counted
    return f"passed {rate(passed, counted)}" + (f", {rest} without a verdict" if rest else "")


def _short(verdict: Verdict) -> str:
    tallies = ", ".join(
        f"{tally.kind} {tally.passed} of {tally.counted}"
        for tally in verdict.tallies
        if tally.planned
    )
    if verdict.checks_version not in BAR_VERSIONS:
        return tallies
    bar = {True: "bar met", False: "bar not met", None: "no bar"}[verdict.bar_met]
    return f"{tallies}; {bar}"


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


def dollars(amount: Decimal) -> str:
    """US dollars with four digits: a call costs less than a cent."""
    return f"{amount:.4f}"
