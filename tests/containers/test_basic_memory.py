"""basic-memory as a bench runs it: a trip and a move, and a set of questions."""

from pathlib import Path

import pytest

from runner.model import Outcome
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import Exam, load_vault
from runner.suites.trip_vs_move.read_out import read_outs
from tests.containers._bench import Bench

pytestmark = [pytest.mark.containers, pytest.mark.all_images, pytest.mark.timeout(900)]

ONE_EACH = ("--move-runs", "1", "--trip-alone-runs", "1", "--quiet", "--jobs", "1")


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(tmp_path, engine=engine)


def test_a_store_that_retires_nothing_passes_a_trip_and_fails_a_move(bench: Bench) -> None:
    done = bench.run("--arm", "scripted", "--system", "basic-memory", "--case", "reader",
                     "-o", "r.json", *ONE_EACH, timeout_s=600)  # fmt: skip
    assert done.returncode == 1, done.stderr
    report = bench.report("r.json")
    by_kind = {run.spec.kind: run for run in report.runs}
    moved, stayed = by_kind["move"], by_kind["trip-alone"]
    assert (moved.ending.outcome, stayed.ending.outcome) == (Outcome.FAILED, Outcome.PASSED)
    newest = max(moved.checks, key=lambda result: result.version)
    assert {check.id for check in newest.checks if not check.passed} == {"i", "iii"}
    assert not moved.calls
    assert not moved.cost_usd
    final = moved.final
    assert final is not None
    assert (final.unmapped, final.events) == ((), ())
    assert all(claim.active for claim in final.claims)
    # Each statement bears its note's name and its day, which is what the store itself wrote down.
    days = {step.name.removeprefix("deposit "): step.day for step in moved.steps}
    assert {claim.sources for claim in final.claims} == {
        (name,) for name in days if name.startswith("reader-")
    }
    for claim in final.claims:
        [note] = claim.sources
        assert claim.asserted_at is not None
        assert claim.asserted_at.date() == days[note]
    told = read_outs(moved.observations)
    assert len(told) == 12
    for one in told:
        assert one.error is None
        assert one.first is not None
        assert one.first.day == days[one.first.source or ""]
        assert one.first.age_days in (0, 30)
    assert bench.left() == []


def test_questions_by_words_alone(bench: Bench) -> None:
    done = bench.run("honesty", "--arm", "scripted", "--system", "basic-memory-text",
                     "--set", "dev", "--runs", "1", "-q", "-o", "out", timeout_s=600)  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = bench.report("out/honesty-basic-memory-text-dev.json")
    assert isinstance(report.case, Exam)
    [run] = report.runs
    assert (run.ending.outcome, run.ending.kind) == (Outcome.PASSED, "graded")
    pages = len(load_vault("vault1").pages)
    assert run.steps[0].result == {"pages": pages, "entities": pages}
    assert run.encoder is None
    answered = [step.result for step in run.steps if step.verb == "ask"]
    assert len(answered) == 30
    assert any(not result["refused"] for result in answered)
