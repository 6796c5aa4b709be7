from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from runner.errors import UsageError
from runner.model import Outcome, RunRecord
from runner.suites.update_gate import (
    RULES,
    GateVerdict,
    SetScore,
    UnreadableSample,
    needed,
    score,
)
from tests.suites.update_gate._tables import (
    KEEPS,
    RETIRES,
    WITH_CONTRADICTION,
    Said,
    gate,
    pair,
    pair_set,
    protocol,
    run,
)

GATE = gate()
HELD = gate(pair_set("held-out"))
BOTH = gate(pair_set("development"), pair_set("held-out"))


def scored(*changed: Mapping[str, Said], **more: Any) -> SetScore:
    """The development set, three samples of it, some of them changed."""
    return score(GATE, protocol(GATE, *changed, **more)).sets[0]


def test_a_perfect_model_meets_the_bar() -> None:
    verdict = score(GATE, protocol(GATE))
    assert (verdict.bar_met, verdict.bar_note) == (True, "Met on development.")
    assert (verdict.models, verdict.mixture) == (("model-a",), {})
    found = verdict.set_score("development")
    assert found.bar_met is True
    assert found.bar_note == (
        "Every update was retired in 2 of 3 samples or more, and no control in any, on one model."
    )
    assert (found.planned, found.counted, found.uncounted, found.missing) == (3, 3, 0, 0)
    assert (found.coverage, found.outcomes, found.reasons) == (1.0, {Outcome.PASSED: 3}, {})
    assert (found.regression, found.added) == (True, ())
    production = found.rule("production")
    assert (production.positives_retired, production.positives, production.missed) == (2, 2, ())
    assert (production.control_retirements, production.control_samples) == (0, 6)
    assert production.control_rows == ()
    with pytest.raises(KeyError):
        found.rule("another")
    with pytest.raises(KeyError):
        verdict.set_score("held-out")


@pytest.mark.parametrize(
    ("samples", "least"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (6, 4), (7, 5), (0, 1)]
)
def test_two_thirds_of_the_samples(samples: int, least: int) -> None:
    assert needed(samples) == least


def test_the_published_rules_from_the_same_samples() -> None:
    """A dated update is no contradiction: the rule before 1.187 misses it, though it is right."""
    found = scored({"u1": WITH_CONTRADICTION}, {"u1": WITH_CONTRADICTION})
    tallies = {
        tally.rule: (tally.positives_retired, tally.missed, tally.met) for tally in found.rules
    }
    assert tallies == {
        "production": (2, (), True),
        "changes-only": (2, (), True),
        "before-1.187": (1, ("u2",), False),
    }
    assert [tally.rule for tally in found.rules] == list(RULES)
    assert found.bar_met is True


def test_an_update_may_be_kept_in_one_sample_of_three_and_a_control_retired_in_none() -> None:
    once = scored({"u1": KEEPS}, {"u2": KEEPS})
    assert once.bar_met is True
    assert once.outcomes == {Outcome.FAILED: 2, Outcome.PASSED: 1}
    assert once.reasons == {"checks": 2}
    twice = scored({"u1": KEEPS}, {"u1": KEEPS})
    assert (twice.bar_met, twice.rule("production").missed) == (False, ("u1",))
    assert twice.bar_note == "Updates were missed: u1."
    control = scored({}, {}, {"c1": RETIRES})
    assert (control.bar_met, control.rule("production").control_rows) == (False, ("c1",))
    assert control.rule("production").control_retirements == 1
    assert control.bar_note == "Controls were retired: c1."


def test_a_held_out_set_may_miss_one_update_and_no_more() -> None:
    def held(said: Mapping[str, Said]) -> SetScore:
        return score(HELD, protocol(HELD, said, said, said, kind="held-out")).sets[0]

    one = held({"u2": KEEPS})
    assert (one.bar_met, one.rule("production").missed) == (True, ("u2",))
    assert "but u2, and one may be missed" in one.bar_note
    assert held({"u1": KEEPS, "u2": KEEPS}).bar_met is False
    assert held({"c1": RETIRES}).bar_met is False
    not_held = scored(*[{"u2": KEEPS}] * 3)
    assert not_held.bar_met is False


def test_a_marked_past_value_needs_a_contradiction_under_the_production_rule_alone() -> None:
    found = scored(*[{"c1": RETIRES}] * 3, marked=["c1"])
    assert found.bar_met is True
    assert found.rule("changes-only").control_retirements == 3
    assert found.rule("changes-only").met is False
    both = scored({"c1": WITH_CONTRADICTION}, marked=["c1"])
    assert {tally.rule: tally.control_retirements for tally in both.rules} == dict.fromkeys(
        RULES, 1
    )


def test_regression_is_told_apart_from_the_bar() -> None:
    older_too = scored({"c1": WITH_CONTRADICTION})
    assert (older_too.bar_met, older_too.regression, older_too.added) == (False, True, ())
    added = scored({"c1": WITH_CONTRADICTION}, {"c1": RETIRES, "c2": RETIRES})
    assert (added.bar_met, added.regression, added.added) == (False, False, ("c1", "c2"))


def test_regression_compares_samples_and_not_rows() -> None:
    """A control that the older rule retires in another sample is still one it did not in this."""
    found = scored({"c1": WITH_CONTRADICTION}, {"c1": RETIRES})
    assert (found.regression, found.added) == (False, ("c1",))


def test_rows_that_are_never_barred_are_counted_apart() -> None:
    found = scored(
        {"k1": KEEPS, "r1": RETIRES},
        {"k1": WITH_CONTRADICTION, "r1": WITH_CONTRADICTION},
        {"r1": RETIRES},
        marked=["r1"],
    )
    assert found.bar_met is True
    assert list(found.reported) == ["k1", "r1"]
    case, row = found.reported["k1"], found.reported["r1"]
    assert (case.class_, case.expected, case.of) == ("case", "changes", 3)
    assert case.retirements == {"production": 2, "changes-only": 2, "before-1.187": 1}
    assert (row.class_, row.expected) == ("update", "report")
    assert row.retirements == {"production": 1, "changes-only": 3, "before-1.187": 1}


def test_pairs_of_rules_on_the_same_samples() -> None:
    found = scored({"c1": RETIRES}, {"c1": WITH_CONTRADICTION, "u1": WITH_CONTRADICTION})
    by_rules = {(one.rule, one.other): one for one in found.paired}
    assert list(by_rules) == [
        ("production", "changes-only"),
        ("production", "before-1.187"),
        ("changes-only", "before-1.187"),
    ]
    same = by_rules["production", "changes-only"]
    assert (same.only_rule_right, same.only_other_right, same.p_value) == (0, 0, 1.0)
    # Of six update samples the older rule retires one; of the controls it spares one more.
    apart = by_rules["production", "before-1.187"]
    assert (apart.only_rule_right, apart.only_other_right) == (5, 1)
    assert apart.p_value == 2 * (1 + 6) / 64


def test_pairs_of_rules_over_all_sets() -> None:
    records = [*protocol(BOTH), *protocol(BOTH, kind="held-out")]
    verdict = score(BOTH, records)
    assert [one.only_rule_right for one in verdict.paired] == [0, 12, 12]
    assert verdict.paired[1].p_value == 2 / 2**12
    assert [one.only_rule_right for one in verdict.sets[1].paired] == [0, 6, 6]


def test_a_run_that_failed_counts_as_one_that_passed_does() -> None:
    records = protocol(GATE, *[{"u1": KEEPS}] * 2, outcome="failed")
    found = score(GATE, records).sets[0]
    assert (found.counted, found.bar_met) == (3, False)
    assert found.outcomes == {Outcome.FAILED: 2, Outcome.PASSED: 1}


@pytest.mark.parametrize("outcome", ["incomplete", "invalid", "errored"])
def test_a_run_without_a_verdict_counts_in_no_tally_and_leaves_the_bar_open(outcome: str) -> None:
    lost = run(GATE, index=2, outcome=outcome, why="provider")
    found = score(GATE, [run(GATE), lost, run(GATE, index=3)]).sets[0]
    assert (found.counted, found.uncounted, found.missing) == (2, 1, 0)
    assert found.reasons == {"provider": 1}
    assert found.coverage == pytest.approx(2 / 3)
    assert (found.bar_met, found.bar_note) == (None, "Not told: 1 of 3 samples have no verdict.")
    assert found.regression is None
    assert found.rule("production").control_samples == 4
    assert {tally.met for tally in found.rules} == {None}


def test_a_whole_set_of_answers_in_a_run_without_a_verdict_counts_nowhere() -> None:
    """The answers are all there, yet the served model was another: the run is invalid."""
    wrong = run(GATE, index=1, said={"c1": RETIRES}).model_copy(
        update={"ending": run(GATE, outcome="invalid", why="wrong_model").ending}
    )
    found = score(GATE, [wrong, run(GATE, index=2), run(GATE, index=3)]).sets[0]
    assert (found.bar_met, found.rule("production").control_retirements) == (None, 0)


def test_a_retired_control_misses_the_bar_whatever_is_still_to_come() -> None:
    verdict = score(GATE, [run(GATE, said={"c1": WITH_CONTRADICTION})])
    assert (verdict.bar_met, verdict.sets[0].regression) == (False, None)
    assert verdict.sets[0].missing == 2
    added = score(GATE, [run(GATE, said={"c1": RETIRES})]).sets[0]
    assert (added.bar_met, added.regression) == (False, False)


def test_updates_that_may_still_be_retired_are_neither_retired_nor_missed() -> None:
    one = score(GATE, [run(GATE, said={"u1": KEEPS})]).sets[0].rule("production")
    assert (one.positives_retired, one.missed) == (0, ())
    two = score(GATE, protocol(GATE, {"u1": KEEPS}, {"u1": KEEPS})[:2]).sets[0]
    assert (two.rule("production").positives_retired, two.rule("production").missed) == (1, ("u1",))
    assert two.bar_met is None


def test_runs_that_are_still_to_come() -> None:
    none_yet = score(GATE, [])
    assert (none_yet.bar_met, none_yet.models) == (None, ())
    assert none_yet.sets[0].missing == 3
    assert (none_yet.sets[0].coverage, none_yet.sets[0].regression) == (0.0, None)
    assert none_yet.sets[0].rule("production").missed == ()
    assert none_yet.paired[0].p_value == 1.0
    half = score(BOTH, protocol(BOTH))
    assert (half.sets[0].bar_met, half.sets[1].bar_met, half.bar_met) == (True, None, None)
    assert half.bar_note == "held-out: Not told: 3 of 3 samples have no verdict."


def test_one_set_that_misses_is_enough_and_is_named() -> None:
    records = [*protocol(BOTH, {"c1": RETIRES}), run(BOTH, "held-out")]
    verdict = score(BOTH, records)
    assert (verdict.bar_met, verdict.bar_note) == (
        False,
        "Missed on development, of development, held-out.",
    )


@pytest.mark.parametrize("samples", [2, 4, 6])
def test_other_numbers_of_samples_have_no_bar(samples: int) -> None:
    asked = gate(samples=samples)
    for changed in ({}, {"c1": RETIRES}):
        found = score(asked, protocol(asked, changed)).sets[0]
        assert found.bar_met is None
        assert "for 3 samples" in found.bar_note
        assert found.regression is not bool(changed)
    assert score(GATE, protocol(GATE)[:2], {"development": 2}).bar_met is None
    unplanned = score(BOTH, protocol(BOTH), {"development": 3}).sets[1]
    assert (unplanned.bar_met, unplanned.regression, unplanned.planned) == (None, None, 0)


def test_a_mixture_is_named_and_has_no_bar() -> None:
    pinned = score(GATE, protocol(GATE, pins={"update": "model-b", "contradiction": "model-a"}))
    assert (pinned.bar_met, pinned.mixture) == (None, {"update": "model-b"})
    assert pinned.models == ("model-a", "model-b")
    assert pinned.sets[0].bar_note == "A mixture of models has no bar."
    two = score(GATE, [*protocol(GATE)[:2], run(GATE, index=3, model="model-b")])
    assert (two.bar_met, two.models) == (None, ("model-a", "model-b"))
    same = score(GATE, protocol(GATE, pins={"update": "model-a"}))
    assert same.bar_met is True


def test_a_verdict_is_read_off_the_answers_and_not_off_what_the_run_claims() -> None:
    claimed = run(GATE, said={"c1": RETIRES}, outcome="passed")
    found = score(GATE, [claimed]).sets[0]
    assert found.outcomes == {Outcome.FAILED: 1}
    lacking = claimed.model_copy(update={"steps": claimed.steps[1:]})
    with pytest.raises(UnreadableSample):
        score(GATE, [lacking])


@pytest.mark.parametrize(
    ("records", "planned", "said"),
    [
        ([], {}, "no run"),
        ([], {"development": 0}, "no run"),
        ([run(GATE)], {"past-values": 3, "development": 3}, "no pair set 'past-values'"),
        ([run(GATE, suite="trip-vs-move")], None, "trip-vs-move"),
        ([run(GATE, case="reader")], None, "reader"),
        ([run(GATE, fixtures="upstream")], None, "was asked the upstream pairs, not the own"),
        ([run(HELD, "held-out")], None, "no pair set 'held-out'"),
        ([run(GATE), run(GATE)], None, "twice"),
        ([run(GATE), run(GATE, id="another")], None, "twice"),
        ([run(GATE), run(GATE, id="another", model="model-b")], None, "twice"),
        ([run(GATE, index=2, id="x"), run(GATE, index=1, id="x")], None, "twice"),
        ([run(GATE, index=4)], None, "sample 4 of development, of which 3"),
        ([run(GATE, index=0)], None, "sample 0"),
        ([run(GATE, index=2)], {"development": 1}, "of which 1"),
        ([run(GATE)], {}, "of which 0"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    records: list[RunRecord], planned: Mapping[str, int] | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        score(GATE, records, planned)


def test_a_verdict_goes_into_a_file_and_comes_back_the_same() -> None:
    verdict = score(BOTH, protocol(BOTH, {"c1": RETIRES, "k1": KEEPS}))
    document = orjson.loads(orjson.dumps(verdict.model_dump(mode="json")))
    assert document["sets"][0]["reported"]["k1"]["class"] == "case"
    assert GateVerdict.model_validate(document) == verdict
    assert not {"score", "total", "mean"} & (set(document) | set(document["sets"][0]))


def test_the_names_of_published_rows_may_be_of_any_letters() -> None:
    asked = gate(pair_set("development", pair("Übung 1/ß"), pair("c%", "not-changes")))
    assert score(asked, protocol(asked)).bar_met is True
