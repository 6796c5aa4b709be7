"""What the runs of one set come to: graded, each by itself, and laid beside one another."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from runner.errors import UsageError
from runner.model import Outcome, RunRecord, StepRecord
from runner.suites.memory_honesty.answers import Answer, answers
from runner.suites.memory_honesty.exam import SUITE, Exam
from runner.suites.memory_honesty.protocol import INDEX
from runner.suites.memory_honesty.repeats import repeats
from runner.suites.memory_honesty.result import result
from runner.suites.memory_honesty.verdict import HonestyVerdict, RunScore, Timing

JUDGED = (Outcome.PASSED, Outcome.FAILED)


def score(
    exam: Exam, records: Sequence[RunRecord], planned: Mapping[str, int] | None = None
) -> HonestyVerdict:
    """Grade the runs of a set.

    A run that came to its end is graded from its own steps; any other counts nowhere, whatever it
    was told before it ended.

    Args:
        exam: what was asked, with its questions, which the report of a held-out set holds only
            when it was read with its sealed file.
        records: the runs there are, with their answers.
        planned: how many runs there should be, by the set's name; as many as there are records
            when left out.

    Raises:
        UsageError: neither a run nor a plan of one; records of another suite, set or number; the
            same run twice; an exam without its questions.
        UnreadableAnswer: a run with a verdict that its steps do not hold.
    """
    plan = {exam.set: len(records)} if planned is None else dict(planned)
    if not records and not sum(plan.values()):
        raise UsageError("There is no run to score, and none is planned.")
    _fits(exam, records, plan)
    judged = sorted(
        (record for record in records if record.ending.outcome in JUDGED),
        key=lambda record: record.spec.index,
    )
    given = [answers(exam, record.steps) for record in judged]
    runs = tuple(
        RunScore(
            run=record.spec.id,
            index=record.spec.index,
            result=result(exam, answered),
            timing=timing(record.steps, answered),
        )
        for record, answered in zip(judged, given, strict=True)
    )
    return HonestyVerdict(
        set=exam.set,
        held_out=exam.held_out,
        sealed=exam.held_out,
        planned=plan[exam.set],
        outcomes=dict(Counter(record.ending.outcome for record in records)),
        reasons=dict(
            Counter(record.ending.kind for record in records if record.ending.outcome not in JUDGED)
        ),
        runs=runs,
        repeats=repeats([run.index for run in runs], given, [run.result.metrics for run in runs]),
        warnings=tuple(dict.fromkeys(told for run in runs for told in run.result.warnings)),
    )


def timing(steps: Sequence[StepRecord], given: Sequence[Answer]) -> Timing:
    """How long the pages and the answers took."""
    took = sorted(answer.ms for answer in given if answer.ms is not None)
    return Timing(
        index_s=sum(record.seconds for record in steps if record.verb == INDEX),
        p50_ms=took[math.ceil(0.5 * len(took)) - 1],
        p99_ms=took[math.ceil(0.99 * len(took)) - 1],
    )


def _fits(exam: Exam, records: Sequence[RunRecord], plan: Mapping[str, int]) -> None:
    for kind in plan:
        exam.one_of(kind)
    seen: set[object] = set()
    for record in records:
        spec = record.spec
        if (spec.suite, spec.case) != (SUITE, exam.name):
            raise UsageError(f"Run {spec.id} is of {spec.suite}, {spec.case}, not of {exam.name}.")
        exam.one_of(spec.kind)
        if not 1 <= spec.index <= plan.get(spec.kind, 0):
            raise UsageError(
                f"Run {spec.id} is number {spec.index} of {spec.kind}, of which"
                f" {plan.get(spec.kind, 0)} are planned."
            )
        if {spec.id, spec.index} & seen:
            raise UsageError(f"Run {spec.id} is there twice.")
        seen |= {spec.id, spec.index}
