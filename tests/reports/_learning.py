"""Reports of the learning suite, as produced but for the containers: of the little lesson."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.model import Ending, RunRecord
from runner.reports.produce import blank
from runner.reports.rescore import verdict
from runner.reports.schema import Fixture, Report
from runner.runs.clock import Clock
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.suites.honesty_learning import LESSON_KINDS, load_lesson
from runner.suites.registry import suite_of
from runner.suites.suite import Material
from runner.systems.catalog import load
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place
from tests.suites.honesty_learning._kit import lesson, taken

STARTED = datetime(2026, 12, 1, tzinfo=UTC)


def report(
    *,
    proof: bool = True,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    ended: Mapping[str, Ending] | None = None,
) -> Report:
    """A report of both runs, as far as ``ended`` leaves them.

    Args:
        proof: whether one is needed.
        before: what is answered in the run without a night, as ``_kit.taken`` takes it.
        after: the same in the one with a night.
        ended: endings of runs that were not graded, by kind.
    """
    asked, able = lesson(), load("router")
    # The project's own pairs of that vault, of which a protocol can be made; then the little ones.
    protocol = Protocol(
        case=load_lesson("vault1"),
        system=able,
        arm="scripted",
        model="claude-sonnet-5-5",
        runs=dict.fromkeys(LESSON_KINDS, 1),
        clock=Clock("now"),
        options=able.settle({"proof": proof}),
    )
    suite, told = suite_of(asked), {"before": before or {}, "after": after or {}}
    records = []
    for spec in specs(protocol):
        steps = taken(asked, spec.kind, **told[spec.kind])
        judged: dict[str, Any] = {"ending": (ended or {}).get(spec.kind)}
        if judged["ending"] is None:
            material = Material(steps=steps)
            checks = suite.check(asked, spec.kind, material)
            judged = {
                "checks": checks,
                "observations": suite.observe(asked, spec.kind, material),
                "ending": suite.ending(checks, 1),
            }
        records.append(RunRecord(spec=spec, started_at=STARTED, seconds=1.0, steps=steps, **judged))
    begun = blank(protocol, place(MemorySandbox(Path("/nonexistent"))))
    fixtures = tuple(Fixture(name=name, sha256=of) for name, of in suite.digests(asked).items())
    whole = begun.model_copy(
        update={"case": asked, "fixtures": fixtures, "runs": tuple(records), "started_at": STARTED}
    )
    return whole.model_copy(update={"verdict": verdict(whole, whole.runs, 1)})
