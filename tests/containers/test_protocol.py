"""The whole protocol in real containers: what the published table must say, and what is stored."""

import re
import subprocess
from datetime import date

import pytest

from runner.model import Claim, Store
from runner.paths import root
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.trip_vs_move import load_case
from runner.suites.trip_vs_move.text import dated_restatement
from tests._trip import verdict_of
from tests.containers._bench import Bench

pytestmark = pytest.mark.containers

RULES = {"production": (), "before": ("--no-same-slot-admits",)}


@pytest.fixture(scope="module")
def bench(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("protocol")
    return Bench(folder, env={"COLUMNS": "80"}, engine=engine)


@pytest.fixture(scope="module")
def commands(bench: Bench) -> dict[tuple[str, str], subprocess.CompletedProcess[str]]:
    """The published protocol of both cases under both rules, as commands that were run."""
    found = {}
    for case in ("reader", "mid-trip"):
        for rule, options in RULES.items():
            name = f"{case}-{rule}.json"
            done = bench.run("--arm", "scripted", "--case", case, *options, "--output", name)
            assert "Traceback" not in done.stderr, done.stderr
            found[case, rule] = done
    assert bench.left() == []
    return found


@pytest.fixture(scope="module")
def reports(
    bench: Bench, commands: dict[tuple[str, str], subprocess.CompletedProcess[str]]
) -> dict[tuple[str, str], tuple[int, Report]]:
    """Exit code and report of each."""
    return {
        (case, rule): (done.returncode, bench.report(f"{case}-{rule}.json"))
        for (case, rule), done in commands.items()
    }


@pytest.mark.parametrize("case", ["reader", "mid-trip"])
def test_the_production_rule_meets_the_bar(
    case: str, reports: dict[tuple[str, str], tuple[int, Report]], bench: Bench
) -> None:
    code, report = reports[case, "production"]
    assert code == 0
    for version in ("2", "3"):
        done = bench.run(
            "rescore", f"{case}-production.json", "--checks-version", version, "--format", "json"
        )
        assert done.returncode == 0, done.stderr
        again = Report.model_validate_json(done.stdout)
        assert again.verdict is not None
        assert verdict_of(again).bar_met is True
        assert (
            verdict_of(again).tally("move").passed,
            verdict_of(again).tally("trip-alone").passed,
        ) == (
            3,
            2,
        )
    for run in report.runs:
        assert run.escapes, "no escape was tried"
        assert {escape.result for escape in run.escapes} <= {"blocked", "inapplicable"}
        assert any(escape.result == "blocked" for escape in run.escapes)
        assert run.limits
        assert [step.saw.date() if step.saw else None for step in run.steps] == [
            step.day for step in run.steps
        ]
    assert report.machine is not None
    assert len({image.config_digest for image in report.images}) == 3
    assert all(image.packages for image in report.images)


@pytest.mark.parametrize("case", ["reader", "mid-trip"])
def test_the_rule_before_it_keeps_every_trip_and_loses_every_move(
    case: str, reports: dict[tuple[str, str], tuple[int, Report]]
) -> None:
    code, report = reports[case, "before"]
    assert code == 1
    assert report.verdict is not None
    assert verdict_of(report).bar_met is False
    moves, trips = verdict_of(report).tally("move"), verdict_of(report).tally("trip-alone")
    assert (moves.passed, moves.counted) == (0, 3)
    assert (trips.passed, trips.counted) == (2, 2)


def final(report: Report, kind: str = "move") -> Store:
    """The store after the last step, the same in every run of a kind but for its ids."""
    stores = [run.final for run in report.runs if run.spec.kind == kind]
    assert len({tuple(sorted(c.text for c in store.claims)) for store in stores if store}) == 1
    assert stores[0] is not None
    return stores[0]


def saying(store: Store, *words: str) -> list[Claim]:
    return [claim for claim in store.claims if all(word in claim.text for word in words)]


def test_after_the_reader_s_move_the_move_alone_is_current(
    reports: dict[tuple[str, str], tuple[int, Report]],
) -> None:
    store = final(reports["reader", "production"][1])
    case = load_case("reader")
    [move] = [claim for claim in store.claims if claim.active]
    assert move.sources == (case.move_note,)
    assert case.away in move.text
    retired = [claim for claim in store.claims if not claim.active]
    assert len(retired) == 2
    assert {claim.retired_by for claim in retired} == {move.id}
    assert {claim.reason for claim in retired} == {"SUPERSEDED_BY_UPDATE"}
    assert saying(store, f"lives in {case.home}") != []
    assert saying(store, f"in {case.away} for a week") != []


def test_after_the_mid_trip_move_plans_are_history(
    reports: dict[tuple[str, str], tuple[int, Report]],
) -> None:
    store = final(reports["mid-trip", "production"][1])
    case = load_case("mid-trip")
    [move] = [
        claim
        for claim in store.claims
        if claim.active and case.move_note in claim.sources and "moved" in claim.text
    ]
    assert sorted(claim.text for claim in store.claims if claim.retired_by == move.id) == [
        "Delhi is the user's home city.",
        "The user is in Mumbai for a week for work, from 2026-10-08.",
        "The user is staying at a hotel in Bandra, Mumbai.",
        "The user lives in Lajpat Nagar, Delhi.",
    ]
    by_id = {claim.id: claim for claim in store.claims}
    history = {claim.id: claim for claim in store.claims if claim.restatement}
    told = {
        claim.text: by_id[claim.retired_by].text
        for claim in store.claims
        if claim.retired_by in history
    }
    flight = "The user will fly back home to Delhi on Thursday, 2026-10-15."
    [walk] = [text for text in told if "ten minutes on foot" in text]
    assert told.keys() == {flight, walk}
    assert "As of 2026-10-08" in told[flight]
    assert "as of 2026-09-04" in told[walk]
    for claim in history.values():
        assert claim.active
        assert dated_restatement(claim)
        assert claim.anchor is not None
        assert by_id[claim.anchor].retired_by == move.id


def trip_ends(report: Report) -> set[date | None]:
    case = load_case("reader")
    return {
        claim.valid_until
        for run in report.runs
        for claim in (run.final.claims if run.final else ())
        if case.trip_note in claim.sources and "for a week" in claim.text
    }


def test_the_end_of_the_week_is_stored_when_the_note_is_read_on_its_day(
    reports: dict[tuple[str, str], tuple[int, Report]], bench: Bench
) -> None:
    assert trip_ends(reports["reader", "production"][1]) == {date(2026, 9, 8)}
    for clock, name in (("now", "now.json"), ("published", "published.json")):
        done = bench.run(
            *("--arm", "scripted", "--clock", clock, "--output", name),
            *("--move-runs", "1", "--trip-alone-runs", "0"),
        )
        assert done.returncode == 0, done.stderr
        assert trip_ends(bench.report(name)) == {None}
    [now] = bench.report("now.json").runs
    assert all(step.day is None for step in now.steps)
    [published] = bench.report("published.json").runs
    assert {step.saw.date() for step in published.steps if step.saw} == {date(2026, 10, 14)}


def test_other_people_places_and_days_come_to_the_same(bench: Bench) -> None:
    """Every variant of one case; ``tests/fixtures`` has every variant of every case without
    containers, which know nothing of people and places.
    """
    variants = load_case("reader").variants
    assert len(variants) >= 6
    done = bench.run(
        *("--arm", "scripted", "--all-variants", "--output", "all.json"),
        *("--move-runs", "1", "--trip-alone-runs", "0", "--jobs", "2", "--quiet"),
        timeout_s=300,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    for variant in ("published", *variants):
        report = bench.report(f"all-{variant}.json")
        assert [run.ending.outcome for run in report.runs] == ["passed"], variant
        assert report.case.variant == (None if variant == "published" else variant)
    assert bench.left() == []


def test_one_variant_alone(bench: Bench) -> None:
    variant = load_case("mid-trip").variants[-1]
    done = bench.run(
        *("--arm", "scripted", "--case", "mid-trip", "--variant", variant),
        *("--move-runs", "1", "--trip-alone-runs", "1", "--output", "one.json"),
    )
    assert done.returncode == 0, done.stderr + done.stdout
    report = bench.report("one.json")
    assert report.case.variant == variant
    assert [run.ending.outcome for run in report.runs] == ["passed", "passed"]


SAMPLE = re.compile(
    r"<!-- sample: bench (.*?) -->\n```\n(.*?)\n```\n<!-- end of sample -->", re.DOTALL
)


def shape(text: str) -> list[str]:
    """Lines without what may differ from machine to machine: seconds, and white space."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("move", "trip-alone") and words[-1].replace(".", "").isdigit():
            words[-1] = "SECONDS"
        found.append(re.sub("─+", "-", " ".join(words)))
    return found


def test_the_sample_in_the_readme_is_what_the_command_prints(
    commands: dict[tuple[str, str], subprocess.CompletedProcess[str]],
) -> None:
    found = SAMPLE.search((root() / "README.md").read_text())
    assert found is not None
    arguments, shown = found.groups()
    # The reader's case is the default, and progress is not part of the output.
    assert arguments == "--arm scripted --quiet"
    assert shape(commands["reader", "production"].stdout.rstrip()) == shape(shown)


def test_json_on_standard_output_is_the_report_and_evidence_is_kept(bench: Bench) -> None:
    done = bench.run(
        *("--arm", "scripted", "--format", "json", "--keep", "kept", "--output", "out/json.json"),
        *("--move-runs", "1", "--trip-alone-runs", "0"),
    )
    assert done.returncode == 0, done.stderr
    printed = Report.model_validate_json(done.stdout)
    assert printed == bench.report("out/json.json")
    kept = bench.folder / "kept"
    [run] = printed.runs
    blobs = {path.stem for path in (kept / "snapshots").iterdir()}
    assert blobs == {snapshot.sha256 for snapshot in run.snapshots}
    folder = kept / "runs" / run.spec.id
    assert len((folder / "calls.jsonl").read_text().splitlines()) == len(run.calls) > 0
    assert {path.name for path in folder.iterdir()} == {"calls.jsonl", "record.json", "system.log"}


def test_two_runs_of_the_same_thing_hold_the_same(
    reports: dict[tuple[str, str], tuple[int, Report]],
) -> None:
    """But for ids and times of day, every run of a kind is the same run."""
    for _, report in reports.values():
        for kind in ("move", "trip-alone"):
            runs = [run for run in report.runs if run.spec.kind == kind]
            asked = {tuple(sorted(call.prompt_sha256 for call in run.calls)) for run in runs}
            assert len(asked) == 1
            assert len({run.cost_usd for run in runs}) == 1
