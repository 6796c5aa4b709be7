"""One system minus another, and how often each is wrong at every coverage."""

from collections.abc import Sequence

from runner.reports.cells import NOTHING, number, words
from runner.reports.honesty._cells import alone, p_value, points, share, table
from runner.reports.honesty.rows import Row
from runner.reports.sheet import Cell, Sheet
from runner.suites.memory_honesty import area, at_coverage, grades, paired

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_TESTED = {
    "behaved": "right (answered or refused)",
    "not_wrong": "no wrong citation",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
DIFFERENCE = (
    ("difference, 95%", "difference"),
    ("alone right", "alone_right"),
    ("exact p", "p"),
)
"""Columns of a difference of two systems, and of its test."""
_TOLD = ("wrong_rate", "behaved", "answerable_right", "neighbours_refused", "coverage")


def compared(row: Row, other: Row, *, stratified: bool = True) -> Sheet:
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
    lines: list[tuple[Cell, ...]] = []
    for name in _TOLD:
        difference, test = found.differences.get(name), found.tests.get(name)
        if difference is None:
            continue
        told = _TESTED.get(name, {"wrong_rate": "wrong citations"}.get(name, name))
        tested = (
            (NOTHING, NOTHING)
            if test is None
            else (alone(test.only_first, test.only_second), p_value(test.p_value))
        )
        lines.append((Cell(told, value=name), points(difference), *tested))
    test = found.tests["not_wrong"]
    lines.append(
        (
            Cell(_TESTED["not_wrong"], value="not_wrong"),
            NOTHING,
            alone(test.only_first, test.only_second),
            p_value(test.p_value),
        )
    )
    pair = f"{row.label} minus {other.label}"
    return table("compared", pair, (pair, "figure"), DIFFERENCE, lines)


def curves(rows: Sequence[Row]) -> Sheet:
    """How often each is wrong when it answers only what it is surest of."""
    others = [row.label for row in rows if row.result.curve is None]
    lines = []
    for row in rows:
        if (curve := row.result.curve) is not None:
            reached = (at_coverage(curve, one) for one in COVERAGES)
            risks = (NOTHING if point is None else share(point.risk) for point in reached)
            lines.append((words(row.label), *risks, number(area(curve), ".3f")))
    return table(
        "curves",
        "Wrong citations at every coverage",
        ("wrong at coverage", "system"),
        (*((f"{one:.0%}", f"at_{one:.0%}".rstrip("%")) for one in COVERAGES), ("area", "area")),
        lines,
        (f"No scores to draw a curve by: {', '.join(others)}.",) if others else (),
    )
