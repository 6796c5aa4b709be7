"""linkedparticles' own reports: read with care, and held to their own rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner.errors import AlteredReport, UsageError
from runner.model import Outcome
from runner.reports.upstream import (
    Difference,
    GateUpstream,
    TripResult,
    TripUpstream,
    exit_code,
    is_upstream,
    load,
    parse,
    rescore_upstream,
)
from runner.reports.upstream.known import ANOTHER_NOTE, BLANKS, NO_DAY, PART_OF_A_WORD
from runner.reports.upstream.read import MAX_BYTES
from tests.reports._upstream import (
    GONE,
    HOME,
    MOVED,
    WALK,
    WEEK,
    alone,
    changed,
    examined,
    gate,
    move,
    row,
    superseded,
    trip,
    usage,
    written,
)

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "particles-reports"
NAMES = (
    "scripted-mid-trip",
    "scripted-mid-trip-noslot",
    "scripted-reader",
    "scripted-reader-noslot",
)


def again(folder: Path, document: object, version: int | None = None) -> TripResult:
    result = rescore_upstream(written(folder, document), version)
    assert isinstance(result, TripResult)
    return result


def told(differences: tuple[Difference, ...]) -> list[tuple[str, str, str, str]]:
    return [(one.where, one.what, one.saved, one.computed) for one in differences]


# ---------------------------------------------------------------- real ones


@pytest.fixture
def samples() -> Path:
    if not SAMPLES.is_dir():
        pytest.skip(f"the sample reports are not at {SAMPLES}")
    return SAMPLES


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_and_every_named_claim_of_a_real_report_is_found_again(
    samples: Path, name: str
) -> None:
    document = json.loads((samples / f"{name}.json").read_text())
    assert is_upstream(document)
    result = rescore_upstream(samples / f"{name}.json")
    assert isinstance(result, TripResult)
    assert result.differences == ()
    assert [run.saved for run in result.runs] == [run["passed"] for run in document["runs"]]
    assert result.verdict.bar_met is document["verdict"]["bar_met"]
    assert result.verdict.tally("move").passed == document["verdict"]["move_passed"]
    assert exit_code(result) == (1 if "noslot" in name else 0)
    for run, saved in zip(result.runs, document["runs"], strict=True):
        assert run.verified is not None
        assert run.record.final is not None
        assert len(run.record.final.claims) == len(saved["rows"])
        assert len(run.record.final.events) == len(saved["events"])


@pytest.mark.parametrize("name", NAMES[:2])
def test_version_1_agrees_with_version_2_on_the_real_mid_trip_reports(
    samples: Path, name: str
) -> None:
    result = rescore_upstream(samples / f"{name}.json", 1)
    assert isinstance(result, TripResult)
    assert (result.saved_version, result.checks_version) == (2, 1)
    assert result.differences == ()
    for run in result.runs:
        assert (run.record.ending.outcome is Outcome.PASSED) is run.saved
    assert result.verdict.bar_met is None
    assert result.verdict.bar_note == "Checks version 1 has no bar."
    assert any("Verified under checks version 2" in note for note in result.notes)


# ---------------------------------------------------------------- what is one


def test_which_documents_are_theirs() -> None:
    assert is_upstream(trip())
    assert is_upstream(gate())
    assert not is_upstream({**trip(), "bench_version": "0.1.0"})
    assert not is_upstream(changed(trip(), "sdk_version", ...))
    assert not is_upstream({**trip(), "suite": "rot"})
    assert not is_upstream([trip()])
    assert not is_upstream(None)


def test_fields_of_newer_versions_are_passed_over() -> None:
    document = trip()
    document["new"] = document["runs"][0]["new"] = document["runs"][0]["rows"][0]["new"] = {"a": 1}
    document["runs"][0]["usage"]["rows"][0]["max_tokens_stops"] = 1
    read = parse(json.dumps(document).encode(), "it")
    assert isinstance(read, TripUpstream)
    asked = gate()
    asked["sets"]["gate"]["rows"][0]["samples"][0]["reason"] = "so it is"
    asked["sets"]["gate"]["bars"]["gates"]["newest"] = asked["sets"]["gate"]["bars"]["gates"][
        "production"
    ]
    assert isinstance(parse(json.dumps(asked).encode(), "it"), GateUpstream)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("report_version", 3, "of version 3; versions known: 1, 2"),
        ("report_version", ..., "of version None"),
        ("suite", "rot", "no report of linkedparticles"),
        ("checks_version", "2", "checks_version: Input should be a valid integer"),
        ("case", "third", "case: Input should be 'reader' or 'mid-trip'"),
        ("run_at", "today", "run_at"),
        ("runs", [], "runs: Tuple should have at least 1 item"),
        ("runs.0.variant", "stay", "runs.0.variant"),
        ("runs.0.index", 0, "runs.0.index"),
        ("runs.0.passed", 1, "runs.0.passed"),
        ("runs.0.rows.0.content", 7, "runs.0.rows.0.content"),
        ("runs.0.rows.0.content", "x" * 20_001, "runs.0.rows.0.content"),
        ("runs.0.rows.0.restatement", "no", "runs.0.rows.0.restatement"),
        ("runs.0.rows.0.valid_until", "soon", "runs.0.rows.0.valid_until"),
        ("runs.0.rows.0.valid_until", ..., r"runs\[0\].rows\[0\] does not say whether"),
        ("runs.0.events.0.payload", [], "runs.0.events.0.payload"),
        ("runs.1.index", 1, "runs has move 1 more than once"),
        ("runs.0.rows.1.id", "h", r"runs\[0\].rows has h more than once"),
        ("runs.0.usage.rows.0.calls", -1, "runs.0.usage.rows.0.calls"),
        ("verdict.bar_met", "yes", "verdict.bar_met"),
        ("verdict", None, "verdict"),
        ("spend", ..., "spend"),
        ("arm", "dead", "arm"),
    ],
)
def test_a_broken_report_is_refused_by_its_field(
    tmp_path: Path, path: str, value: object, said: str
) -> None:
    with pytest.raises(AlteredReport, match=said):
        rescore_upstream(written(tmp_path, changed(trip(), path, value)))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"suite": NaN}', "no JSON"),
        (b"[]", "no report of linkedparticles"),
        (b'{"report_version": 1}', "no report of linkedparticles"),
        (
            b'{"suite": "trip-vs-move", "sdk_version": 1, "report_version": 1e999}',
            "of version|no JSON",
        ),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(raw)
    with pytest.raises(AlteredReport, match=said):
        load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        load(tmp_path / "none.json")
    with pytest.raises(UsageError, match="no file"):
        load(Path("/dev/zero"))
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(AlteredReport, match="more than"):
        load(big)


@pytest.mark.slow
def test_claims_may_not_outnumber_any_store() -> None:
    document = trip(move(1, rows=[row(f"r{n}", "x", "a.md") for n in range(10_001)]))
    with pytest.raises(AlteredReport, match=r"runs\.0\.rows"):
        parse(json.dumps(document).encode(), "it")


# ---------------------------------------------------------------- versions


def test_a_report_that_names_no_case_is_of_the_mid_trip_case(tmp_path: Path) -> None:
    rows = [
        {k: v for k, v in one.items() if not k.startswith("valid")}
        for one in (
            row("h", HOME, "session-04.md", **GONE),
            row("m", MOVED, "session-12-moved.md"),
        )
    ]
    checks = {
        "i_delhi_residence_or_flight": [],
        "i_restatement_shape": [],
        "ii_held_by_winner": [],
        "ii_restatements_not_active": [],
        "iii_trip_active": [],
        "pass": True,
    }
    one = move(1, rows=rows, events=[superseded("h", "m")], checks=checks)
    document = trip(one, case="mid-trip", report_version=1, checks_version=1)
    result = again(tmp_path, changed(document, "case", ...))
    assert (result.case, result.checks_version, result.differences) == ("mid-trip", 1, ())
    assert [one.version for one in result.runs[0].record.checks] == [1, 2]
    later = again(tmp_path, changed(document, "case", ...), 2)
    assert later.runs[0].record.ending.outcome is Outcome.PASSED


@pytest.mark.parametrize("version", [0, 1, 3, 4])
def test_versions_that_the_reader_case_does_not_have(tmp_path: Path, version: int) -> None:
    with pytest.raises(UsageError, match=f"version {version} cannot") as caught:
        again(tmp_path, trip(), version)
    assert caught.value.hint == "Versions: 2."
    assert ("before the move" in caught.value.message) is (version == 3)


def test_a_version_that_is_not_known_here_is_shown_and_not_verified(tmp_path: Path) -> None:
    document = trip(*(move(n, passed=False) for n in (1, 2, 3)), alone(1), alone(2))
    result = again(tmp_path, {**document, "checks_version": 7})
    assert all(run.verified is None for run in result.runs)
    assert result.differences == ()
    assert result.verdict.bar_met is True
    assert "none of its verdicts was verified" in result.notes[0]


# ---------------------------------------------------------------- altered ones


def test_a_sound_report_comes_out_again(tmp_path: Path) -> None:
    result = again(tmp_path, trip())
    assert (result.differences, exit_code(result)) == ((), 0)
    assert (result.model, result.verdict.models) == ("claude-sonnet-5-5", ("claude-sonnet-5-5",))
    run = result.runs[0].record
    assert run.usage[0].usage.input == 6553
    assert str(run.cost_usd) == "0.0421"
    assert run.spec.options == {"same_slot_admits": True}


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("runs.0.passed", False, ("move 1", "passed", "no", "yes")),
        ("runs.0.passed", None, ("move 1", "passed", "nothing", "yes")),
        ("runs.0.checks", {}, ("move 1", "check iv", "nothing", MOVED)),
        ("runs.0.checks.pass", False, ("move 1", "checks.pass", "False", "True")),
        (
            "runs.0.checks.missing",
            ["iv_move_kept"],
            ("move 1", "found nothing for", "iv", "nothing"),
        ),
        ("runs.0.checks.iii_trip_current", [WEEK], ("move 1", "check iii", WEEK, "nothing")),
        ("runs.0.checks.ii_held_by_winner", ["x"], ("move 1", "check ii", "kept back", "nothing")),
        ("runs.0.checks.iv_move_kept", [], ("move 1", "check iv", "nothing", MOVED)),
        ("runs.0.rows.1.status", "ACTIVE", ("move 1", "check iii", "nothing", WEEK)),
        ("runs.0.rows.0.status", "ACTIVE", ("move 1", "passed", "yes", "no")),
        ("runs.0.rows.2.sources", [], ("move 1", "passed", "yes", "no")),
        ("runs.3.rows.0.content", "The user left.", ("trip-alone 1", "passed", "yes", "no")),
        ("runs.0.incomplete", "budget", ("move 1", "passed", "yes", "nothing")),
        ("runs.0.invalid", "model leak", ("move 1", "passed", "yes", "nothing")),
        ("verdict.move_passed", 2, ("verdict", "move_passed", "2", "3")),
        ("verdict.trip_alone_runs", 3, ("verdict", "trip_alone_runs", "3", "2")),
        ("verdict.bar_met", False, ("verdict", "bar_met", "no", "yes")),
        ("verdict.bar_met", None, ("verdict", "bar_met", "nothing", "yes")),
        ("mixed", True, ("report", "mixed", "yes", "no")),
        ("spend.cost_usd", 0.3, ("spend", "cost_usd", "0.3", "0.2105")),
        (
            "runs.0.usage.rows.0.model",
            "claude-haiku-4-5",
            ("move 1", "invalid", "no", "extraction ran on anthropic:claude-haiku-4-5"),
        ),
    ],
)
def test_whatever_was_changed_is_named_and_the_exit_code_says_so(
    tmp_path: Path, path: str, value: object, found: tuple[str, str, str, str]
) -> None:
    result = again(tmp_path, changed(trip(), path, value))
    assert found in told(result.differences)
    assert all(one.altered for one in result.differences if one.where == found[0])
    assert exit_code(result) == 7


def test_a_run_that_was_taken_out_leaves_counts_that_do_not_fit(tmp_path: Path) -> None:
    result = again(tmp_path, changed(trip(), "runs.2", ...))
    assert {one.what for one in result.differences} == {
        "move_passed",
        "move_runs",
        "bar_met",
        "cost_usd",
    }
    assert exit_code(result) == 7


# ---------------------------------------------------------------- what a run came to


def test_runs_without_a_verdict(tmp_path: Path) -> None:
    document = trip(
        move(1),
        move(2, passed=None, incomplete="budget"),
        move(3, passed=None, invalid="model leak: extraction ran on another", usage=usage("a:b")),
        alone(1),
        alone(2, passed=None, rows=[], events=[], checks={}, usage=None, incomplete="exited 1"),
    )
    result = again(tmp_path, document)
    assert result.differences == ()
    assert [(run.record.ending.outcome.value, run.record.ending.kind) for run in result.runs] == [
        ("passed", "checks"),
        ("incomplete", "ceiling"),
        ("invalid", "wrong_model"),
        ("passed", "checks"),
        ("incomplete", "driver"),
    ]
    assert result.verdict.bar_met is None
    assert exit_code(result) == 4
    assert exit_code(again(tmp_path, changed(document, "runs.2", ...))) == 7
    unfinished = trip(move(1), move(2), move(3, passed=None, incomplete="budget"))
    assert exit_code(again(tmp_path, unfinished)) == 3


def test_a_failed_run_decides_the_bar_here_though_another_has_no_verdict(tmp_path: Path) -> None:
    checks = {**move(2)["checks"], "iii_trip_current": [WEEK], "pass": False}
    rows = [row("h", HOME, "reader-01.md", **GONE), row("w", WEEK, "reader-01.md")]
    rows.append(row("m", MOVED, "reader-02-moved.md"))
    document = trip(
        move(1),
        move(2, passed=False, checks=checks, rows=rows),
        move(3, passed=None, incomplete="budget"),
        alone(1),
        alone(2),
    )
    result = again(tmp_path, document)
    assert told(result.differences) == [("verdict", "bar here", "nothing", "no")]
    assert not result.altered
    assert exit_code(result) == 3


def test_a_mixture_of_models_has_no_bar_here(tmp_path: Path) -> None:
    pinned = {**trip()["purposes"], "extraction": "anthropic:claude-haiku-4-5"}
    made = usage("anthropic:claude-haiku-4-5")
    runs = [*(move(n, usage=made) for n in (1, 2, 3)), *(alone(n, usage=made) for n in (1, 2))]
    result = again(tmp_path, trip(*runs, purposes=pinned, mixed=True))
    assert told(result.differences) == [("verdict", "bar here", "yes", "nothing")]
    assert result.verdict.mixture == {"extraction": "claude-haiku-4-5"}
    assert exit_code(result) == 0


def test_a_run_whose_table_lacked_an_answer_is_invalid_here(tmp_path: Path) -> None:
    document = changed(trip(arm="scripted"), "runs.0.refused_calls", {"extraction": 2})
    result = again(tmp_path, document)
    assert ("move 1", "outcome", "yes", "invalid: 2 calls were refused") in told(result.differences)
    assert not result.altered
    assert exit_code(result) == 4


def test_other_files_than_the_published_ones_are_told_of(tmp_path: Path) -> None:
    assert not any("fed" in note for note in again(tmp_path, trip()).notes)
    other = again(tmp_path, changed(trip(), "fixture.0.sha256", "0" * 64))
    assert "It was fed other files than the published runs: reader-01.md." in other.notes
    fewer = again(tmp_path, changed(trip(), "fixture.0", ...))
    assert "It does not say what it was fed as reader-01.md." in fewer.notes


# ---------------------------------------------------------------- stores


def test_events_become_ours(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        superseded("h", "w"),
        superseded("h", "m"),
        examined("x", "h", "unrestated", why="the restatement contradicts it", other_id="m"),
        examined("x", "h", "unrestated", why="the restatement contradicts it", other_id="w"),
        examined("x", "h", "unrestated", why="no faithful restatement", other_id="m"),
        examined("x", "h", "matched_existing", other_id="y"),
        examined("x", "h", "dependency_rejected"),
        examined("x", "nobody", "unrestated", why="the restatement contradicts it", other_id="m"),
        examined("x", "h", "asleep"),
        {"event_type": "UPDATE_SUPERSESSION", "payload": {"retired_id": "h"}},
        {"event_type": "CONSOLIDATION_RUN", "payload": {}},
    ]
    checks = {**move(1)["checks"], "ii_held_by_winner": [None], "pass": False}
    held = move(1, passed=False, checks=checks, events=events[:9])
    result = again(tmp_path, trip(held))
    assert result.differences == ()
    store = result.runs[0].record.final
    assert store is not None
    assert [event.kind for event in store.events] == [
        *("superseded", "superseded"),
        *["restatement_examined"] * 5,
        *("other", "other"),
    ]
    assert {claim.id: claim.retired_by for claim in store.claims} == {
        "h": "m",
        "w": None,
        "m": None,
    }
    # The last event gives the home no winner, in theirs and in ours.
    assert again(tmp_path, trip(move(1, events=events))).differences == ()


def test_addresses_of_notes_and_times_of_ends(tmp_path: Path) -> None:
    rows = move(1)["rows"]
    rows[1] |= {
        "status": "ACTIVE",
        "reason": None,
        "sources": ["file:///notes/reader-01.md"],
        "valid_until": "2026-10-01T23:30:00-05:00",
    }
    result = again(tmp_path, trip(move(1, rows=rows)))
    assert result.differences == ()
    store = result.runs[0].record.final
    assert store is not None
    assert store.claims[1].sources == ("reader-01.md",)
    assert str(store.claims[1].valid_until) == "2026-10-01"
    rows[1]["valid_until"] = "2026-10-02T00:00:00"
    assert again(tmp_path, trip(move(1, rows=rows))).altered


# ---------------------------------------------------------------- known differences


@pytest.mark.parametrize(
    ("claim", "check", "named", "way"),
    [
        (row("x", "Delhiites live well.", "z.md"), "i", True, PART_OF_A_WORD),
        (
            row("x", "The flight was back to Delhi, as of 2026-13-40.", "z.md", restatement=True),
            "i",
            False,
            NO_DAY,
        ),
        (row("x", "Off to Mumbai for  a week.", "reader-01.md"), "iii", False, BLANKS),
        (row("x", "On a trip.", "an-older-reader-01.md"), "iii", True, ANOTHER_NOTE),
    ],
)
def test_what_the_two_are_known_to_read_differently_is_no_alteration(
    tmp_path: Path, claim: dict[str, Any], check: str, named: bool, way: str
) -> None:
    checks = move(1)["checks"]
    key = {"i": "i_delhi_residence_or_flight", "iii": "iii_trip_current"}[check]
    if named:
        checks |= {key: [claim["content"]], "pass": False}
    one = move(1, rows=[*move(1)["rows"], claim], checks=checks, passed=not named)
    result = again(tmp_path, trip(one))
    assert {one.why for one in result.differences} == {way}
    assert f"check {check}" in {one.what for one in result.differences}
    assert exit_code(result) == (0 if named else 1)


def test_a_known_difference_excuses_no_other_claim(tmp_path: Path) -> None:
    rows = [*move(1)["rows"], row("x", "Delhiites live well.", "z.md"), row("y", HOME, "z.md")]
    checks = move(1)["checks"]
    checks |= {"i_delhi_residence_or_flight": ["Delhiites live well."], "pass": False}
    result = again(tmp_path, trip(move(1, rows=rows, checks=checks, passed=False)))
    (found,) = [one for one in result.differences if one.what == "check i"]
    assert found.altered
    assert exit_code(result) == 7


def test_a_restatement_of_a_flat_has_to_be_dated(tmp_path: Path) -> None:
    rows = [*move(1)["rows"], row("x", WALK, "reader-01.md", restatement=True)]
    assert again(tmp_path, trip(move(1, rows=rows))).differences == ()
    rows[-1]["content"] = WALK.replace("was", "is")
    assert again(tmp_path, trip(move(1, rows=rows))).altered
