"""What systems answered to a set of questions, side by side, as tables that fit eighty columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from runner.errors import UsageError
from runner.plain import plain
from runner.reports.schema import Report
from runner.suites.memory_honesty import (
    WEIGHTS,
    Answer,
    Estimate,
    Exam,
    HonestyVerdict,
    Result,
    Tally,
    Timing,
    answers,
    area,
    at_coverage,
    floor,
    grades,
    paired,
    pick_floor,
    result,
    same_coverage,
    skip_superseded,
)

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_TESTED = {
    "behaved": "right (answered or refused)",
    "not_wrong": "no wrong citation",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
_TOLD = ("wrong_rate", "behaved", "answerable_right", "neighbours_refused", "coverage")


@dataclass(frozen=True, slots=True)
class Row:
    """One system's answers to one set, as they were given or under rules."""

    label: str
    exam: Exam
    answers: tuple[Answer, ...]
    result: Result
    timing: Timing | None = None
    """None where nobody timed them."""


def row_of(report: Report) -> Row:
    """The answers of a report's first graded run.

    Raises:
        UsageError: it is no report of this suite, or no run of it came to its end.
    """
    verdict = report.verdict
    if not isinstance(report.case, Exam) or not isinstance(verdict, HonestyVerdict):
        raise UsageError(f"A report of {report.suite} holds no answers to questions.")
    if not verdict.runs:
        why = ", ".join(f"{kind} ({count})" for kind, count in verdict.reasons.items())
        raise UsageError(
            f"{report.system.name} on {report.case.set} has no run that came to its end: {why}.",
            hint="A search that failed is no refusal, so there is nothing to grade.",
        )
    first = verdict.runs[0]
    [run] = [run for run in report.runs if run.spec.id == first.run]
    given = answers(report.case, run.steps)
    return Row(report.system.name, report.case, given, first.result, first.timing)


def graded(label: str, exam: Exam, given: Sequence[Answer], timing: Timing | None = None) -> Row:
    """Answers under a name of their own."""
    return Row(label, exam, tuple(given), result(exam, given), timing)


def under_rules(row: Row, dev: Row) -> Row:
    """The same answers with replaced pages left out, and with the floor that is best on a
    development set, taken unchanged.

    Raises:
        UsageError: the system tells no scores, or ``dev`` is held out.
    """
    without = skip_superseded(row.answers, row.exam.statuses)
    at = pick_floor(dev.exam, skip_superseded(dev.answers, dev.exam.statuses))
    told = "no floor" if at is None else f"floor {at:.4g}"
    label = f"{row.label} + rules ({told} from {dev.exam.set})"
    return graded(label, row.exam, floor(without, at), row.timing)


def at_coverage_of(row: Row, other: Row) -> Row:
    """The same answers with the floor that leaves as many as another system answers."""
    count = other.result.metrics.answered
    at = same_coverage(row.answers, count)
    limited = graded(f"{row.label} at {count}", row.exam, floor(row.answers, at), row.timing)
    return replace(limited, label=f"{row.label} at {limited.result.metrics.answered} answered")


def title(exam: Exam) -> str:
    """A set in a line."""
    held = ", held out" if exam.held_out else ""
    counts = ", ".join(f"{count} {kind}" for kind, count in exam.counts.items())
    return f"{exam.set} ({exam.vault}{held}): {counts}"


# ---------------------------------------------------------------- tables


def matrix(rows: Sequence[Row], *, stratified: bool = True) -> RenderableType:
    """Systems on one set, a line each.

    Args:
        rows: of one set.
        stratified: whether the interval is of resamples that keep the number of each kind.
    """
    table = _table(
        "system", "wrong of answered, 95%", "refused", "corr.", "curr.", "false", "stale"
    )
    for row in rows:
        found = row.result.metrics
        table.add_row(
            Text(plain(row.label)),
            _wrong(row, stratified=stratified),
            *(
                f"{count.hits}/{count.of}"
                for count in (
                    found.neighbours_refused,
                    found.corrections_right,
                    found.current_right,
                )
            ),
            str(found.false_refusals.hits),
            str(found.stale),
        )
    return table


def _wrong(row: Row, *, stratified: bool) -> str:
    found, result = row.result.metrics, row.result
    rate = (result.intervals.all if stratified else result.unstratified)["wrong_rate"]
    return f"{_percent(found.wrong_rate)} ({found.wrong}/{found.answered}) {_range(rate)}"


def costs(rows: Sequence[Row]) -> RenderableType:
    """The same systems by what a wrong citation costs, side by side; nothing is ranked by it."""
    table = _table("system", "right - wrong", "- 2 wrong", "- 5 wrong", "area", "ms p50", "ms p99")
    for row in rows:
        cost, curve = row.result.metrics.cost, row.result.curve
        table.add_row(
            Text(plain(row.label)),
            *(_signed(cost[str(weight)]) for weight in WEIGHTS),
            "·" if curve is None else f"{curve.area:.3f}",
            *(
                ("·", "·")
                if row.timing is None
                else (f"{row.timing.p50_ms:.0f}", f"{row.timing.p99_ms:.0f}")
            ),
        )
    return table


def every_rate(row: Row, *, stratified: bool = True) -> RenderableType:
    """Every rate of a system with its 95% interval, over all questions and by language.

    Args:
        row: its answers to one set.
        stratified: whether the intervals are of resamples that keep the number of each kind; those
            by language always are.
    """
    result = row.result
    languages = result.intervals.by_language if len(result.intervals.by_language) > 1 else {}
    table = _table(f"{row.label}, 95%", "all", *languages)
    for name, estimate in (result.intervals.all if stratified else result.unstratified).items():
        if name.startswith("cost_"):
            continue  # no share of anything: see ``costs``
        others = (rates.get(name) for rates in languages.values())
        table.add_row(
            name.replace("_", " "),
            _rate(estimate),
            *("·" if other is None else _rate(other) for other in others),
        )
    return table


def parts(row: Row) -> RenderableType:
    """One system by kind of question and by language."""
    table = _table("of", "n", "answered", "right", "wrong", "stale", "refused")
    metrics = row.result.metrics
    for name, tally in (*metrics.by_kind.items(), *metrics.by_language.items(), ("all", metrics)):
        table.add_row(name, *_tally(tally))
    return table


def _tally(tally: Tally) -> tuple[str, ...]:
    refused = tally.n - tally.answered
    wrong = f"{tally.wrong} ({_percent(tally.wrong_rate)})"
    return (str(tally.n), str(tally.answered), str(tally.right), wrong, str(tally.stale),
            str(refused))  # fmt: skip


def compared(row: Row, other: Row, *, stratified: bool = True) -> RenderableType:
    """One system minus another on the same questions, with intervals and exact tests.

    Args:
        row: the first.
        other: the one that is taken from it.
        stratified: whether resamples keep the number of questions of each kind.

    Raises:
        UsageError: they were asked different questions.
    """
    found = paired(
        grades(row.exam, row.answers),
        grades(other.exam, other.answers),
        stratified=stratified,
        seed=row.exam.seed,
    )
    table = _table(f"{row.label} minus {other.label}", "difference, 95%", "alone right", "exact p")
    for name in _TOLD:
        difference, test = found.differences.get(name), found.tests.get(name)
        if difference is None:
            continue
        label = _TESTED.get(name, {"wrong_rate": "wrong citations"}.get(name, name))
        alone = f"{test.only_first} v {test.only_second}" if test else "·"
        table.add_row(label, _points(difference), alone, f"{test.p_value:.3g}" if test else "·")
    test = found.tests["not_wrong"]
    table.add_row(
        _TESTED["not_wrong"], "·", f"{test.only_first} v {test.only_second}", f"{test.p_value:.3g}"
    )
    return table


def curves(rows: Sequence[Row]) -> RenderableType:
    """How often each is wrong when it answers only what it is surest of."""
    scored = [row for row in rows if row.result.curve is not None]
    others = [plain(row.label) for row in rows if row.result.curve is None]
    none = Text(f"No scores to draw a curve by: {', '.join(others)}.")
    if not scored:
        return none
    table = _table("wrong at coverage", *(f"{share:.0%}" for share in COVERAGES), "area")
    for row in scored:
        curve = row.result.curve
        assert curve is not None
        reached = (at_coverage(curve, share) for share in COVERAGES)
        table.add_row(
            Text(plain(row.label)),
            *("·" if point is None else _percent(point.risk) for point in reached),
            f"{area(curve):.3f}",
        )
    return Group(table, none) if others else table


def questions(row: Row) -> Iterator[str]:
    """Every question with what became of it, a line each. Not for held-out sets."""
    asked = {question.id: question for question in row.exam.asked()}
    for grade in grades(row.exam, row.answers):
        question = asked[grade.question]
        cited = f" → {grade.cited}" if grade.cited else ""
        yield plain(
            f"{grade.question} {grade.kind:<10} {grade.outcome.value:<13} {question.q}{cited}"
        )


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(Text(plain(first)), overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _percent(rate: float | None) -> str:
    return "none" if rate is None else f"{100 * rate:.0f}%"


def _rate(estimate: Estimate) -> str:
    return f"{_percent(estimate.value)} {_range(estimate)}"


def _signed(value: float | None) -> str:
    return "·" if value is None else f"{value:+.2f}"


def _range(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "[·]"
    return f"[{100 * estimate.low:.0f}–{100 * estimate.high:.0f}]"


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"
