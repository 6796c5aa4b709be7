"""Reports of the honesty suite, as produced but for the containers: of any exam and any answers."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.model import Call, Ending, Outcome, RunRecord, StepRecord
from runner.reports.produce import blank
from runner.reports.rescore import verdict
from runner.reports.schema import Fixture, Report
from runner.runs.calls import by_purpose
from runner.runs.clock import Clock
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import Exam, Vault, load_exam, steps
from runner.suites.registry import suite_of
from runner.suites.suite import Material
from runner.systems.catalog import load
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place
from tests.suites.memory_honesty._kit import Said, oracle, result, vault

STARTED = datetime(2026, 12, 1, tzinfo=UTC)


def pages_of(exam: Exam) -> Vault | None:
    """The little vault, where the exam is about it; else the project's own is read."""
    little = vault(exam.marker)
    return little if little.sha256 == exam.vault_sha256 else None


def taken(
    exam: Exam, said: Mapping[str, Said], score: float | None, index: int
) -> tuple[StepRecord, ...]:
    """The steps of a run that says so; what is left out it answers as a memory without fault."""
    told = {**oracle(exam), **said}
    return tuple(
        StepRecord(
            name=step.name,
            verb=step.verb,
            seconds=number / 1000,
            result={"pages": len(exam.pages)}
            if step.verb == "index"
            else result(exam, told[step.name.removeprefix("ask ")], score),
        )
        for number, step in enumerate(steps(exam, exam.set, index, pages_of(exam)))
    )


def report(
    exam: Exam,
    said: Mapping[str, Said] | None = None,
    *,
    system: str = "bm25",
    score: float | None = 1.0,
    runs: int = 1,
    calls: Iterable[Call] = (),
    ended: Ending | None = None,
) -> Report:
    """A report of so many runs that answer alike.

    Args:
        exam: what is asked.
        said: pages by question, where a memory without fault says something else.
        system: whose report it is.
        score: of every page that is cited.
        runs: how many there are.
        calls: the model calls of each.
        ended: how all of them ended, where none was graded.
    """
    able = load(system)
    # The project's own exam of that name, of which a protocol can be made; then the exam itself.
    protocol = Protocol(
        case=load_exam(exam.set),
        system=able,
        arm="scripted",
        model="claude-sonnet-5-5",
        runs={exam.set: runs},
        clock=Clock("now"),
        options=able.settle({}),
    )
    suite, records = suite_of(exam), []
    for spec in specs(protocol):
        steps_ = taken(exam, said or {}, score, spec.index)
        judged: dict[str, Any] = {"ending": ended}
        if ended is None:
            material = Material(steps=steps_)
            checks = suite.check(exam, spec.kind, material)
            judged = {
                "checks": checks,
                "observations": suite.observe(exam, spec.kind, material),
                "ending": suite.ending(checks, 1),
            }
        records.append(
            RunRecord(
                spec=spec, started_at=STARTED, seconds=1.0, steps=steps_, calls=tuple(calls),
                usage=by_purpose(tuple(calls)),
                log_tail="" if ended is None else "the end of a log", **judged,
            )
        )  # fmt: skip
    begun = blank(protocol, place(MemorySandbox(Path("/nonexistent"))))
    fixtures = tuple(Fixture(name=name, sha256=of) for name, of in suite.digests(exam).items())
    whole = begun.model_copy(
        update={
            "case": exam, "fixtures": fixtures, "runs": tuple(records), "started_at": STARTED,
        }
    )  # fmt: skip
    return whole.model_copy(update={"verdict": verdict(whole, whole.runs, 1)})


FAILED = Ending(
    outcome=Outcome.ERRORED, kind="degraded", detail="degraded: 'How often?' found no index"
)
"""A search that failed, with words of the question in what it says."""
