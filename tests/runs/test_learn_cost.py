from decimal import Decimal
from typing import Any

import pytest

from runner.errors import UsageError
from runner.prices import load_prices
from runner.runs.clock import Clock
from runner.runs.learn_cost import learning_estimate
from runner.runs.protocol import Protocol
from runner.suites.honesty_learning import load_lesson
from runner.systems.catalog import load

PRICES = load_prices()


def protocol(**fields: Any) -> Protocol:
    usual: dict[str, Any] = {
        "case": load_lesson("vault1"),
        "system": load("router"),
        "arm": "live",
        "model": "claude-sonnet-5-5",
        "runs": {"before": 1, "after": 1},
        "clock": Clock("now"),
    }
    return Protocol(**{**usual, **fields})


def test_a_night_is_expected_to_ask_each_question_once() -> None:
    found = learning_estimate(protocol(), PRICES)
    before, after = found.kinds
    assert (before.calls, before.expected_usd) == (0, Decimal(0))
    assert after.calls == load_lesson("vault1").size
    assert after.low_usd < after.expected_usd < (after.bound_usd or 0)
    assert found.bound_usd == after.bound_usd
    assert "every question of the first week" in found.bound_note
    # Four pages of some 750 characters each: a fraction of a cent a question.
    assert Decimal("0.01") < after.expected_usd < Decimal("0.5")


def test_a_bound_is_dearer_on_a_dearer_model_and_goes_by_the_pin() -> None:
    cheap, dear = sorted(
        ("claude-haiku-4-5", "claude-opus-4-8"), key=lambda name: PRICES.resolve(name).input
    )
    usual = learning_estimate(protocol(model=cheap), PRICES)
    pinned = learning_estimate(protocol(model=cheap, pins={"learning": dear}), PRICES)
    assert pinned.expected_usd == learning_estimate(protocol(model=dear), PRICES).expected_usd
    assert usual.expected_usd < pinned.expected_usd
    assert pinned.pins == {"learning": dear}


def test_runs_that_are_not_planned_cost_nothing() -> None:
    found = learning_estimate(protocol(runs={"before": 1, "after": 0}), PRICES)
    assert [kind.kind for kind in found.kinds] == ["before"]
    assert found.expected_usd == 0


def test_each_way_to_learn_has_a_title() -> None:
    for proof, told in ((True, "vault1, with proof"), (False, "vault1, without proof")):
        assert learning_estimate(protocol(options={"proof": proof}), PRICES).case == told


def test_a_system_of_which_nothing_is_known() -> None:
    with pytest.raises(UsageError, match="not known how engine"):
        learning_estimate(protocol(system=load("engine")), PRICES)
