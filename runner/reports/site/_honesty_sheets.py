"""The tables of a set's page that no picture is drawn of: tests, repeats, what it took."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner.reports.cells import NOTHING, number, whole
from runner.reports.honesty import movements, takings
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet
from runner.reports.site._honesty_sides import Side
from runner.suites.memory_honesty import Estimate, McNemar, Paired, paired

BASELINE = "bm25-rules"
TOLD = {
    "behaved": "right or rightly refused",
    "wrong_rate": "wrong of answered",
    "not_wrong": "no wrong citation",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
    "coverage": "coverage",
}
"""What two systems are compared in."""


def baseline(sides: Sequence[Side]) -> Side | None:
    """What the others are compared with: the plain baseline where it is among them, else the
    first whose answers are there; none where no two can be compared."""
    able = [side for side in sides if side.comparable]
    named = [side for side in able if side.report.system.name == BASELINE]
    return next(iter(named or able), None) if len(able) > 1 else None


def against(base: Side, others: Iterable[Side]) -> Sheet:
    """Every other system that was asked the same minus one, question by question."""
    rows: list[tuple[Cell, ...]] = []
    for side in others:
        if not side.comparable or side is base:
            continue
        found = paired(side.graded(), base.graded(), seed=base.exam.seed)
        rows += [(Cell(side.label), *row) for row in differing(found)]
    return Sheet(
        name="paired",
        title=f"Each system minus {base.label}, on the same questions",
        columns=(
            Column("system"),
            Column("what"),
            Column("difference in points, 95%", numeric=True, key="difference"),
            Column("right alone", numeric=True, key="alone"),
            Column(f"{base.label} alone", numeric=True, key="baseline_alone"),
            Column("exact p", numeric=True, key="p"),
        ),
        rows=tuple(rows),
        notes=(
            "Alone: questions that one of the two did rightly and the other did not; the exact"
            " test (McNemar) asks how often a coin would fall as unevenly. Many tests are made"
            " here and none is adjusted for that: of twenty, one is expected below 0.05 by chance.",
        ),
    )


def differing(found: Paired) -> tuple[tuple[Cell, ...], ...]:
    """What differs between two systems: what it is, by how much, and its test."""
    return tuple(
        (
            Cell(told, value=name),
            NOTHING if (of := found.differences.get(name)) is None else points(of),
            *_tested(found.tests.get(name)),
        )
        for name, told in TOLD.items()
        if name in found.differences or name in found.tests
    )


def _tested(test: McNemar | None) -> tuple[Cell, Cell, Cell]:
    if test is None:
        return (NOTHING, NOTHING, NOTHING)
    return (whole(test.only_first), whole(test.only_second), number(test.p_value, ".3g"))


def points(estimate: Estimate) -> Cell:
    """A difference of two rates in points, with its interval; a program is given it from 0 to 1."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return NOTHING
    told = (f"{100 * one:+.1f}" for one in (estimate.value, estimate.low, estimate.high))
    return Cell("{} [{}, {}]".format(*told).replace("-", "−"), value=estimate.model_dump())


def moved(sides: Sequence[Side]) -> tuple[Sheet, ...]:
    """What moved where a set was run more than once; nothing where it was not."""
    return movements([_named(side) for side in sides])


def _named(side: Side) -> Report:
    """Its report under its label, where several are of one system."""
    system = side.report.system.model_copy(update={"name": side.label})
    return side.report.model_copy(update={"system": system})


def effort(sides: Sequence[Side]) -> Sheet | None:
    """What it took to take the pages and to answer; none where no run was graded."""
    told = [side for side in sides if side.timing is not None]
    if not told:
        return None
    made = takings(
        [replace(side.taken, label=side.label) for side in told if side.taken is not None]
    )
    notes = [
        f"{side.label}: pages taken in {side.timing.index_s:.2f} s, half of the questions answered"
        f" in {side.timing.p50_ms:.0f} ms; its steps are sealed off."
        for side in told
        if side.taken is None and side.timing is not None
    ]
    return replace(made, notes=(*made.notes, *notes))
