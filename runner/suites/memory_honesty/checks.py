"""The checks of one run: that it was asked everything, of everything. No grade is a check.

There is no bar: a run that came to its end has passed, ``graded``. What cannot be graded, such as a
vault that was taken in part, ends a run otherwise: it raises, and is never a refusal.
"""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from runner.model import Check, CheckResult, Ending, Outcome, StepRecord
from runner.suites.memory_honesty.answers import UnreadableAnswer, answers, see_indexed
from runner.suites.memory_honesty.exam import VERSION, Exam
from runner.suites.memory_honesty.protocol import INDEX, SEALED


class _Sealed(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    questions: int


def check(exam: Exam, kind: str, steps: Iterable[StepRecord]) -> CheckResult:
    """Check one run; the same for its record with the answers and for the one without them.

    Args:
        exam: what was asked; without its questions only where the answers are sealed.
        kind: the name of its set.
        steps: what the system answered, in any order.

    Raises:
        UsageError: no such kind; answers that are not sealed, and an exam without its questions.
        UnreadableAnswer: not every page was taken, or a question has no answer that can be read.
    """
    exam.one_of(kind)
    taken = list(steps)
    if any(record.name == SEALED for record in taken):
        _see_sealed(exam, taken)
    else:
        answers(exam, taken)
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


def _see_sealed(exam: Exam, taken: Sequence[StepRecord]) -> None:
    if not exam.held_out:
        raise UnreadableAnswer(f"The set {exam.set} is not held out, and its answers are sealed.")
    indexed = [record for record in taken if record.verb == INDEX]
    asked = [record for record in taken if record.verb != INDEX]
    see_indexed(exam, indexed)
    if len(asked) != 1:
        raise UnreadableAnswer(f"Answers to {exam.set} stand beside the sealed ones.")
    try:
        count = _Sealed.model_validate(asked[0].result).questions
    except ValidationError as error:
        raise UnreadableAnswer(f"The sealed step of {exam.set} cannot be read.") from error
    if count != exam.size:
        raise UnreadableAnswer(f"{count} answers to {exam.set} are sealed, of {exam.size}.")
