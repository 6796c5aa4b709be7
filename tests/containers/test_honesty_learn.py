"""A week, a night and another week in real containers, with a scripted model behind the gateway."""

from pathlib import Path

import pytest

from runner.model import Outcome
from runner.reports.schema import Report
from runner.runs.learn_tables import confirming
from runner.runs.sandbox import Engine
from runner.suites.honesty_learning import Lesson, LessonVerdict, load_lesson
from tests.containers._bench import Bench
from tests.containers._standin import standing_in

pytestmark = [pytest.mark.containers, pytest.mark.all_images]


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(tmp_path, env={"BENCH_STATE": str(tmp_path / "state")}, engine=engine)


def figures(report: Report) -> LessonVerdict:
    assert isinstance(report.verdict, LessonVerdict)
    return report.verdict


def test_a_proof_keeps_out_what_is_made_up(bench: Bench) -> None:
    done = bench.run("honesty", "learn", "-q", "-o", "out")
    assert done.returncode == 0, done.stderr
    for told in ("before", "after, with proof", "after, without proof", "minus before"):
        assert told in done.stdout
    for vault in ("vault1", "vault2"):
        proved, unproved = (
            bench.report(f"out/honesty-learn-router-{vault}-{way}.json")
            for way in ("proof", "no-proof")
        )
        for report in (proved, unproved):
            before, after = report.runs
            assert isinstance(report.case, Lesson)
            assert before.calls == ()
            assert {call.step for call in after.calls} == {"learn"}
            assert {call.purpose for call in after.calls} == {"learning"}
            verdict = figures(report)
            assert verdict.after is not None
            assert verdict.after.learned is not None
            assert len(after.calls) == verdict.after.learned.asked
            assert verdict.paired is not None
        with_proof, without = (figures(one).after for one in (proved, unproved))
        assert with_proof is not None
        assert without is not None
        assert with_proof.learned is not None
        assert without.learned is not None
        assert (with_proof.learned.wrong, without.learned.unproved) == (0, 0)
        assert without.learned.wrong > 0
        assert with_proof.learned.learned > 0
        first, other = figures(proved).before, figures(unproved).before
        assert first is not None
        assert other is not None
        assert first.week2 == other.week2  # no night, so no difference
    assert bench.left() == []
    done = bench.run("rescore", "out/honesty-learn-router-vault1-proof.json")
    assert done.returncode == 0, done.stderr
    assert "after, with proof" in done.stdout


def test_one_way_with_fewer_pages(bench: Bench) -> None:
    done = bench.run(
        *("honesty-learn", "--vault", "vault1", "--no-proof", "--top-k", "1"),
        *("--format", "json", "-q", "-o", "out"),
    )
    assert done.returncode == 0, done.stderr
    report = bench.report("out/honesty-learn-router-vault1-no-proof.json")
    assert report.options["proof"] is False
    assert isinstance(report.case, Lesson)
    assert report.case.top_k == 1
    asked = [step for run in report.runs for step in run.steps if step.verb == "ask"]
    assert max(len(list(step.result["pages"])) for step in asked) == 1  # type: ignore[arg-type]


def test_a_model_beyond_the_gateway(bench: Bench, engine: Engine, tmp_path: Path) -> None:
    bench.env.update(ANTHROPIC_API_KEY="sk-of-a-test", HTTPS_PROXY="", https_proxy="")
    table = tmp_path / "table.toml"
    table.write_text(confirming("router", load_lesson("vault1")), encoding="utf-8")
    usual = ("honesty", "learn", "--arm", "live", "--vault", "vault1", "--proof", "--yes", "-q")
    with standing_in(engine, system="router", table=table) as provider:
        done = bench.run(*usual, "--max-usd", "1", *provider.options, "-o", "out")
        assert done.returncode == 0, done.stderr
        report = bench.report("out/honesty-learn-router-vault1-proof.json")
        assert not report.spend.simulated
        assert report.spend.estimate_usd is not None
        assert report.spend.estimate_bound_usd is not None
        assert 0 < report.spend.cost_usd <= report.spend.estimate_bound_usd
        verdict = figures(report)
        assert verdict.after is not None
        assert verdict.after.learned is not None
        assert (verdict.after.learned.learned > 0, verdict.after.learned.wrong) == (True, 0)
        assert len(provider.seen()) == verdict.after.learned.asked

        # A night that fails is no night in which nothing was learned.
        provider.usual(status=400)
        done = bench.run(*usual, *provider.options, "-o", "other")
        assert done.returncode == 5, done.stderr
    before, after = bench.report("other/honesty-learn-router-vault1-proof.json").runs
    assert before.ending.outcome is Outcome.PASSED
    assert (after.ending.outcome, after.ending.kind) == (Outcome.ERRORED, "provider")
