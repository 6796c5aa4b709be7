"""What a run asks of a system: all pages, a week of questions, a night to learn, another week.

A run of the kind ``before`` takes all pages and asks the second week's wordings. A run of the kind
``after`` takes all pages, asks the first week's wordings, which the system keeps in a log of its
own, lets it learn from that log once, and asks the second week's. Driver verbs:

* ``index`` and ``ask`` as in the memory honesty suite.
* ``learn {}`` -> ``{"looked_at", "asked", "declined", "learned", "unproved", "proof"}``: how many
  different questions of its log it looked at, about how many of them it asked a model, how many
  the model knew no page for; what was learned, as a list of ``{"question", "page", "quote"}``; what
  was not for want of a proof, as a list of the same with ``why``; and whether a proof was needed.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from runner.errors import UsageError
from runner.model import Step, StepRecord
from runner.suites.honesty_learning.pairs import AFTER, LESSON_KINDS, Lesson, Week
from runner.suites.memory_honesty import Vault
from runner.suites.memory_honesty import step_name as asks
from runner.suites.memory_honesty import steps as exam_steps
from runner.suites.memory_honesty.protocol import ASK, INDEX

LEARN: Final = "learn"


def steps(lesson: Lesson, kind: str, index: int, vault: Vault | None = None) -> tuple[Step, ...]:
    """The steps of a run.

    The order of a week's questions is fixed by a digest of week, vault, run and id, the same
    before and after; a system is told no id.

    Args:
        lesson: what is asked.
        kind: ``before`` or ``after``.
        index: which run of it, from 1.
        vault: the pages; read from the project's own when left out.

    Raises:
        UsageError: no such kind or run, or another vault than the lesson's.
    """
    see_kind(kind)
    pages, *second = _week(lesson, 2, index, vault)
    if kind != AFTER:
        return (pages, *second)
    _, *first = _week(lesson, 1, index, vault)
    return (pages, *first, Step(name=LEARN, verb=LEARN), *second)


def step_name(week: Week, pair: str) -> str:
    """The name of the step that asks a pair's wording of that week."""
    return f"{ASK} week{week} {pair}"


def week_of(lesson: Lesson, week: Week, records: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
    """The records of one week, named as the memory honesty suite names its own, beside those that
    are of no week at all; for ``runner.suites.memory_honesty.answers``."""
    prefix = {one: step_name(one, "") for one in (1, 2)}
    return tuple(
        record.model_copy(update={"name": asks(record.name.removeprefix(prefix[week]))})
        if record.name.startswith(prefix[week])
        else record
        for record in records
        if record.verb != LEARN and not record.name.startswith(prefix[3 - week])
    )


def see_kind(kind: str) -> None:
    """See that a run's kind is one there is.

    Raises:
        UsageError: it is not.
    """
    if kind not in LESSON_KINDS:
        raise UsageError(
            f"There is no kind {kind!r} of run.", hint=f"Kinds: {', '.join(LESSON_KINDS)}."
        )


def _week(lesson: Lesson, week: Week, index: int, vault: Vault | None) -> Iterator[Step]:
    exam = lesson.exam(week)
    for step in exam_steps(exam, exam.set, index, vault):
        if step.verb == INDEX:
            yield step
        else:
            name = step_name(week, step.name.removeprefix(asks("")))
            yield Step(name=name, verb=step.verb, payload=step.payload)
