"""What is worth knowing of a run, question by question: pairs are no held-out set."""

from collections.abc import Sequence

from pydantic import JsonValue

from runner.model import Observation, StepRecord
from runner.suites.honesty_learning.checks import answered
from runner.suites.honesty_learning.learned import night
from runner.suites.honesty_learning.pairs import AFTER, Lesson
from runner.suites.honesty_learning.protocol import see_kind
from runner.suites.memory_honesty import Mark, grades


def observe(lesson: Lesson, kind: str, steps: Sequence[StepRecord]) -> tuple[Observation, ...]:
    """The pairs by what became of their second wording, and what was learned.

    Raises:
        UsageError: no such kind.
        UnreadableAnswer: as the checks.
    """
    see_kind(kind)
    found = grades(lesson.exam(2), answered(lesson, 2, steps))
    outcomes: dict[str, JsonValue] = {
        mark.value: [grade.question for grade in found if grade.outcome is mark] for mark in Mark
    }
    told = [Observation(id="outcomes", title="Week 2 by what became of it", value=outcomes)]
    if kind == AFTER:
        done = night(lesson, steps)
        for id_, title, lore in (
            ("learned", "What was learned", done.learned),
            ("unproved", "What was kept out for want of a proof", done.unproved),
        ):
            rows: list[JsonValue] = [one.model_dump(mode="json") for one in lore]
            told.append(Observation(id=id_, title=title, value=rows))
    return tuple(told)
