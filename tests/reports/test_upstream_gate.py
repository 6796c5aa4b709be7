"""linkedparticles' own reports of the update gate: held to their samples, and scored here."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner.errors import AlteredReport, UsageError
from runner.model import Outcome
from runner.reports.upstream import GateResult, exit_code, parse, rescore_upstream
from runner.reports.upstream.gate import MARKER, NO_VERDICT, SAMPLES
from tests.reports._upstream import SOUND, bars, changed, gate, pair, tally, written

PAST = "The user worked at the port until 2019."
NOW = "The user works at the port."


def again(folder: Path, document: object) -> GateResult:
    result = rescore_upstream(written(folder, document))
    assert isinstance(result, GateResult)
    return result


def one_set(rows: list[dict[str, Any]], told: dict[str, Any], **more: Any) -> dict[str, Any]:
    return gate(**more, gate={"rows": rows, "bars": told})


def test_a_sound_report_comes_out_again(tmp_path: Path) -> None:
    result = again(tmp_path, gate())
    assert (result.differences, exit_code(result)) == ((), 0)
    assert result.verdict is not None
    score = result.verdict.set_score("development")
    assert (score.bar_met, score.regression, score.counted) == (True, True, 3)
    assert (score.rule("production").positives_retired, score.rule("production").met) == (2, True)
    assert [record.spec.id for record in result.records] == [
        "development-1",
        "development-2",
        "development-3",
    ]
    assert result.notes == ("It leaves out held-out, past-values, past-marker-held-out.",)


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("bars.gates.production.positives_retired", 1, "production: positives_retired"),
        ("bars.gates.production.positives", 3, "production: positives"),
        ("bars.gates.production.positive_misses", ["u1"], "production: positive_misses"),
        ("bars.gates.changes-only.control_retirements", 1, "changes-only: control_retirements"),
        ("bars.gates.before-1.187.control_samples", 6, "before-1.187: control_samples"),
        ("bars.gates.before-1.187.control_rows_retired", ["k1"], "before-1.187: control_rows"),
        ("bars.gates.production.ok", False, "production: ok"),
        ("bars.gates.production", ..., "production"),
        ("bars.bar", False, "bar"),
        ("bars.regression", False, "regression"),
        ("bars.controls_added_by_production", ["k1"], "controls_added_by_production"),
        ("bars.reported", {"u1": {"production": 1}}, "reported"),
        ("rows.2.samples.0.slot", "changes", "changes-only: control_retirements"),
        ("rows.0.samples.0.contradiction", False, "before-1.187: positives_retired"),
        ("rows.0.expected", "report", "production: positives"),
        ("rows.2.class", "case", "production: control_samples"),
    ],
)
def test_whatever_was_changed_is_named_and_the_exit_code_says_so(
    tmp_path: Path, path: str, value: object, what: str
) -> None:
    result = again(tmp_path, changed(gate(), f"sets.gate.{path}", value))
    assert any(one.what.startswith(what) and one.altered for one in result.differences)
    assert exit_code(result) == 7


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("report_version", 2, "of version 2; versions known: 1"),
        ("sets", {}, "sets: Dictionary should have at least 1 item"),
        ("sets.gates", {"rows": SOUND, "bars": bars(tally("2/2", "0/3"))}, r"sets\.gates"),
        ("sets.gate.rows", [], r"sets\.gate\.rows"),
        ("sets.gate.rows.0.samples", [], "u1 has 0 samples; the report says 3"),
        ("sets.gate.rows.0.samples.0.contradiction", 1, "contradiction"),
        ("sets.gate.rows.0.expected", "maybe", "expected"),
        ("sets.gate.rows.0.id", "u2", r"sets.gate.rows has u2 more than once"),
        ("sets.gate.bars.gates.production.positives", -1, "positives"),
        ("samples_per_pair", 0, "samples_per_pair"),
        ("samples_per_pair", 10**9, "samples_per_pair"),
    ],
)
def test_a_broken_report_is_refused_by_its_field(
    tmp_path: Path, path: str, value: object, said: str
) -> None:
    with pytest.raises(AlteredReport, match=said):
        again(tmp_path, changed(gate(), path, value))


def test_it_has_no_other_checks_version(tmp_path: Path) -> None:
    path = written(tmp_path, gate())
    assert exit_code(rescore_upstream(path, 1)) == 0
    with pytest.raises(UsageError, match="version 2 is not defined for the update gate"):
        rescore_upstream(path, 2)


# ---------------------------------------------------------------- bars


def test_a_control_that_was_retired_once_fails_the_bar(tmp_path: Path) -> None:
    rows = [*SOUND, pair("k2", "not_changes", "nCn")]
    told = bars(tally("2/2", "1/6", retired="k2"))
    result = again(tmp_path, one_set(rows, told))
    assert result.differences == ()
    assert result.verdict is not None
    assert result.verdict.set_score("development").bar_met is False
    assert exit_code(result) == 1


@pytest.mark.parametrize(("name", "ok"), [("gate", False), ("gate_heldout", True)])
def test_a_held_out_set_may_miss_one(tmp_path: Path, name: str, ok: bool) -> None:
    rows = [*SOUND, pair("u3", "changes", "Cnn")]
    one = {**tally("2/3", "0/3", missed="u3"), "ok": ok}
    sets: dict[str, dict[str, Any]] = {name: {"rows": rows, "bars": bars(one)}}
    result = again(tmp_path, gate(3, **sets))
    assert result.differences == ()
    assert result.verdict is not None
    assert result.verdict.sets[0].bar_met is ok
    assert exit_code(result) == (0 if ok else 1)


def test_rows_that_are_never_barred_are_held_to_their_counts(tmp_path: Path) -> None:
    rows = [
        *SOUND,
        pair("r1", "report", "ccn", older="In 2023 the rent was 640 euros."),
        pair("c1", "changes", "nnn", **{"class": "case"}),
    ]
    counts = {"production": 2, "changes-only": 2, "before-1.187": 0, "of": 3}
    none = {"production": 0, "changes-only": 0, "before-1.187": 0, "of": 3}
    told = bars(
        tally("2/2", "0/3"),
        reported={
            "r1": {"class": "dated-update", "expected": "report", **counts},
            "c1": {"class": "case", "expected": "changes", **none},
        },
    )
    document = one_set(rows, told)
    result = again(tmp_path, document)
    assert result.differences == ()
    assert result.sets[0].computed.reported["r1"]["production"] == 2
    wrong = changed(document, "sets.gate.bars.reported.r1.production", 1)
    assert any(
        one.what == "reported r1: production" and one.altered
        for one in again(tmp_path, wrong).differences
    )


# ---------------------------------------------------------------- the marker


def marked_bars(added: str = "") -> dict[str, Any]:
    """Two updates, and the control k2 that the update probe alone retires in three samples."""
    wrong = tally("2/2", "3/6", retired="k2")
    right = tally("2/2", "0/6")
    return bars(
        wrong if added else right,
        wrong,
        right,
        regression=not added,
        controls_added_by_production=added.split(),
    )


@pytest.mark.parametrize(
    ("older", "added", "read_otherwise"),
    [(PAST, "", False), (NOW, "k2", False), (PAST, "k2", True), (NOW, "", True)],
)
def test_the_saved_tallies_show_what_the_systems_own_rule_took_for_a_marker(
    tmp_path: Path, older: str, added: str, read_otherwise: bool
) -> None:
    rows = [*SOUND, pair("k2", "not_changes", "ccc", older=older)]
    result = again(tmp_path, one_set(rows, marked_bars(added)))
    assert not result.altered
    (one,) = result.sets
    assert one.marked == (() if added else ("k2",))
    assert one.read_otherwise == (("k2",) if read_otherwise else ())
    assert [found.why for found in result.differences] == [MARKER] * read_otherwise
    assert result.verdict is not None
    # By what the system's own rule saw, whatever the marker of this bench says of it.
    assert result.verdict.set_score("development").bar_met is not bool(added)
    assert exit_code(result) == (1 if added else 0)
    here = "not met" if older is NOW else "met"
    said = f"By the marker of this bench the bar of development would be {here}."
    assert (said in result.notes) is read_otherwise


def test_no_marker_makes_half_of_a_retirement(tmp_path: Path) -> None:
    """Two of three samples is what no marker comes to."""
    rows = [*SOUND, pair("k2", "not_changes", "ccc", older=PAST)]
    told = marked_bars("k2")
    told["gates"]["production"]["control_retirements"] = 2
    result = again(tmp_path, one_set(rows, told))
    assert [one.what for one in result.differences if one.altered] == [
        "production: control_retirements"
    ]
    assert exit_code(result) == 7


@pytest.mark.parametrize("missed", [False, True])
def test_an_update_may_be_missed_for_a_marker(tmp_path: Path, missed: bool) -> None:
    rows = [*SOUND, pair("u3", "changes", "ccC", older=PAST)]
    before = tally("2/3", "0/3", missed="u3")
    after = before if missed else tally("3/3", "0/3")
    result = again(tmp_path, one_set(rows, bars(after, tally("3/3", "0/3"), before)))
    assert not result.altered
    assert result.sets[0].marked == (("u3",) if missed else ())
    assert result.sets[0].read_otherwise == (() if missed else ("u3",))


# ---------------------------------------------------------------- on purpose otherwise


@pytest.mark.parametrize("letters", ["?CC", "!CC"])
def test_a_probe_without_a_verdict_is_no_answer_here(tmp_path: Path, letters: str) -> None:
    rows = [*SOUND, pair("u3", "changes", letters)]
    result = again(tmp_path, one_set(rows, bars(tally("3/3", "0/3"))))
    assert not result.altered
    (found,) = result.differences
    assert (found.what, found.saved, found.computed, found.why) == (
        "bar here",
        "met",
        "none",
        NO_VERDICT,
    )
    assert result.sets[0].unanswered == {"u3": 1}
    assert [record.ending.outcome for record in result.records] == [
        Outcome.ERRORED,
        Outcome.PASSED,
        Outcome.PASSED,
    ]
    assert result.records[0].ending.detail == "No verdict on u3."
    assert any("samples without a verdict of a probe: u3 (1)" in note for note in result.notes)
    assert exit_code(result) == 5


def test_a_retired_control_fails_the_bar_whatever_has_no_verdict(tmp_path: Path) -> None:
    rows = [*SOUND, pair("u3", "changes", "!CC"), pair("k2", "not_changes", "nnC")]
    result = again(tmp_path, one_set(rows, bars(tally("3/3", "1/6", retired="k2"))))
    assert result.differences == ()
    assert exit_code(result) == 1


@pytest.mark.parametrize("letters", ["CCCCC", "CCnnn"])
def test_other_numbers_of_samples_have_no_bar_here(tmp_path: Path, letters: str) -> None:
    rows = [pair("u1", "changes", letters), pair("k1", "not_changes", "nnnnn")]
    result = again(tmp_path, one_set(rows, bars(tally("1/1", "0/5")), samples=5))
    assert [one.why for one in result.differences] == [SAMPLES]
    assert result.verdict is not None
    # Four of five are what two of three are; two are enough for theirs.
    production = result.verdict.set_score("development").rule("production")
    assert production.positives_retired == (letters == "CCCCC")
    assert exit_code(result) == (0 if letters == "CCCCC" else 1)


def test_one_sample_is_too_few_for_any_bar(tmp_path: Path) -> None:
    rows = [pair("u1", "changes", "C"), pair("k1", "not_changes", "n")]
    result = again(tmp_path, one_set(rows, bars(tally("0/1", "0/1", missed="u1")), samples=1))
    assert (result.differences, result.verdict, result.records) == ((), None, ())
    assert "One sample of a pair cannot meet the bar" in result.notes[0]
    assert exit_code(result) == 1


def test_other_files_than_the_published_ones_are_told_of(tmp_path: Path) -> None:
    document = gate(past={"rows": SOUND, "bars": bars(tally("2/2", "0/3"))})
    assert not any("fed" in note for note in again(tmp_path, document).notes)
    other = again(tmp_path, changed(document, "fixture.0.sha256", "0" * 64))
    assert "It was fed other files than the published runs: past_value_pairs.json." in other.notes


@pytest.mark.slow
def test_hostile_numbers_of_pairs_are_refused() -> None:
    rows = [pair(f"u{n}", "changes", "CCC") for n in range(10_001)]
    with pytest.raises(AlteredReport, match=r"sets\.gate\.rows"):
        parse(json.dumps(one_set(rows, bars(tally("2/2", "0/3")))).encode(), "it")
