"""What is worth knowing about the answers to a development set, question by question."""

from collections.abc import Iterable

from pydantic import JsonValue

from runner.model import Observation, StepRecord
from runner.suites.memory_honesty.answers import answers
from runner.suites.memory_honesty.exam import Exam
from runner.suites.memory_honesty.grade import Mark, grades


def observe(exam: Exam, kind: str, steps: Iterable[StepRecord]) -> tuple[Observation, ...]:
    """The questions by what became of them, and every wrong citation beside what is right.

    Nothing for a held-out set: its answers are told of in aggregates only.

    Raises:
        UsageError: no such kind.
        UnreadableAnswer: not every page was taken, or a question has no answer that can be read.
    """
    exam.one_of(kind)
    if exam.held_out:
        return ()
    found = grades(exam, answers(exam, steps))
    outcomes: dict[str, JsonValue] = {
        mark.value: [grade.question for grade in found if grade.outcome is mark] for mark in Mark
    }
    wrong: list[JsonValue] = [
        {
            "id": grade.question,
            "question": question.q,
            "outcome": grade.outcome.value,
            "cited": grade.cited,
            "right": list(question.gold),
        }
        for question, grade in zip(exam.asked(), found, strict=True)
        if grade.wrong
    ]
    return (
        Observation(id="outcomes", title="Questions by what became of them", value=outcomes),
        Observation(id="wrong", title="Wrong citations, and the pages that are right", value=wrong),
    )
