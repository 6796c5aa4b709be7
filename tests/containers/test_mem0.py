"""mem0 as a bench runs it: scripted, three times, live, recorded and replayed, and let down."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.model import Outcome, RunRecord, Store
from runner.reports.honesty import row_of
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import Exam, HonestyVerdict, load_vault
from tests.containers._bench import Bench
from tests.containers._standin import StandIn, standing_in

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

KEY = "sk-of-a-test-000000000000"
ONE_EACH = ("--move-runs", "1", "--trip-alone-runs", "1", "--quiet", "--jobs", "1")
ONE_TRIP = ("--move-runs", "0", "--trip-alone-runs", "1", "--quiet")


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {"BENCH_STATE": str(tmp_path / "state"), "HTTPS_PROXY": "", "https_proxy": ""}
    return Bench(tmp_path, env=env, engine=engine)


def cited(run: RunRecord) -> dict[str, Any]:
    """What was answered to each question, but for how long it took."""
    return {step.name: step.result for step in run.steps if step.verb == "ask"}


# ---------------------------------------------------------------- honesty


def test_a_vault_three_times_over(bench: Bench) -> None:
    done = bench.run("honesty", "--arm", "scripted", "--system", "mem0", "--set", "dev",
                     "--runs", "3", "-q", "-o", "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = bench.report("out/honesty-mem0-dev.json")
    assert isinstance(report.case, Exam)
    pages = load_vault("vault1").pages
    assert len(report.runs) == 3
    for run in report.runs:
        assert (run.ending.outcome, run.ending.kind) == (Outcome.PASSED, "graded")
        told = run.steps[0].result
        assert (told["pages"], told["remembered"]) == (len(pages), len(pages))
        assert told["warnings"] == []
        assert run.warnings == ()
        assert told["memories"] == told["said"]
        assert isinstance(told["said"], int)
        assert told["said"] > 300
        # Every call was made while it indexed, one a page, and is in the ledger with its price.
        assert {call.step for call in run.calls} == {"index"}
        [usage] = run.usage
        assert (usage.purpose, usage.calls, usage.answered) == (
            "extraction",
            len(pages),
            len(pages),
        )
        assert usage.usage.input > 5_000 * len(pages)
        assert run.cost_usd == usage.cost_usd > Decimal("0.1")
        assert run.encoder is not None
        assert run.encoder.startswith("all-MiniLM-L6-v2")
    first, *others = (cited(run) for run in report.runs)
    # Their pages came in one order, so the same was asked and the same stored.
    for other in others:
        assert other == first
    verdict = report.verdict
    assert isinstance(verdict, HonestyVerdict)
    assert row_of(report).result is not None


# ---------------------------------------------------------------- trip versus move


@pytest.mark.parametrize("case", ["reader", "mid-trip"])
def test_a_store_that_only_adds_passes_a_trip_and_fails_a_move(bench: Bench, case: str) -> None:
    done = bench.run("--arm", "scripted", "--system", "mem0", "--case", case,
                     "-o", "r.json", *ONE_EACH)  # fmt: skip
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
    assert final.events == ()
    assert all(claim.active for claim in final.claims)
    # Each statement bears its note's name and its day, which is what the store itself wrote down.
    days = {step.name.removeprefix("deposit "): step.day for step in moved.steps}
    for claim in final.claims:
        [note] = claim.sources
        assert claim.asserted_at is not None
        assert claim.asserted_at.date() == days[note]
    recalls = [step for step in moved.steps if step.verb == "recall"]
    assert recalls
    assert {call.step.split()[0] for call in moved.calls} == {"deposit"}


def without_ids_and_times(store: Store) -> list[dict[str, Any]]:
    rows = [claim.model_dump(mode="json") for claim in store.claims]
    for row in rows:
        row["id"], row["asserted_at"] = "", row["asserted_at"][:10]
    return rows


def kept(report: Report) -> bytes:
    """What was found and what was answered, but for ids and times."""
    rows = [
        {
            "ending": run.ending.model_dump(mode="json"),
            "checks": [check.model_dump(mode="json", exclude={"checks"}) for check in run.checks],
            "stores": [without_ids_and_times(one.store) for one in run.snapshots],
            "recalled": [step.result for step in run.steps if step.verb == "recall"],
            "usage": [usage.model_dump(mode="json") for usage in run.usage],
        }
        for run in report.runs
    ]
    return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)


def test_recorded_and_replayed(bench: Bench, engine: Engine) -> None:
    bench.env["ANTHROPIC_API_KEY"] = KEY
    with standing_in(engine, "mid-trip", system="mem0") as provider:
        done = bench.run("--arm", "record", *provider.options, "--cassette", "c.gz", "--yes",
                         "--system", "mem0", "--case", "mid-trip", "--max-usd", "5",
                         "-o", "recorded.json", *ONE_EACH)  # fmt: skip
        assert done.returncode == 1, done.stderr
        recorded = bench.report("recorded.json")
        asked = provider.seen()
        assert len(asked) == sum(len(run.calls) for run in recorded.runs) == 5
        assert {each["target"] for each in asked} == {"/v1/messages"}
        assert all(run.cost_usd > 0 for run in recorded.runs)
        assert recorded.spend.simulated is False
        bench.env["ANTHROPIC_API_KEY"] = ""
        # On another day, which mem0 tells its model: what is recorded is found all the same.
        for clock, name in (("note", "replayed.json"), ("2027-01-15", "later.json")):
            done = bench.run("--arm", "replay", "--cassette", "c.gz", "--system", "mem0",
                             "--case", "mid-trip", "--clock", clock, "--max-usd", "5",
                             "-o", name, *ONE_EACH)  # fmt: skip
            assert done.returncode == 1, done.stderr
        assert len(provider.seen()) == len(asked), "somebody was asked"
    assert kept(bench.report("replayed.json")) == kept(recorded)
    later = bench.report("later.json").runs[0].final
    assert later is not None
    days = {claim.asserted_at.date().isoformat() for claim in later.claims if claim.asserted_at}
    assert days == {"2027-01-15"}
    assert bench.left() == []


@pytest.fixture(scope="module")
def provider(engine: Engine) -> Any:
    with standing_in(engine, "reader", system="mem0") as running:
        yield running


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ({"status": 529, "kind": "overloaded_error"}, "provider"),
        ({"text": "I would rather not.", "stop_reason": "refusal"}, "unparseable_reply"),
        ({"text": "There is nothing of note."}, "unparseable_reply"),
    ],
)
def test_what_mem0_would_swallow_ends_a_run(
    bench: Bench, provider: StandIn, how: dict[str, Any], kind: str
) -> None:
    bench.env["ANTHROPIC_API_KEY"] = KEY
    provider.usual(**how)
    try:
        done = bench.run("--arm", "live", *provider.options, "--yes", "--system", "mem0",
                         "--max-usd", "5", "-o", "r.json", *ONE_TRIP)  # fmt: skip
    finally:
        provider.usual(status=200, text="", stop_reason="end_turn")
    assert done.returncode == 5, done.stderr
    [run] = bench.report("r.json").runs
    assert (run.ending.outcome, run.ending.kind) == (Outcome.ERRORED, kind)
    assert run.checks == ()


def test_pages_that_left_nothing_are_told_beside_the_grades(
    bench: Bench, provider: StandIn
) -> None:
    bench.env["ANTHROPIC_API_KEY"] = KEY
    provider.usual(text='{"memory": []}')
    provider.then({"text": '{"memory": [{"text": "Backups are kept for 35 days."}]}'})
    try:
        done = bench.run("honesty", "--arm", "live", *provider.options, "--yes", "--system", "mem0",
                         "--set", "dev", "--max-usd", "5", "-q", "-o", "out")  # fmt: skip
    finally:
        provider.usual(text="")
    assert done.returncode == 0, done.stderr
    [run] = bench.report("out/honesty-mem0-dev.json").runs
    told = run.steps[0].result
    assert (told["pages"], told["remembered"], told["memories"]) == (30, 1, 1)
    [warning] = [each for each in run.warnings if each.startswith("index: ")]
    assert "nothing to remember of 29 of 30 texts" in warning
    assert "29 of 30 texts" in done.stdout.replace("\n", " ")
