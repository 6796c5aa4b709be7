"""What a comparison of two reports is made of. A is the first of the two, B the second."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.stats import holm


class Way(enum.StrEnum):
    """What became of something from A to B."""

    WORSE = "worse"
    BETTER = "better"
    CHANGED = "changed"
    """Neither: another page of the same worth, another claim that no check reads."""


TONES = {Way.WORSE: Tone.BAD, Way.BETTER: Tone.GOOD, Way.CHANGED: Tone.UNSURE}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was.

    Attributes:
        way: what became of it.
        what: a few words; may hold a stranger's.
        before: as it is in A.
        after: as it is in B.
        p: of the exact test that belongs to it; none where there is none.
        adjusted: the same, for all tests that decide together (Holm).
    """

    way: Way
    what: str
    before: str
    after: str
    p: float | None = None
    adjusted: float | None = None

    def significant(self, alpha: float) -> bool:
        """Whether it is unlikely to be chance."""
        return self.adjusted is not None and self.adjusted < alpha


@dataclass(frozen=True, slots=True)
class Tested:
    """A test that decides, whatever it found; ``finding`` is none where nothing is otherwise."""

    p: float
    finding: Finding | None


@dataclass(frozen=True, slots=True)
class Part:
    """What one way of looking at two reports found.

    Attributes:
        sheets: to be shown, in this order.
        findings: without a test that decides.
        tests: those that decide together.
    """

    sheets: tuple[Sheet, ...] = ()
    findings: tuple[Finding, ...] = ()
    tests: tuple[Tested, ...] = ()


def found(parts: Sequence[Part]) -> tuple[Finding, ...]:
    """All findings, what is worse first; those of tests adjusted for all tests there are."""
    tests = [test for part in parts for test in part.tests]
    adjusted = holm([test.p for test in tests])
    told = [
        replace(test.finding, p=test.p, adjusted=value)
        for test, value in zip(tests, adjusted, strict=True)
        if test.finding is not None
    ]
    told += [finding for part in parts for finding in part.findings]
    order = list(Way)
    return tuple(sorted(told, key=lambda finding: order.index(finding.way)))


def findings_sheet(findings: Sequence[Finding]) -> Sheet:
    """Everything that is not as it was."""
    columns = (
        Column("", key="way"),
        Column("what"),
        Column("A"),
        Column("B"),
        Column("exact p", numeric=True, key="p"),
        Column("Holm", numeric=True, key="p_holm"),
    )
    rows = tuple(
        (
            Cell(one.way.value, TONES[one.way]),
            Cell(one.what),
            Cell(one.before),
            Cell(one.after),
            p_cell(one.p),
            p_cell(one.adjusted),
        )
        for one in findings
    )
    notes = (
        ("Holm: the p-value, adjusted for all tests that decide together.",)
        if any(one.adjusted is not None for one in findings)
        else ()
    )
    return Sheet("what-changed", "What changed", columns, rows, notes)


def p_cell(value: float | None) -> Cell:
    """A p-value."""
    return Cell("·", Tone.FAINT) if value is None else Cell(f"{value:.3g}", value=value)


def turned(change: int | float, *, up_is_good: bool = True) -> Way:
    """What a difference, B minus A, is."""
    if not change:
        return Way.CHANGED
    return Way.BETTER if (change > 0) is up_is_good else Way.WORSE


def several(sheets: Iterator[Sheet]) -> tuple[Sheet, ...]:
    """Those that have a row."""
    return tuple(sheet for sheet in sheets if sheet.rows)
