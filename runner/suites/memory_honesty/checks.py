"""The checks of one run: that it was asked everything, of everything. No grade is a check.

There is no bar: a run that came to its end has passed, ``graded``. What cannot be graded, such as a
vault that was taken in part, ends a run otherwise: it raises, and is never a refusal.
"""

from collections.abc import Iterable

from runner.model import Check, CheckResult, Ending, Outcome, StepRecord
from runner.suites.memory_honesty.answers import answers
from runner.suites.memory_honesty.exam import VERSION, Exam


def check(exam: Exam, kind: str, steps: Iterable[StepRecord]) -> CheckResult:
    """Check one run.

    Args:
        exam: what was asked, with its questions.
        kind: the name of its set.
        steps: what the system answered, in any order.

    Raises:
        UsageError: no such kind, or an exam without its questions.
        UnreadableAnswer: not every page was taken, or a question has no answer that can be read.
    """
    exam.one_of(kind)
    answers(exam, steps)
    return CheckResult(
        version=VERSION,
        passed=True,
        checks=(
            Check(
                id="indexed",
                title="Every page of the vault was taken",
                passed=True,
                evidence=(f"{len(exam.pages)} pages",),
            ),
            Check(
                id="asked",
                title="Every question was answered or refused",
                passed=True,
                evidence=(f"{exam.size} questions",),
            ),
        ),
    )


def ending(result: CheckResult) -> Ending:
    """How a run that came to its end turned out: it was graded."""
    failed = [check for check in result.checks if not check.passed]
    return Ending(
        outcome=Outcome.PASSED if result.passed else Outcome.FAILED,
        kind="graded" if result.passed else "checks",
        detail="; ".join(f"({check.id}) {check.title}" for check in failed),
    )
