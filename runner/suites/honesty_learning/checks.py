"""The checks of one run: that it was asked everything, and learned once. No grade is a check.

There is no bar: a run that came to its end has passed, ``graded``. What cannot be read raises.
"""

from collections.abc import Sequence

from runner.model import Check, CheckResult, Ending, StepRecord
from runner.suites.honesty_learning.learned import night
from runner.suites.honesty_learning.pairs import AFTER, VERSION, Lesson, Week
from runner.suites.honesty_learning.protocol import LEARN, see_kind, step_name, week_of
from runner.suites.memory_honesty import Answer, UnreadableAnswer, answers
from runner.suites.memory_honesty import ending as graded


def answered(lesson: Lesson, week: Week, steps: Sequence[StepRecord]) -> tuple[Answer, ...]:
    """What a run answered in one week, in the order of the pairs.

    Raises:
        UnreadableAnswer: as ``runner.suites.memory_honesty.answers``.
    """
    return answers(lesson.exam(week), week_of(lesson, week, steps))


def check(lesson: Lesson, kind: str, steps: Sequence[StepRecord]) -> CheckResult:
    """Check one run.

    Raises:
        UsageError: no such kind.
        UnreadableAnswer: not every page was taken, a question has no answer that can be read, or
            what was learned cannot be; something was asked or learned that the kind does not have,
            or in another order.
    """
    see_kind(kind)
    answered(lesson, 2, steps)
    pages = f"{len(lesson.pages)} pages"
    asked = [f"{lesson.size} questions of week 2"]
    checks = [_check("indexed", "Every page of the vault was taken", pages)]
    if kind == AFTER:
        answered(lesson, 1, steps)
        done = night(lesson, steps)
        _in_order(steps)
        asked.insert(0, f"{lesson.size} questions of week 1")
        learned = f"{len(done.learned)} learned of {done.asked} asked about"
        checks.append(_check("learned", "All of week 1 was looked at, between the weeks", learned))
    elif more := [one.name for one in steps if one.verb == LEARN or one.name.startswith(_FIRST)]:
        raise UnreadableAnswer(f"A run before learning holds the step {more[0]!r}.")
    checks.insert(1, _check("asked", "Every question was answered or refused", *asked))
    return CheckResult(version=VERSION, passed=True, checks=tuple(checks))


def ending(result: CheckResult) -> Ending:
    """How a run that came to its end turned out: it was graded."""
    return graded(result)


_FIRST, _SECOND = step_name(1, ""), step_name(2, "")


def _in_order(steps: Sequence[StepRecord]) -> None:
    """Week 1, then the night, then week 2: else ``after`` says nothing."""
    names = [step.name for step in steps]
    at = next(place for place, step in enumerate(steps) if step.verb == LEARN)
    late = [name for name in names[at:] if name.startswith(_FIRST)]
    early = [name for name in names[:at] if name.startswith(_SECOND)]
    if late or early:
        raise UnreadableAnswer(f"The step {(late or early)[0]!r} is on the wrong side of learning.")


def _check(id_: str, title: str, *evidence: str) -> Check:
    return Check(id=id_, title=title, passed=True, evidence=evidence)
