"""claude-mem as a bench runs it: scripted three times, live, recorded, replayed, and let down."""

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.model import Outcome, RunRecord, Store
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import load_vault
from tests.containers._bench import Bench
from tests.containers._standin import StandIn, standing_in

pytestmark = [pytest.mark.containers, pytest.mark.all_images, pytest.mark.timeout(900)]

KEY = "sk-of-a-test-000000000000"
ONE_EACH = ("--move-runs", "1", "--trip-alone-runs", "1", "--quiet", "--jobs", "1")
ONE_TRIP = ("--move-runs", "0", "--trip-alone-runs", "1", "--quiet")
LONG_S = 800.0


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {"BENCH_STATE": str(tmp_path / "state"), "HTTPS_PROXY": "", "https_proxy": ""}
    return Bench(tmp_path, env=env, engine=engine)


def cited(run: RunRecord) -> dict[str, Any]:
    """What was answered to each question."""
    return {step.name: step.result for step in run.steps if step.verb == "ask"}


# ---------------------------------------------------------------- honesty


def test_a_vault_three_times_over(bench: Bench) -> None:
    done = bench.run("honesty", "--arm", "scripted", "--system", "claude-mem", "--set", "dev",
                     "--runs", "3", "--jobs", "1", "-q", "-o", "out",
                     timeout_s=LONG_S)  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = bench.report("out/honesty-claude-mem-dev.json")
    pages = len(load_vault("vault1").pages)
    assert len(report.runs) == 3
    for run in report.runs:
        assert (run.ending.outcome, run.ending.kind) == (Outcome.PASSED, "graded")
        assert run.warnings == ()
        assert run.steps[0].result == {
            "pages": pages,
            "observations": pages,
            "of_several_files": 0,
            "of_no_file": 0,
            "sessions": 1,
            "summaries": 1,
        }
        # Every call was made while it indexed, and is in the ledger with its price.
        assert {call.step for call in run.calls} == {"index"}
        usage = {one.purpose: one for one in run.usage}
        assert {name: (one.calls, one.answered) for name, one in usage.items()} == {
            "briefing": (1, 1),
            "observation": (pages, pages),
            "summary": (1, 1),
        }
        assert usage["observation"].usage.input > 15_000 * pages
        assert run.cost_usd == sum((one.cost_usd for one in run.usage), Decimal(0)) > 1
        assert run.encoder is not None
        assert run.encoder.startswith("all-MiniLM-L6-v2")
    first, *others = (cited(run) for run in report.runs)
    # Its pages came in one order, so the same was noted and the same found.
    assert others == [first, first]
    assert bench.left() == []


# ---------------------------------------------------------------- trip versus move


@pytest.mark.parametrize("case", ["reader", "mid-trip"])
def test_a_store_that_retires_nothing_passes_a_trip_and_fails_a_move(
    bench: Bench, case: str
) -> None:
    done = bench.run("--arm", "scripted", "--system", "claude-mem", "--case", case,
                     "-o", "r.json", *ONE_EACH, timeout_s=LONG_S)  # fmt: skip
    assert done.returncode == 1, done.stderr
    report = bench.report("r.json")
    by_kind = {run.spec.kind: run for run in report.runs}
    moved, stayed = by_kind["move"], by_kind["trip-alone"]
    assert (moved.ending.outcome, stayed.ending.outcome) == (Outcome.FAILED, Outcome.PASSED)
    newest = max(moved.checks, key=lambda result: result.version)
    assert {check.id for check in newest.checks if not check.passed} == {"i", "iii"}
    final = moved.final
    assert final is not None
    assert final.unmapped == ()
    assert all(claim.active for claim in final.claims)
    # Each statement bears its note's name and its day, which is what the store itself wrote down.
    days = {step.name.removeprefix("deposit "): step.day for step in moved.steps}
    for claim in final.claims:
        [note] = claim.sources
        assert claim.asserted_at is not None
        assert claim.asserted_at.date() == days[note]
    assert {call.step.split()[0] for call in moved.calls} == {"deposit"}
    deposits = sum(step.verb == "deposit" for step in moved.steps)
    made = Counter(call.purpose for call in moved.calls)
    assert made == dict.fromkeys(("briefing", "observation", "summary"), deposits)
    recalled = [step.result["statements"] for step in moved.steps if step.verb == "recall"]
    assert recalled
    assert all(recalled)


def steady(store: Store) -> list[dict[str, Any]]:
    rows = [claim.model_dump(mode="json") for claim in store.claims]
    return [{**row, "asserted_at": row["asserted_at"][:10]} for row in rows]


def kept(report: Report) -> bytes:
    """What was stored, found and paid, but for times of day."""
    rows = [
        {
            "ending": run.ending.model_dump(mode="json"),
            "checks": [check.model_dump(mode="json", exclude={"checks"}) for check in run.checks],
            "stores": [steady(one.store) for one in run.snapshots],
            "recalled": [step.result for step in run.steps if step.verb == "recall"],
            "usage": [usage.model_dump(mode="json") for usage in run.usage],
        }
        for run in report.runs
    ]
    return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)


def test_recorded_and_replayed(bench: Bench, engine: Engine) -> None:
    bench.env["ANTHROPIC_API_KEY"] = KEY
    with standing_in(engine, "reader", system="claude-mem") as provider:
        done = bench.run("--arm", "record", *provider.options, "--cassette", "c.gz", "--yes",
                         "--system", "claude-mem", "--max-usd", "9",
                         "-o", "recorded.json", *ONE_EACH, timeout_s=LONG_S)  # fmt: skip
        assert done.returncode == 1, done.stderr
        recorded = bench.report("recorded.json")
        asked = [each for each in provider.seen() if each["method"] == "POST"]
        assert len(asked) == sum(len(run.calls) for run in recorded.runs) == 9
        assert {each["target"] for each in asked} == {"/v1/messages?beta=true"}
        assert {each["headers"]["x-api-key"] for each in asked} == {KEY}
        assert all(run.cost_usd > 0 for run in recorded.runs)
        assert recorded.spend.simulated is False
        bench.env["ANTHROPIC_API_KEY"] = ""
        # On another day, which the observer is told of: what is recorded is found all the same.
        for clock, name in (("note", "replayed.json"), ("2027-01-15", "later.json")):
            done = bench.run("--arm", "replay", "--cassette", "c.gz", "--system", "claude-mem",
                             "--clock", clock, "--max-usd", "9", "-o", name, *ONE_EACH,
                             timeout_s=LONG_S)  # fmt: skip
            assert done.returncode == 1, done.stderr
        posts = [each for each in provider.seen() if each["method"] == "POST"]
        assert len(posts) == len(asked), "somebody was asked"
    assert kept(bench.report("replayed.json")) == kept(recorded)
    later = bench.report("later.json").runs[0].final
    assert later is not None
    days = {claim.asserted_at.date().isoformat() for claim in later.claims if claim.asserted_at}
    assert days == {"2027-01-15"}
    assert bench.left() == []


@pytest.fixture(scope="module")
def provider(engine: Engine) -> Any:
    with standing_in(engine, "reader", system="claude-mem") as running:
        yield running


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        # Nothing that Claude Code would try again for minutes.
        ({"status": 400, "kind": "invalid_request_error", "message": "no"}, "provider"),
        ({"text": "I would rather not.", "stop_reason": "refusal"}, "unparseable_reply"),
        ({"text": "There is nothing of note."}, "unparseable_reply"),
    ],
)
def test_what_claude_mem_would_drop_ends_a_run(
    bench: Bench, provider: StandIn, how: dict[str, Any], kind: str
) -> None:
    bench.env["ANTHROPIC_API_KEY"] = KEY
    provider.usual(**how)
    try:
        done = bench.run("--arm", "live", *provider.options, "--yes", "--system", "claude-mem",
                         "--max-usd", "9", "-o", "r.json", *ONE_TRIP)  # fmt: skip
    finally:
        provider.usual(status=200, text="", stop_reason="end_turn")
    assert done.returncode == 5, done.stderr
    [run] = bench.report("r.json").runs
    assert (run.ending.outcome, run.ending.kind) == (Outcome.ERRORED, kind)
    assert run.checks == ()
