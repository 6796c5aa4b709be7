"""What systems answered to a set of questions, side by side, as tables that fit eighty columns."""

from collections.abc import Iterator, Sequence

from runner.plain import plain
from runner.reports.cells import (
    NOTHING,
    count,
    interval,
    number,
    percent_rate,
    sheet,
    text,
    whole,
    words,
)
from runner.reports.cells import figures as exact
from runner.reports.honesty import _cells
from runner.reports.honesty._cells import figures, percent, rate, share, signed, table
from runner.reports.honesty.rows import Row
from runner.reports.sheet import Cell, Sheet
from runner.suites.memory_honesty import WEIGHTS, Tally, grades

SYSTEM = ("system", "system")
_RATES = (
    ("answered", "coverage"),
    ("refused", "neighbours_refused"),
    ("corr.", "corrections_right"),
    ("curr.", "current_right"),
    ("false", "false_refusals"),
)


def matrix(rows: Sequence[Row], *, stratified: bool = True) -> Sheet:
    """Systems on one set, a line each.

    Args:
        rows: of one set.
        stratified: whether the interval is of resamples that keep the number of each kind.
    """
    return table(
        "matrix",
        "Systems on the set",
        SYSTEM,
        (
            ("wrong of answered, 95%", "wrong"),
            *_RATES[1:4],
            ("false", "false_refusals"),
            ("stale", "stale"),
        ),
        [_line(row, stratified=stratified) for row in rows],
    )


def _line(row: Row, *, stratified: bool) -> tuple[Cell, ...]:
    found = row.result.metrics
    counts = (found.neighbours_refused, found.corrections_right, found.current_right)
    false = found.false_refusals
    return (
        words(row.label),
        _wrong(row, stratified=stratified),
        *(count(one.hits, one.of) for one in counts),
        Cell(str(false.hits), value=exact(false.hits, false.of)),
        whole(found.stale),
    )


def _wrong(row: Row, *, stratified: bool) -> Cell:
    found, result = row.result.metrics, row.result
    wrong = (result.intervals.all if stratified else result.unstratified)["wrong_rate"]
    told = f"{percent(found.wrong_rate)} ({found.wrong}/{found.answered}) {_cells.interval(wrong)}"
    return Cell(told, value={"hits": found.wrong, "of": found.answered, **figures(wrong)})


def exact_rates(rows: Sequence[Row]) -> Sheet:
    """How much each system answers, and its other rates, with exact intervals.

    Args:
        rows: of one set.
    """
    lines = []
    for row in rows:
        found = row.result.metrics
        counts = (
            found.neighbours_refused,
            found.corrections_right,
            found.current_right,
            found.false_refusals,
        )
        lines.append(
            (
                words(row.label),
                percent_rate(found.answered, found.n),
                *(percent_rate(one.hits, one.of) for one in counts),
            )
        )
    return table("rates", "In percent, exact 95%", ("%, exact 95%", "system"), _RATES, lines)


def costs(rows: Sequence[Row]) -> Sheet:
    """The same systems by what a wrong citation costs, side by side; nothing is ranked by it."""
    lines = []
    for row in rows:
        cost, curve, took = row.result.metrics.cost, row.result.curve, row.timing
        lines.append(
            (
                words(row.label),
                *(signed(cost[str(weight)]) for weight in WEIGHTS),
                NOTHING if curve is None else number(curve.area, ".3f"),
                NOTHING if took is None else number(took.p50_ms, ".0f"),
                NOTHING if took is None else number(took.p99_ms, ".0f"),
            )
        )
    return table(
        "costs",
        "What a wrong citation costs",
        SYSTEM,
        (
            ("right - wrong", "right_less_wrong"),
            ("- 2 wrong", "right_less_2_wrong"),
            ("- 5 wrong", "right_less_5_wrong"),
            ("area", "area"),
            ("ms p50", "p50_ms"),
            ("ms p99", "p99_ms"),
        ),
        lines,
    )


def every_rate(row: Row, *, stratified: bool = True) -> Sheet:
    """Every rate of a system with its 95% interval, over all questions and by language.

    Args:
        row: its answers to one set.
        stratified: whether the intervals are of resamples that keep the number of each kind; those
            by language always are.
    """
    result = row.result
    languages = result.intervals.by_language if len(result.intervals.by_language) > 1 else {}
    lines = []
    for name, estimate in (result.intervals.all if stratified else result.unstratified).items():
        if name.startswith("cost_"):
            continue  # no share of anything: see ``costs``
        others = (rates.get(name) for rates in languages.values())
        lines.append(
            (
                Cell(name.replace("_", " "), value=name),
                rate(estimate),
                *(NOTHING if other is None else rate(other) for other in others),
            )
        )
    return table(
        "every-rate",
        f"Every rate of {row.label}, 95%",
        (f"{row.label}, 95%", "rate"),
        (("all", "all"), *((str(language), str(language)) for language in languages)),
        lines,
    )


def parts(row: Row) -> Sheet:
    """One system by kind of question and by language; intervals are exact."""
    metrics = row.result.metrics
    groups = (*metrics.by_kind.items(), *metrics.by_language.items(), ("all", metrics))
    return table(
        "parts",
        f"{row.label} by kind of question and by language",
        ("of", "part"),
        (
            ("n", "questions"),
            ("answered", "coverage"),
            ("right", "right"),
            ("wrong, exact 95%", "wrong"),
            ("stale", "stale"),
            ("refused", "refused"),
        ),
        [(words(str(name)), *_tally(tally)) for name, tally in groups],
    )


def _tally(tally: Tally) -> tuple[Cell, ...]:
    told = f"{tally.wrong} ({percent(tally.wrong_rate)})"
    if tally.answered:
        told += f" {interval(tally.wrong, tally.answered)}"
    return (
        whole(tally.n),
        Cell(
            f"{tally.answered} ({share(tally.coverage).text})", value=exact(tally.answered, tally.n)
        ),
        whole(tally.right),
        Cell(told, value=exact(tally.wrong, tally.answered)),
        whole(tally.stale),
        whole(tally.n - tally.answered),
    )


def questions(row: Row) -> Iterator[str]:
    """Every question with what became of it, a line each. Not for held-out sets."""
    for question, kind, outcome, asked, cited in _questions(row):
        after = f" → {cited}" if cited else ""
        yield " ".join(plain(f"{question} {kind:<10} {outcome:<13} {asked}{after}").split("\n"))


def question_sheet(row: Row) -> Sheet:
    """The same as a sheet. Not for held-out sets."""
    names = ("question", "kind", "outcome", "asked", "cited")
    return sheet(
        "questions",
        f"{row.label}, question by question",
        list(map(text, names)),
        [tuple(map(words, line)) for line in _questions(row)],
    )


def _questions(row: Row) -> Iterator[tuple[str, str, str, str, str]]:
    asked = {question.id: question for question in row.exam.asked()}
    for grade in grades(row.exam, row.answers):
        asks = asked[grade.question].q
        yield grade.question, grade.kind, grade.outcome.value, asks, grade.cited or ""
