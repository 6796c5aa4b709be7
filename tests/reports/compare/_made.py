"""Reports to compare: of the update gate, and of answers that were kept."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.model import Ending, Outcome, RunRecord
from runner.paths import fixtures
from runner.reports.produce import blank
from runner.reports.rescore import verdict
from runner.reports.schema import Fixture, Report
from runner.runs.clock import Clock
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import load_exam, parse_answers
from runner.suites.registry import suite_of
from runner.suites.suite import Material
from runner.suites.update_gate import Gate, load_gate
from runner.systems.catalog import load
from tests.reports import _honesty
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place
from tests.suites.update_gate._tables import Said, answered

STARTED = datetime(2026, 12, 1, tzinfo=UTC)
SETS = ("development", "held-out")
ENDED = Ending(outcome=Outcome.ERRORED, kind="provider", detail="provider: <b>\x1b[2J")


def gated(
    changed: Mapping[tuple[str, int], Mapping[str, Said]] | None = None,
    *,
    ended: Mapping[tuple[str, int], Ending] | None = None,
    sets: tuple[str, ...] = SETS,
) -> Report:
    """A report of the project's own pairs.

    Args:
        changed: by set and sample, what a perfect model does not say.
        ended: by set and sample, how a run ended that was not judged.
        sets: what is asked.
    """
    able = load("engine")
    case: Gate = load_gate(sets, 3)
    protocol = Protocol(
        case=case, system=able, arm="scripted", model="claude-sonnet-5-5",
        runs=dict.fromkeys(sets, 3), clock=Clock("now"), options=able.settle({}),
    )  # fmt: skip
    suite, records = suite_of(case), []
    for spec in specs(protocol):
        place_ = (spec.kind, spec.index)
        steps = answered(case, spec.kind, spec.index, (changed or {}).get(place_))
        judged: dict[str, Any] = {"ending": (ended or {}).get(place_)}
        if judged["ending"] is None:
            material = Material(steps=steps)
            checks = suite.check(case, spec.kind, material)
            judged = {
                "checks": checks,
                "observations": suite.observe(case, spec.kind, material),
                "ending": suite.ending(checks, 1),
            }
        records.append(RunRecord(spec=spec, started_at=STARTED, seconds=1.0, steps=steps, **judged))
    begun = blank(protocol, place(MemorySandbox(Path("/nonexistent"))))
    told = tuple(Fixture(name=name, sha256=of) for name, of in suite.digests(case).items())
    whole = begun.model_copy(update={"fixtures": told, "runs": tuple(records)})
    return whole.model_copy(update={"verdict": verdict(whole, whole.runs, 1)})


def kept(system: str, name: str = "dev") -> Report:
    """A report of answers that were kept of a real run of a system."""
    path = fixtures() / "honesty" / "answers" / system / f"{name}.jsonl"
    given = parse_answers(path.read_bytes().split(b"\n"), load_exam(name, top_k=100))
    said = {one.question: one.cited[:5] if one.answered else None for one in given}
    return _honesty.report(load_exam(name), said, system=system)


def every_text(document: Any) -> list[str]:
    """Every string anywhere in a document."""
    if isinstance(document, str):
        return [document]
    if isinstance(document, dict):
        return [text for pair in document.items() for one in pair for text in every_text(one)]
    if isinstance(document, list):
        return [text for one in document for text in every_text(one)]
    return []
