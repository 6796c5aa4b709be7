"""One system minus another, and how often each is wrong at every coverage."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from runner.plain import plain
from runner.reports.honesty._cells import percent, points, table, words
from runner.reports.honesty.rows import Row
from runner.suites.memory_honesty import area, at_coverage, grades, paired

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_TESTED = {
    "behaved": "right (answered or refused)",
    "not_wrong": "no wrong citation",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
_TOLD = ("wrong_rate", "behaved", "answerable_right", "neighbours_refused", "coverage")


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
    made = table(f"{row.label} minus {other.label}", "difference, 95%", "alone right", "exact p")
    for name in _TOLD:
        difference, test = found.differences.get(name), found.tests.get(name)
        if difference is None:
            continue
        label = _TESTED.get(name, {"wrong_rate": "wrong citations"}.get(name, name))
        alone = f"{test.only_first} v {test.only_second}" if test else "·"
        made.add_row(label, points(difference), alone, f"{test.p_value:.3g}" if test else "·")
    test = found.tests["not_wrong"]
    made.add_row(
        _TESTED["not_wrong"], "·", f"{test.only_first} v {test.only_second}", f"{test.p_value:.3g}"
    )
    return made


def curves(rows: Sequence[Row]) -> RenderableType:
    """How often each is wrong when it answers only what it is surest of."""
    scored = [row for row in rows if row.result.curve is not None]
    others = [plain(row.label) for row in rows if row.result.curve is None]
    none = Text(f"No scores to draw a curve by: {', '.join(others)}.")
    if not scored:
        return none
    made = table("wrong at coverage", *(f"{share:.0%}" for share in COVERAGES), "area")
    for row in scored:
        curve = row.result.curve
        assert curve is not None
        reached = (at_coverage(curve, share) for share in COVERAGES)
        made.add_row(
            words(row.label),
            *("·" if point is None else percent(point.risk) for point in reached),
            f"{area(curve):.3f}",
        )
    return Group(made, none) if others else made
