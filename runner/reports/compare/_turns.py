"""What became of each of the same questions, answered twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from runner.errors import UsageError
from runner.reports.compare.nouns import TONES, Finding, Part, Way, several, turned
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.suites.memory_honesty import Exam, Grade, Mark, Question


@dataclass(frozen=True, slots=True)
class Answered:
    """The same questions, as two reports have them answered.

    Attributes:
        name: of these answers, for a program; empty where a report has but one set of them.
        title: the same in words.
        exam: what was asked.
        before: the grades of A, in the order of the exam.
        after: those of B.
        decides: whether its tests decide what is significant.
    """

    name: str
    title: str
    exam: Exam
    before: tuple[Grade, ...]
    after: tuple[Grade, ...]
    decides: bool = True

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        exam: Exam,
        before: Sequence[Grade],
        after: Sequence[Grade],
        decides: bool = True,
    ) -> Self:
        """The grades of B in the order of those of A.

        Raises:
            UsageError: they are of other questions.
        """
        there = {(grade.question, grade.kind, grade.lang): grade for grade in after}
        asked = [(grade.question, grade.kind, grade.lang) for grade in before]
        if sorted(asked) != sorted(there):
            raise UsageError("A and B were not asked the same questions.")
        return cls(name, title, exam, tuple(before), tuple(there[one] for one in asked), decides)

    def called(self, name: str) -> str:
        """A sheet's name."""
        return f"{name}-{self.name}" if self.name else name

    def titled(self, title: str) -> str:
        """A sheet's title."""
        return f"{title}, {self.title}" if self.title else title


def transitions(two: Answered) -> Sheet:
    """What became of what, in counts."""
    counts = Counter(
        (one.outcome, other.outcome) for one, other in zip(two.before, two.after, strict=True)
    )
    marks = [mark for mark in Mark if any(mark in key for key in counts)]
    rows = tuple(
        (Cell(_word(one)), *(_transition(one, other, counts[one, other]) for other in marks))
        for one in marks
    )
    columns = (
        Column("A, and then in B", key="a"),
        *(Column(_word(mark), numeric=True, key=mark.value) for mark in marks),
    )
    return Sheet(two.called("transitions"), two.titled("What became of what"), columns, rows)


def _transition(one: Mark, other: Mark, count: int) -> Cell:
    if not count:
        return Cell("·", Tone.FAINT, 0)
    return Cell(str(count), Tone.PLAIN if one is other else TONES[way_of(one, other)], count)


def way_of(one: Mark, other: Mark) -> Way:
    """What a change of marks is: right is better than nothing said, which is better than wrong."""
    return turned(_worth(other) - _worth(one))


def _worth(mark: Mark) -> int:
    if mark in (Mark.RIGHT, Mark.REFUSED):
        return 2
    return 1 if mark is Mark.FALSE_REFUSAL else 0


def questions(two: Answered) -> Part:
    """Every question that is not answered as it was; of a held-out set how many alone."""
    changed = [
        (one, other)
        for one, other in zip(two.before, two.after, strict=True)
        if (one.outcome, one.cited) != (other.outcome, other.cited)
    ]
    counts = Counter(way_of(one.outcome, other.outcome) for one, other in changed)
    findings = tuple(
        Finding(way, two.titled(f"questions that are {_BECAME[way]}"), "·", str(counts[way]))
        for way in Way
        if counts[way]
    )
    if two.exam.held_out:
        return Part(findings=findings)
    asked = {question.id: question for question in two.exam.asked()}
    rows = [_question(asked[one.question], one, other) for one, other in changed]
    columns = (
        Column("", key="way"), Column("question"), Column("kind"), Column("asked"),
        Column("A"), Column("B"),
    )  # fmt: skip
    title = two.titled("Questions answered otherwise")
    sheet = Sheet(two.called("questions"), title, columns, tuple(rows))
    return Part(several(iter((sheet,))), findings=findings)


_BECAME = {
    Way.WORSE: "worse than they were",
    Way.BETTER: "better than they were",
    Way.CHANGED: "answered otherwise, as well or ill",
}


def _question(asked: Question, one: Grade, other: Grade) -> tuple[Cell, ...]:
    way = way_of(one.outcome, other.outcome)
    return (
        Cell(way.value, TONES[way]), Cell(asked.id), Cell(f"{asked.kind}, {asked.lang}"),
        Cell(asked.q), _said(one), _said(other),
    )  # fmt: skip


def _said(grade: Grade) -> Cell:
    told = _word(grade.outcome) + (f": {grade.cited}" if grade.cited else "")
    tone = Tone.BAD if grade.wrong else Tone.GOOD if grade.behaved else Tone.UNSURE
    return Cell(told, tone, {"outcome": grade.outcome.value, "cited": grade.cited})


def _word(mark: Mark) -> str:
    return mark.value.replace("_", " ")
