"""What systems answered to a set of questions, side by side, as tables that fit eighty columns."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from runner.plain import plain
from runner.reports.honesty._cells import interval, percent, rate, signed, table, words
from runner.reports.honesty.rows import Row
from runner.suites.memory_honesty import WEIGHTS, Tally, grades


def matrix(rows: Sequence[Row], *, stratified: bool = True) -> RenderableType:
    """Systems on one set, a line each.

    Args:
        rows: of one set.
        stratified: whether the interval is of resamples that keep the number of each kind.
    """
    made = table("system", "wrong of answered, 95%", "refused", "corr.", "curr.", "false", "stale")
    for row in rows:
        found = row.result.metrics
        made.add_row(
            words(row.label),
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
    return made


def _wrong(row: Row, *, stratified: bool) -> str:
    found, result = row.result.metrics, row.result
    wrong = (result.intervals.all if stratified else result.unstratified)["wrong_rate"]
    return f"{percent(found.wrong_rate)} ({found.wrong}/{found.answered}) {interval(wrong)}"


def costs(rows: Sequence[Row]) -> RenderableType:
    """The same systems by what a wrong citation costs, side by side; nothing is ranked by it."""
    made = table("system", "right - wrong", "- 2 wrong", "- 5 wrong", "area", "ms p50", "ms p99")
    for row in rows:
        cost, curve = row.result.metrics.cost, row.result.curve
        made.add_row(
            words(row.label),
            *(signed(cost[str(weight)]) for weight in WEIGHTS),
            "·" if curve is None else f"{curve.area:.3f}",
            *(
                ("·", "·")
                if row.timing is None
                else (f"{row.timing.p50_ms:.0f}", f"{row.timing.p99_ms:.0f}")
            ),
        )
    return made


def every_rate(row: Row, *, stratified: bool = True) -> RenderableType:
    """Every rate of a system with its 95% interval, over all questions and by language.

    Args:
        row: its answers to one set.
        stratified: whether the intervals are of resamples that keep the number of each kind; those
            by language always are.
    """
    result = row.result
    languages = result.intervals.by_language if len(result.intervals.by_language) > 1 else {}
    made = table(f"{row.label}, 95%", "all", *languages)
    for name, estimate in (result.intervals.all if stratified else result.unstratified).items():
        if name.startswith("cost_"):
            continue  # no share of anything: see ``costs``
        others = (rates.get(name) for rates in languages.values())
        made.add_row(
            name.replace("_", " "),
            rate(estimate),
            *("·" if other is None else rate(other) for other in others),
        )
    return made


def parts(row: Row) -> RenderableType:
    """One system by kind of question and by language."""
    made = table("of", "n", "answered", "right", "wrong", "stale", "refused")
    metrics = row.result.metrics
    for name, tally in (*metrics.by_kind.items(), *metrics.by_language.items(), ("all", metrics)):
        made.add_row(name, *_tally(tally))
    return made


def _tally(tally: Tally) -> tuple[str, ...]:
    refused = tally.n - tally.answered
    wrong = f"{tally.wrong} ({percent(tally.wrong_rate)})"
    return (str(tally.n), str(tally.answered), str(tally.right), wrong, str(tally.stale),
            str(refused))  # fmt: skip


def questions(row: Row) -> Iterator[str]:
    """Every question with what became of it, a line each. Not for held-out sets."""
    asked = {question.id: question for question in row.exam.asked()}
    for grade in grades(row.exam, row.answers):
        question = asked[grade.question]
        cited = f" → {grade.cited}" if grade.cited else ""
        yield plain(
            f"{grade.question} {grade.kind:<10} {grade.outcome.value:<13} {question.q}{cited}"
        )
