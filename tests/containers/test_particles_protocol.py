"""linkedparticles under the published protocol, in real containers, on scripted answers."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from runner.images import upstream
from runner.model import Outcome
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.trip_vs_move import Case, load_case
from tests._trip import verdict_of
from tests.containers._bench import Bench
from tests.containers._standin import StandIn, standing_in

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

PARTICLES = ("--arm", "scripted", "--system", "particles", "--quiet")
ONE_MOVE = ("--move-runs", "1", "--trip-alone-runs", "0")
ONE_EACH = ("--move-runs", "1", "--trip-alone-runs", "1")
OVERLOADED = {"status": 529, "kind": "overloaded_error", "headers": [["retry-after", "0"]]}
CASES = ("reader", "mid-trip")


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {"ANTHROPIC_API_KEY": "sk-test", "BENCH_STATE": str(tmp_path / "state")}
    return Bench(tmp_path, env={**env, "HTTPS_PROXY": "", "https_proxy": ""}, engine=engine)


def passed(report: Report) -> list[tuple[int, int]]:
    verdict = verdict_of(report)
    tallies = (verdict.tally(kind) for kind in ("move", "trip-alone"))
    return [(tally.passed, tally.counted) for tally in tallies]


@pytest.mark.parametrize("case", CASES)
def test_the_published_protocol(case: str, bench: Bench) -> None:
    done = bench.run(*PARTICLES, "--case", case, "-o", "x.json")
    assert done.returncode == 0, done.stderr
    report = bench.report("x.json")
    assert passed(report) == [(3, 3), (2, 2)]
    assert verdict_of(report).bar_met is True
    assert "published beside" in done.stdout
    for run in report.runs:
        assert run.encoder is not None
        assert run.encoder.startswith("all-MiniLM-L6-v2")
        assert [step.saw.date() if step.saw else None for step in run.steps] == [
            step.day for step in run.steps
        ]
    for version in ("1", "2") if case == "mid-trip" else ("2",):
        assert bench.run("rescore", "x.json", "--checks-version", version).returncode == 0
    assert bench.left() == []


@pytest.mark.parametrize("case", CASES)
def test_the_rule_before_it(case: str, bench: Bench) -> None:
    done = bench.run(*PARTICLES, "--case", case, "--no-same-slot-admits", "-o", "x.json")
    assert done.returncode == 1, done.stderr
    report = bench.report("x.json")
    assert passed(report) == [(0, 3), (2, 2)]
    assert verdict_of(report).bar_met is False


def week_ends(report: Report) -> set[date | None]:
    assert isinstance(report.case, Case)
    [run] = report.runs
    assert run.final is not None
    return {
        claim.valid_until
        for claim in run.final.claims
        if report.case.trip_note in claim.sources and "for a week" in claim.text
    }


@pytest.mark.parametrize(
    ("clock", "end"),
    [("note", date(2026, 9, 8)), ("published", None), ("now", None)],
)
def test_the_week_s_end_is_kept_where_the_note_is_read_on_its_day(
    clock: str, end: date | None, bench: Bench
) -> None:
    done = bench.run(*PARTICLES, *ONE_MOVE, "--clock", clock, "-o", "x.json")
    assert done.returncode == 0, done.stderr
    report = bench.report("x.json")
    assert week_ends(report) == {end}
    [run] = report.runs
    saw = {step.saw.date() for step in run.steps if step.saw}
    if clock == "published":
        assert saw == {date(2026, 10, 14)} == {load_case("reader").published_day}
    else:
        assert (date(2026, 9, 1) in saw) is (clock == "note")


@pytest.mark.parametrize("case", CASES)
def test_on_the_published_bytes(case: str, bench: Bench) -> None:
    done = bench.run(
        *PARTICLES, *ONE_EACH, "--case", case, "--fixtures", "upstream", "-o", "x.json"
    )
    assert done.returncode == 0, done.stderr
    report = bench.report("x.json")
    assert report.case.fixtures == "upstream"
    assert passed(report) == [(1, 1), (1, 1)]
    listed = {fixture.name: fixture.sha256 for fixture in report.fixtures}
    notes = {name: sha for name, sha in upstream.digests().items() if name.endswith(".md")}
    found = {name.removeprefix("notes/"): sha for name, sha in listed.items() if "notes/" in name}
    assert found.items() <= notes.items()
    assert not any("worded anew" in why for why in report.comparable.why)


def test_the_first_version_with_both_cases(bench: Bench) -> None:
    for case in CASES:
        done = bench.run(*PARTICLES, *ONE_EACH, "--case", case, "--system-version", "1.192.2",
                         "-o", f"{case}.json")  # fmt: skip
        assert done.returncode == 0, done.stderr
        report = bench.report(f"{case}.json")
        assert report.system.version == "1.192.2"
        assert {run.system["version"] for run in report.runs} == {"1.192.2"}
    done = bench.run(*PARTICLES, *ONE_MOVE, "--system-version", "1.0.0")
    assert done.returncode == 2
    assert "1.192.2" in done.stderr


# ---------------------------------------------------------------- failures are not verdicts


@pytest.fixture(scope="module")
def provider(engine: Engine) -> Iterator[StandIn]:
    with standing_in(engine, system="particles") as running:
        yield running


@pytest.mark.parametrize(
    ("hows", "code", "kind"),
    [
        ([{}, *[OVERLOADED] * 60], 5, "provider"),
        ([{}, *[{"text": "I would rather not.", "stop_reason": "refusal"}] * 60], 5, None),
        ([{}, *[{"text": "REASON: the on", "stop_reason": "max_tokens"}] * 60], 5, None),
        ([{}, {"model": "claude-haiku-4-5"}], 4, "wrong_model"),
    ],
    ids=["529 on every probe", "refusals", "cut short", "another model"],
)
def test_what_the_provider_fails_is_no_verdict(
    hows: list[dict[str, Any]], code: int, kind: str | None, bench: Bench, provider: StandIn
) -> None:
    """The extraction of the first note is answered, and nothing asked after it."""
    provider.then(*hows)
    try:
        done = bench.run("--arm", "live", "--system", "particles", *provider.options, *ONE_MOVE,
                         "--yes", "-q", "-o", "x.json")  # fmt: skip
    finally:
        provider.forget()
    assert done.returncode == code, done.stderr + done.stdout
    [run] = bench.report("x.json").runs
    assert run.ending.outcome in (Outcome.ERRORED, Outcome.INVALID)
    assert kind is None or run.ending.kind == kind, run.ending
    assert run.checks == ()
