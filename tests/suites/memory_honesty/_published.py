"""Answers that have the counts that were published of other systems, question by question."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from runner.suites.memory_honesty import Exam, Grade, Mark
from tests.suites.memory_honesty._big import big, graded

RIGHT, STALE, NEAR = Mark.RIGHT, Mark.STALE, Mark.NEIGHBOUR
UNRELATED, REFUSED, FALSE = Mark.UNRELATED, Mark.REFUSED, Mark.FALSE_REFUSAL

Marks = Mapping[str, Sequence[tuple[Mark, int]]]


class Row(NamedTuple):
    """One published row, and marks that have its counts."""

    wrong: int
    answered: int
    refused: int
    corrections: int
    current: int
    false_refusals: int
    marks: Marks


HELDOUT3 = {
    "KRouter": Row(
        37, 139, 46, 50, 52, 15,
        {"correction": [(RIGHT, 50), (STALE, 3), (FALSE, 7)],
         "current": [(RIGHT, 52), (FALSE, 8)],
         "refuse": [(NEAR, 30), (UNRELATED, 4), (REFUSED, 46)]},
    ),
    "claude-mem": Row(
        128, 200, 0, 34, 38, 0,
        {"correction": [(RIGHT, 34), (STALE, 20), (UNRELATED, 6)],
         "current": [(RIGHT, 38), (UNRELATED, 22)],
         "refuse": [(NEAR, 60), (UNRELATED, 20)]},
    ),
    "basic-memory": Row(
        155, 200, 0, 16, 29, 0,
        {"correction": [(RIGHT, 16), (STALE, 44)],
         "current": [(RIGHT, 29), (STALE, 1), (UNRELATED, 30)],
         "refuse": [(NEAR, 79), (STALE, 1)]},
    ),
    "basic-memory with rules": Row(
        5, 27, 76, 3, 19, 97,
        {"correction": [(RIGHT, 3), (FALSE, 57)],
         "current": [(RIGHT, 19), (UNRELATED, 1), (FALSE, 40)],
         "refuse": [(NEAR, 4), (REFUSED, 76)]},
    ),
}  # fmt: skip
HELDOUT = {
    "KRouter": Row(
        3, 12, 8, 5, 4, 5,
        {"correction": [(RIGHT, 5), (UNRELATED, 1), (FALSE, 3)],
         "current": [(RIGHT, 4), (FALSE, 2)],
         "refuse": [(NEAR, 2), (REFUSED, 8)]},
    ),
    "BM25": Row(
        14, 23, 1, 4, 5, 1,
        {"correction": [(RIGHT, 4), (STALE, 5)],
         "current": [(RIGHT, 5), (FALSE, 1)],
         "refuse": [(NEAR, 9), (REFUSED, 1)]},
    ),
}  # fmt: skip


def heldout3(system: str) -> tuple[Grade, ...]:
    return graded(big(60, 60, 80), HELDOUT3[system].marks)


def rows() -> list[tuple[str, Exam, Row]]:
    found = [(f"heldout3 {name}", big(60, 60, 80), row) for name, row in HELDOUT3.items()]
    return found + [
        (f"heldout {name}", big(9, 6, 10, name="heldout"), row) for name, row in HELDOUT.items()
    ]
