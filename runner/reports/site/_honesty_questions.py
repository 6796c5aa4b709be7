"""Question by question, for development sets: what was asked, cited, and made of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from runner.errors import UsageError
from runner.reports.honesty import Row
from runner.reports.site._honesty_marks import SIGNS, Sign
from runner.reports.site._honesty_sides import Side
from runner.suites.memory_honesty import Answer, Exam, Grade, Question, grades


@dataclass(frozen=True, slots=True)
class Cited:
    """One page of an answer."""

    page: str
    score: str
    """In words; empty where the system tells none."""
    status: str
    """What the page is to the question: ``answers it``, ``replaced``, ``sounds like it``, or
    nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what a system made of it."""

    id: str
    question: Question
    sign: Sign
    cited: tuple[Cited, ...]
    """In rank order, as far as they count."""
    behind: int
    """Pages cited after those, which do not count."""
    refused: str
    """How it refused; empty where it did not."""
    receipt: str
    """Why, in the system's own words, as JSON; empty where it says nothing."""
    ms: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One question, and what each system made of it."""

    question: Question
    cells: tuple[tuple[Sign, str] | None, ...]
    """A sign and where it is told in full; none where a system has no answers."""

    @property
    def differs(self) -> bool:
        """Whether the systems did not all do the same."""
        return len({cell and cell[0].symbol for cell in self.cells}) > 1


def question_rows(side: Side) -> tuple[Asked, ...]:
    """Every question of a report, in the order of the set.

    Raises:
        UsageError: the set is held out: its answers are nobody's to read here.
    """
    row = _row(side)
    answers = {answer.question: answer for answer in row.answers}
    found = grades(row.exam, [answer.within(row.exam.top_k) for answer in row.answers])
    asked = {question.id: question for question in row.exam.asked()}
    return tuple(
        _asked(row.exam, asked[grade.question], grade, answers[grade.question]) for grade in found
    )


def matrix(sides: Sequence[Side]) -> tuple[tuple[Side, ...], tuple[Compared, ...]]:
    """Every question against every system that was asked the same; those are told too."""
    able = [side for side in sides if side.row is not None]
    if not able:
        return (), ()
    same = [side for side in able if side.exam.set_sha256 == able[0].exam.set_sha256]
    by_side = [{grade.question: grade for grade in side.graded()} for side in same]
    rows = []
    for question in _row(same[0]).exam.asked():
        cells: list[tuple[Sign, str] | None] = []
        for side, given in zip(same, by_side, strict=True):
            grade = given.get(question.id)
            link = f"{side.path}#q-{question.id}"
            cells.append(None if grade is None else (SIGNS[grade.outcome], link))
        rows.append(Compared(question, tuple(cells)))
    return tuple(same), tuple(rows)


def _row(side: Side) -> Row:
    if side.row is None:
        raise UsageError(f"The answers to {side.exam.set} are not told question by question.")
    return side.row


def _asked(exam: Exam, question: Question, grade: Grade, answer: Answer) -> Asked:
    refused = ""
    if not grade.answered:
        refused = "it said that it has nothing" if answer.refused else "it cited nothing"
        if answer.refused and answer.cited:
            refused = "it said that it has nothing, and cited pages beside"
    return Asked(
        id=f"q-{question.id}",
        question=question,
        sign=SIGNS[grade.outcome],
        cited=tuple(_cited(exam, question, answer.within(exam.top_k))),
        behind=max(0, len(answer.cited) - exam.top_k),
        refused=refused,
        receipt=_json(answer),
        ms="" if answer.ms is None else f"{answer.ms:.0f}",
    )


def _cited(exam: Exam, question: Question, answer: Answer) -> Iterator[Cited]:
    statuses = exam.statuses
    for page, score in zip(answer.cited, answer.scores, strict=True):
        status = ""
        if page in question.gold:
            status = "answers it"
        elif page == question.neighbour:
            status = "sounds like it"
        elif statuses[page].superseded:
            status = "replaced"
        yield Cited(page, "" if score is None else f"{score:.4g}", status)


def _json(answer: Answer) -> str:
    if not answer.receipt:
        return ""
    return orjson.dumps(answer.receipt, option=orjson.OPT_INDENT_2).decode()
