"""The update gate in real containers: tallies, endings, recordings, on every system that probes."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.model import Outcome
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.update_gate import SETS, GateVerdict
from tests.containers._bench import Bench, end, until
from tests.containers._standin import StandIn, standing_in

pytestmark = pytest.mark.containers

SYSTEMS = ["engine", pytest.param("particles", marks=pytest.mark.all_images)]
OVERLOADED = {"status": 529, "kind": "overloaded_error", "headers": [["retry-after", "0"]]}
SMALL = ("--set", "past-values", "--samples", "2", "--quiet")


@pytest.fixture(params=SYSTEMS, scope="module")
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def provider(system: str, engine: Engine) -> Iterator[StandIn]:
    with standing_in(engine, "update-gate", system=system) as running:
        yield running


@pytest.fixture
def upstream(provider: StandIn) -> Iterator[StandIn]:
    """The stand-in, with its usual habits afterwards."""
    yield provider
    provider.forget()


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {
        "ANTHROPIC_API_KEY": "sk-test",
        "BENCH_STATE": str(tmp_path / "state"),
        "HTTPS_PROXY": "",
        "https_proxy": "",
    }
    return Bench(tmp_path, env=env, engine=engine)


def gate(report: Report) -> GateVerdict:
    assert isinstance(report.verdict, GateVerdict)
    return report.verdict


def tallies(report: Report) -> dict[str, tuple[int, int, int, int]]:
    """Of the production rule, by set: updates retired, of; control samples retired, of."""
    rules = {one.name: one.rule("production") for one in gate(report).sets}
    return {
        name: (one.positives_retired, one.positives, one.control_retirements, one.control_samples)
        for name, one in rules.items()
    }


def test_a_model_that_is_always_right_meets_the_bar(bench: Bench, system: str) -> None:
    done = bench.run("update-gate", "--arm", "scripted", "--system", system, "-o", "x.json", "-q")
    assert done.returncode == 0, done.stderr
    report = bench.report("x.json")
    assert tallies(report) == {
        "development": (10, 10, 0, 57),
        "held-out": (8, 8, 0, 33),
        "past-values": (5, 5, 0, 24),
        "past-marker-held-out": (5, 5, 0, 27),
    }
    verdict = gate(report)
    assert verdict.bar_met is True
    assert all(one.bar_met and one.regression for one in verdict.sets)
    for one in verdict.sets:
        # Dated updates contradict nothing, which is why the rule before it kept most of them.
        assert one.rule("before-1.187").positives_retired < one.rule("production").positives / 2
    assert {run.ending.outcome for run in report.runs} == {Outcome.PASSED}
    assert [run.spec.kind for run in report.runs] == [name for name in SETS for _ in range(3)]
    # A system is told two claims and their days, and nothing else.
    asked = {call.step for call in report.runs[0].calls}
    assert asked == {step.name for step in report.runs[0].steps}
    assert "met" in done.stdout
    again = bench.run("rescore", "x.json", "--format", "json")
    assert again.returncode == 0, again.stderr
    assert Report.model_validate_json(again.stdout).verdict == verdict
    assert bench.left() == []


def test_a_table_that_errs_misses_the_bar_and_the_rows_are_named(bench: Bench, system: str) -> None:
    done = bench.run("update-gate", "--arm", "scripted", "--system", system, "-o", "x.json", "-q",
                     "--set", "development", "--fault", "misses-a-rent")  # fmt: skip
    assert done.returncode == 1, done.stderr
    [one] = gate(bench.report("x.json")).sets
    assert one.bar_met is False
    [missed] = one.rule("production").missed
    assert f"updates missed: {missed}" in done.stdout
    [pair] = [pair for pair in bench.report("x.json").case.sets[0].pairs if pair.id == missed]  # type: ignore[union-attr]
    assert "rent" in pair.older.text
    assert pair.older.text[:30] in done.stdout.replace("\n", " ")


def test_recorded_and_replayed_it_is_the_same(bench: Bench, system: str, upstream: StandIn) -> None:
    how = ("update-gate", "--system", system, *SMALL, "--cassette", "c.gz", "--max-usd", "1")
    done = bench.run(*how, "--arm", "record", *upstream.options, "--yes", "-o", "recorded.json")
    assert done.returncode == 0, done.stderr
    recorded = bench.report("recorded.json")
    asked = len(upstream.seen())
    assert asked == sum(len(run.calls) for run in recorded.runs) > 0
    assert recorded.spend.simulated is False
    bench.env["ANTHROPIC_API_KEY"] = ""
    done = bench.run(*how, "--arm", "replay", "-o", "replayed.json")
    assert done.returncode == 0, done.stderr
    replayed = bench.report("replayed.json")
    assert len(upstream.seen()) == asked, "somebody was asked"
    assert gate(replayed) == gate(recorded)
    for ours, theirs in zip(replayed.runs, recorded.runs, strict=True):
        assert [call.prompt_sha256 for call in ours.calls] == [
            call.prompt_sha256 for call in theirs.calls
        ]
        assert ours.cost_usd == theirs.cost_usd
    assert gate(replayed).bar_met is None  # two samples have none


@pytest.mark.parametrize(
    ("how", "code", "kind"),
    [
        (OVERLOADED, 5, "provider"),
        ({"text": "I would rather not.", "stop_reason": "refusal"}, 5, "unparseable_reply"),
        ({"text": "REASON: the one is", "stop_reason": "max_tokens"}, 5, "unparseable_reply"),
        ({"model": "claude-haiku-4-5"}, 4, "wrong_model"),
    ],
    ids=["529 on every probe", "refusals", "cut short", "another model"],
)
def test_what_the_provider_fails_is_no_verdict(
    how: dict[str, Any], code: int, kind: str, bench: Bench, system: str, upstream: StandIn
) -> None:
    upstream.usual(**how)
    done = bench.run("update-gate", "--system", system, "--arm", "live", *upstream.options,
                     *SMALL, "--max-usd", "1", "--yes", "-o", "x.json")  # fmt: skip
    assert done.returncode == code, done.stderr
    report = bench.report("x.json")
    assert [run.ending.kind for run in report.runs] == [kind] * 2
    for run in report.runs:
        assert run.checks == ()
        assert run.ending.outcome in (Outcome.ERRORED, Outcome.INVALID)
    [one] = gate(report).sets
    assert (one.bar_met, one.regression, one.counted) == (None, None, 0)
    assert bench.run("rescore", "x.json").returncode == code


def test_a_reply_without_usage_is_charged_at_its_worst(
    bench: Bench, system: str, upstream: StandIn
) -> None:
    upstream.usual(usage=False)
    done = bench.run("update-gate", "--system", system, "--arm", "live", *upstream.options,
                     *SMALL, "--max-usd", "4", "--yes", "-o", "x.json")  # fmt: skip
    report = bench.report("x.json")
    for run in report.runs:
        blind = [call for call in run.calls if "no_usage" in call.flags]
        assert blind
        assert all(call.cost_usd == call.reserved_usd > 0 for call in blind)
        assert run.ending.outcome is Outcome.INVALID
    assert done.returncode == 4, done.stderr
    assert bench.run("rescore", "x.json").returncode == done.returncode


def test_a_stopped_one_can_be_finished(bench: Bench, system: str) -> None:
    how = ("update-gate", "--arm", "scripted", "--system", system, "--set", "past-values",
           "--jobs", "1", "-o", "x.json")  # fmt: skip
    process = bench.start(*how)
    try:
        output = bench.folder / "x.json"
        until(lambda: output.exists() and bench.report("x.json").runs, 120)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 143
    finally:
        end(process)
    half = bench.report("x.json")
    assert gate(half).bar_met is None
    kept = [run for run in half.runs if run.ending.kind == "checks"]
    assert kept
    done = bench.run(*how, "--resume", "-q")
    assert done.returncode == 0, done.stderr
    whole = bench.report("x.json")
    assert [run for run in whole.runs if run.spec.id in {one.spec.id for one in kept}] == kept
    assert gate(whole).bar_met is True
    assert bench.left() == []


def test_what_cannot_meet_the_bar_or_be_asked_is_refused(bench: Bench) -> None:
    for arguments, says in (
        (("--samples", "1"), "cannot meet the bar"),
        (("--set", "nonsense"), "Sets: development"),
        (("--set", "held-out", "--set", "held-out"), "twice"),
        (("--fault", "never-replaces"), "cannot occur"),
    ):
        done = bench.run("update-gate", "--arm", "scripted", *arguments)
        assert done.returncode == 2, done.stderr
        assert says in done.stderr.replace("\n", " ")
