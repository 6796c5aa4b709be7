from itertools import product
from typing import Any

import pytest

from runner.errors import UsageError
from runner.model import StepRecord
from runner.suites.update_gate import RULES, Sample, UnreadableSample, retires, samples
from tests.suites.update_gate._tables import (
    KEEPS,
    RETIRES,
    WITH_CONTRADICTION,
    answered,
    gate,
    result,
)

GATE = gate()


def sample(contradiction: bool, changes: bool, marked: bool) -> Sample:
    return Sample(contradiction=contradiction, changes=changes, marked=marked)


@pytest.mark.parametrize(
    ("contradiction", "changes", "marked", "production", "changes_only", "before"),
    [
        (False, False, False, False, False, False),
        (False, False, True, False, False, False),
        (True, False, False, False, False, False),
        (True, False, True, False, False, False),
        (False, True, False, True, True, False),
        (False, True, True, False, True, False),
        (True, True, False, True, True, True),
        (True, True, True, True, True, True),
    ],
)
def test_every_sample_under_every_rule(
    contradiction: bool,
    changes: bool,
    marked: bool,
    production: bool,
    changes_only: bool,
    before: bool,
) -> None:
    found = {rule: retires(rule, sample(contradiction, changes, marked)) for rule in RULES}
    assert found == {
        "production": production,
        "changes-only": changes_only,
        "before-1.187": before,
    }


def test_each_rule_retires_no_less_than_the_next_stricter_one() -> None:
    for contradiction, changes, marked in product((False, True), repeat=3):
        one = sample(contradiction, changes, marked)
        assert retires("before-1.187", one) <= retires("production", one)
        assert retires("production", one) <= retires("changes-only", one)


@pytest.mark.parametrize("rule", ["", "Production", "changes_only", "before"])
def test_there_are_no_other_rules(rule: str) -> None:
    with pytest.raises(UsageError, match="no rule"):
        retires(rule, sample(True, True, True))


def test_samples_come_in_the_order_of_the_set_whatever_was_asked_first() -> None:
    steps = answered(GATE, said={"u2": KEEPS, "c1": WITH_CONTRADICTION}, marked=["c2", "u1"])
    found = samples(GATE, "development", reversed(steps))
    assert list(found) == ["u1", "u2", "c1", "c2", "k1", "r1"]
    assert found["u1"] == sample(False, True, True)
    assert found["u2"] == sample(False, False, False)
    assert found["c1"] == sample(True, True, False)
    assert found["c2"] == sample(False, False, True)


def test_what_a_system_says_beyond_is_its_own_affair() -> None:
    more = [
        step.model_copy(update={"result": {**step.result, "mood": "fine", "verdict": None}})
        for step in answered(GATE)
    ]
    bare = [
        step.model_copy(update={"result": {k: v for k, v in step.result.items() if k != "detail"}})
        for step in answered(GATE)
    ]
    plain = samples(GATE, "development", answered(GATE))
    assert samples(GATE, "development", more) == samples(GATE, "development", bare) == plain


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"contradiction": None}, "contradiction"),
        ({"contradiction": "YES"}, "contradiction"),
        ({"contradiction": 1}, "contradiction"),
        ({"contradiction": "true"}, "contradiction"),
        ({"update": "not-changes"}, "update"),
        ({"update": "CHANGES"}, "update"),
        ({"update": True}, "update"),
        ({"update": None}, "update"),
        ({"past_value_marker": None}, "past_value_marker"),
        ({"past_value_marker": 0}, "past_value_marker"),
        ({"past_value_marker": []}, "past_value_marker"),
    ],
)
def test_a_field_of_another_type_is_no_verdict(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableSample, match=rf"u2 \(development\).*{said}"):
        samples(GATE, "development", _with("u2", {**result(RETIRES), **change}))


@pytest.mark.parametrize("field", ["contradiction", "update", "past_value_marker"])
def test_a_missing_field_is_no_verdict(field: str) -> None:
    lacking = {key: value for key, value in result(RETIRES).items() if key != field}
    renamed = {**lacking, f"{field}s": result(RETIRES)[field]}
    for broken in (lacking, renamed, {}):
        with pytest.raises(UnreadableSample, match="u2"):
            samples(GATE, "development", _with("u2", broken))


def test_a_pair_without_an_answer_or_with_two_has_no_sample() -> None:
    steps = answered(GATE)
    with pytest.raises(UnreadableSample, match=r"no sample of u1.*c1") as missing:
        samples(GATE, "development", [s for s in steps if s.name not in ("probe u1", "probe c1")])
    assert missing.value.exit_code == 7
    with pytest.raises(UnreadableSample, match="no sample of u1, u2"):
        samples(GATE, "development", ())
    with pytest.raises(UnreadableSample, match="of development was asked twice"):
        samples(GATE, "development", (*steps, steps[0]))
    failed = [
        step.model_copy(update={"error": "provider"}) if step.name == "probe u1" else step
        for step in steps
    ]
    with pytest.raises(UnreadableSample, match="u1 of development got no answer: provider"):
        samples(GATE, "development", failed)


@pytest.mark.parametrize(
    ("name", "verb"), [("probe nobody", "probe"), ("u1", "probe"), ("probe u1", "ask")]
)
def test_a_step_of_no_pair_does_not_pass_unseen(name: str, verb: str) -> None:
    stray = StepRecord(name=name, verb=verb, seconds=0, result=result(RETIRES))
    with pytest.raises(UnreadableSample, match="asks no pair"):
        samples(GATE, "development", (*answered(GATE), stray))
    with pytest.raises(UsageError, match="no pair set"):
        samples(GATE, "held-out", answered(GATE))


def _with(id_: str, replaced: dict[str, Any]) -> list[StepRecord]:
    return [
        step.model_copy(update={"result": replaced}) if step.name == f"probe {id_}" else step
        for step in answered(GATE)
    ]
