"""From the runs of one lesson to its verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence

from runner.errors import UsageError
from runner.model import Outcome, RunRecord
from runner.suites.honesty_learning.checks import answered
from runner.suites.honesty_learning.learned import Night, night
from runner.suites.honesty_learning.pairs import AFTER, LESSON_KINDS, SUITE, Lesson, Week
from runner.suites.honesty_learning.protocol import see_kind
from runner.suites.honesty_learning.verdict import Learned, LessonRun, LessonVerdict
from runner.suites.memory_honesty import Grade, grades, metrics, paired

JUDGED = (Outcome.PASSED, Outcome.FAILED)


def score(
    lesson: Lesson, records: Sequence[RunRecord], planned: Mapping[str, int]
) -> LessonVerdict:
    """Compute the verdict.

    Args:
        lesson: what was asked.
        records: the runs there are.
        planned: how many runs there should be, by kind.

    Raises:
        UsageError: neither a run nor a plan of one; records of another suite, vault, kind or
            number; the same run twice.
        UnreadableAnswer: a run with a verdict that its steps do not hold.
    """
    if not records and not sum(planned.values()):
        raise UsageError("There is no run to score, and none is planned.")
    _fits(lesson, records, planned)
    judged = sorted(
        (record for record in records if record.ending.outcome in JUDGED),
        key=lambda record: (LESSON_KINDS.index(record.spec.kind), record.spec.index),
    )
    second = {record.spec.id: _grades(lesson, 2, record) for record in judged}
    runs = tuple(_run(lesson, record, second[record.spec.id]) for record in judged)
    first = {kind: next((one.run for one in runs if one.kind == kind), None) for kind in planned}
    after, before = (first.get(kind) for kind in reversed(LESSON_KINDS))
    return LessonVerdict(
        vault=lesson.vault,
        planned=dict(planned),
        outcomes=dict(Counter(record.ending.outcome for record in records)),
        reasons=dict(
            Counter(record.ending.kind for record in records if record.ending.outcome not in JUDGED)
        ),
        runs=runs,
        paired=paired(second[after], second[before]) if after and before else None,
    )


def _run(lesson: Lesson, record: RunRecord, second: Sequence[Grade]) -> LessonRun:
    spec, after = record.spec, record.spec.kind == AFTER
    return LessonRun(
        run=spec.id,
        kind=spec.kind,
        index=spec.index,
        week1=metrics(_grades(lesson, 1, record)) if after else None,
        learned=_counted(night(lesson, record.steps)) if after else None,
        week2=metrics(second),
    )


def _counted(done: Night) -> Learned:
    return Learned(
        looked_at=done.looked_at,
        asked=done.asked,
        declined=done.declined,
        learned=len(done.learned),
        wrong=sum(not one.right for one in done.learned),
        unproved=len(done.unproved),
        unproved_right=sum(one.right for one in done.unproved),
        proof=done.proof,
    )


def _grades(lesson: Lesson, week: Week, record: RunRecord) -> tuple[Grade, ...]:
    return grades(lesson.exam(week), answered(lesson, week, record.steps))


def _fits(lesson: Lesson, records: Sequence[RunRecord], plan: Mapping[str, int]) -> None:
    for kind in plan:
        see_kind(kind)
    seen: set[object] = set()
    for record in records:
        spec = record.spec
        if (spec.suite, spec.case, spec.fixture_variant) != (SUITE, lesson.name, lesson.vault):
            raise UsageError(
                f"Run {spec.id} is of {spec.suite}, {spec.case} ({spec.fixture_variant}), not of"
                f" {lesson.name} ({lesson.vault})."
            )
        see_kind(spec.kind)
        if not 1 <= spec.index <= plan.get(spec.kind, 0):
            raise UsageError(
                f"Run {spec.id} is number {spec.index} of {spec.kind}, of which"
                f" {plan.get(spec.kind, 0)} are planned."
            )
        if {spec.id, (spec.kind, spec.index)} & seen:
            raise UsageError(f"Run {spec.id} is there twice.")
        seen |= {spec.id, (spec.kind, spec.index)}
