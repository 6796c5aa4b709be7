"""All tables of one report, as data. What each suite adds lies with that suite's own."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from pydantic import JsonValue

from runner.model import Outcome, PurposeUsage, RunRecord
from runner.reports.against import published
from runner.reports.cells import NOTHING, dollars, figure, money, outcome, sheet, text, whole, words
from runner.reports.cells import rate as rated
from runner.reports.gate import gate_sheets
from runner.reports.honesty import costs, effort, exact_rates, matrix, parts, row_of
from runner.reports.learning import night
from runner.reports.others import others
from runner.reports.readout import readout_sheet
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet, Tone
from runner.stats import rate
from runner.suites.honesty_learning import LessonVerdict
from runner.suites.memory_honesty import HonestyVerdict
from runner.suites.registry import suite_of
from runner.suites.trip_vs_move import Verdict
from runner.suites.trip_vs_move.score import BAR_VERSIONS, Tally
from runner.suites.update_gate import GateVerdict

NOT_RUN = "not run"
_UNTOLD = (Outcome.INCOMPLETE, Outcome.INVALID, Outcome.ERRORED)


def sheets_of(report: Report) -> tuple[Sheet, ...]:
    """Every table of a report: its runs, outcomes by kind, what its suite tells, what it came to,
    what it took, and what was published beside. None of them tells a single answer."""
    return (
        runs_sheet(report),
        tallies_sheet(report),
        *suite_sheets(report),
        summary_sheet(report),
        *spend_sheets(report),
        *published_sheets(report),
        *readout_sheet(report),
    )


def suite_sheets(report: Report) -> tuple[Sheet, ...]:
    """What only reports of this suite have; nothing where no run came to its end."""
    verdict = report.verdict
    if isinstance(verdict, GateVerdict):
        return gate_sheets(verdict)
    if isinstance(verdict, HonestyVerdict) and verdict.runs:
        row = row_of(report)
        told = (matrix([row]), exact_rates([row]), parts(row), costs([row]))
        return (*told, *effort([report]), *others(row.exam.set))
    if isinstance(verdict, LessonVerdict) and verdict.runs:
        return night([verdict])
    return ()


def runs_sheet(report: Report) -> Sheet:
    """Every run that was planned, a line each."""
    columns = [text("run"), text("outcome"), text("checks"), figure("calls")]
    columns += [figure("US$", "usd"), figure("s", "seconds")]
    lines: list[tuple[Cell, ...]] = [
        (
            words(f"{run.spec.kind} {run.spec.index}"),
            outcome(run.ending.outcome),
            _checks(run, report.checks_version),
            whole(len(run.calls)),
            money(run.cost_usd),
            Cell(f"{run.seconds:.1f}", value=run.seconds),
        )
        for run in report.runs
    ]
    lines += [
        (words(f"{one.kind} {one.index}"), words(NOT_RUN, Tone.UNSURE), *(Cell("") for _ in "1234"))
        for one in report.missing
    ]
    return sheet("runs", "Runs", columns, lines)


def _checks(run: RunRecord, version: int) -> Cell:
    """Which checks hold and which are broken; the kind of ending where none was made."""
    result = next((result for result in run.checks if result.version == version), None)
    if result is None:
        return Cell(
            run.ending.kind, value={"broken": None, "hold": None, "ending": run.ending.kind}
        )
    broken = [check.id for check in result.checks if not check.passed]
    holding = [check.id for check in result.checks if check.passed]
    told = [f"broken: {', '.join(broken)}"] if broken else []
    if holding:
        every = not broken and len(f"{run.spec.kind} {', '.join(holding)}") > _NARROW
        told.append(f"all {len(holding)} hold" if every else f"hold: {', '.join(holding)}")
    value: JsonValue = {"broken": [*broken], "hold": [*holding], "ending": run.ending.kind}
    return Cell("; ".join(told), Tone.BAD if broken else Tone.PLAIN, value)


_NARROW = 26
"""Characters of a run's kind and its checks beyond which checks that hold are counted instead."""


def tallies_sheet(report: Report) -> Sheet:
    """How the runs of each kind ended, by type: only those passed or failed count in the rate."""
    columns = [text("kind"), figure("planned"), text("passed", "passed"), figure("failed")]
    columns += [*(figure(one.value) for one in _UNTOLD), figure(NOT_RUN)]
    ended = {kind: Counter[Outcome]() for kind in dict.fromkeys(one.kind for one in report.planned)}
    for run in report.runs:
        ended.setdefault(run.spec.kind, Counter())[run.ending.outcome] += 1
    planned = Counter(one.kind for one in report.planned)
    lines = []
    for kind, found in ended.items():
        passed, failed = found[Outcome.PASSED], found[Outcome.FAILED]
        rest = planned[kind] - found.total()
        counts = (failed, *(found[one] for one in _UNTOLD), rest)
        lines.append(
            (
                words(kind),
                whole(planned[kind]),
                rated(passed, passed + failed),
                *map(whole, counts),
            )
        )
    return sheet("outcomes", "Outcomes by kind of run", columns, lines)


def summary_sheet(report: Report) -> Sheet:
    """What the report comes to, a line a figure."""
    lines = [(words(name), words(told)) for name, told in _summary(report)]
    return sheet("summary", "Result", [text("figure"), text("result")], lines)


def _summary(report: Report) -> Iterator[tuple[str, str]]:
    if report.verdict is None:
        yield "result", "no run yet"
        return
    if isinstance(report.verdict, Verdict):
        yield from _by_kind(report, report.verdict)
    if not isinstance(report.verdict, HonestyVerdict | LessonVerdict):
        bar = {True: "met", False: "not met", None: "none"}[report.verdict.bar_met]
        yield "bar", f"{bar}. {report.verdict.bar_note}"
    spend = report.spend
    kind = "simulated, at list prices" if spend.simulated else "at list prices"
    ceiling = f", ceiling {dollars(spend.max_usd_per_run)} a run" if spend.max_usd_per_run else ""
    if spend.max_usd_total is not None:
        ceiling += f", {dollars(spend.max_usd_total)} in all"
    if report.purposes:
        yield "cost", f"US${dollars(spend.cost_usd)} ({kind}{ceiling})"
    for one in () if spend.simulated else spend_sheets(report):
        for purpose, calls, tokens, usd in one.rows:
            told = f"{calls.text} calls, {tokens.text} tokens, US${usd.text}"
            yield "", f"{purpose.text}: {told}"
    if report.cassette is not None:
        cassette = report.cassette
        yield "cassette", f"{cassette.name}, sha256 {cassette.sha256[:16]}"


def _by_kind(report: Report, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """What the runs of each kind come to, and what other versions of the checks say."""
    for tally in verdict.tallies:
        if tally.planned:
            yield tally.kind, f"passed {rate(tally.passed, tally.counted)}{_rest(tally)}"
    for version in report.case.checks_versions:
        if version != report.checks_version:
            planned = {tally.kind: tally.planned for tally in verdict.tallies}
            other = suite_of(report.case).score(report.case, report.runs, version, planned)
            yield f"checks v{version}", _short(other)


def _rest(tally: Tally) -> str:
    """Runs without a verdict, by type."""
    rest = tally.planned - tally.counted
    if not rest:
        return ""
    ended = {one.value: tally.outcomes.get(one, 0) for one in _UNTOLD}
    ended[NOT_RUN] = rest - sum(ended.values())
    told = ", ".join(f"{count} {name}" for name, count in ended.items() if count)
    return f", {rest} without a verdict ({told})"


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


def spend_sheets(report: Report) -> tuple[Sheet, ...]:
    """What each purpose took in all runs; nothing where no model was asked."""
    rows: dict[str, list[PurposeUsage]] = {}
    for run in report.runs:
        for row in run.usage:
            rows.setdefault(row.purpose, []).append(row)
    if not rows:
        return ()
    lines = [
        (
            words(purpose),
            whole(sum(row.calls for row in some)),
            whole(sum(sum(row.usage.model_dump().values()) for row in some)),
            money(sum((row.cost_usd for row in some), Decimal(0))),
        )
        for purpose, some in sorted(rows.items())
    ]
    columns = [text("purpose"), figure("calls"), figure("tokens"), figure("US$", "usd")]
    notes = ("Simulated, at list prices: nothing was spent.",) if report.spend.simulated else ()
    return (sheet("spend", "Spend by purpose", columns, lines, notes),)


def published_sheets(report: Report) -> tuple[Sheet, ...]:
    """What was published of the same case and model, beside this report's figures."""
    found = published(report)
    if found is None:
        return ()
    columns = [text("published beside", "figure"), text("here"), *map(text, found.heads)]
    lines = [
        (words(row.label), *(words(one) if one else NOTHING for one in (row.ours, *row.published)))
        for row in found.rows
    ]
    return (sheet("published", "Published beside", columns, lines, found.notes),)
