import json

import pytest

from runner.errors import UsageError
from runner.suites.update_gate import step_name, steps
from tests.suites.update_gate._tables import gate, pair, pair_set

GATE = gate()
MANY = gate(
    pair_set("development", *(pair(f"p{number:02}") for number in range(20))),
    pair_set("past-values", *(pair(f"p{number:02}") for number in range(20))),
)


def test_a_sample_asks_every_pair_once_and_nothing_else() -> None:
    asked = steps(GATE, "development", 1)
    assert sorted(step.name for step in asked) == sorted(
        step_name(pair.id) for pair in GATE.sets[0].pairs
    )
    for step in asked:
        assert (step.verb, step.day, step.snapshot) == ("probe", None, False)
        id_ = step.name.removeprefix("probe ")
        assert step.payload == {
            "older": {"text": f"{id_} was thus.", "day": "2026-01-02"},
            "newer": {"text": f"{id_} is otherwise.", "day": "2026-03-02"},
        }


def test_a_claim_without_a_day_is_asked_without_one_and_in_its_own_letters() -> None:
    undated = pair("x", older={"text": "Zoë lives in Łódź\u00a0🏠."})
    (step,) = (
        step
        for step in steps(gate(pair_set("development", undated, pair("y"))), "development", 1)
        if step.name == "probe x"
    )
    assert step.payload["older"] == {"text": "Zoë lives in Łódź\u00a0🏠.", "day": None}
    assert json.loads(json.dumps(step.payload)) == step.payload


def test_the_system_is_told_no_name_class_or_label() -> None:
    row = pair("secret-id", "not-changes", "secret-class", why="secret-why")
    named = row.model_copy(update={"older": row.newer})
    asked = steps(gate(pair_set("development", named)), "development", 1)
    told = json.dumps([dict(step.payload) for step in asked])
    for word in ("secret-class", "secret-why", "not-changes", "development", "contradicts"):
        assert word not in told


def test_the_order_is_another_for_every_sample_and_set_and_the_same_every_time() -> None:
    orders = {
        (kind, index): tuple(step.name for step in steps(MANY, kind, index))
        for kind in MANY.kinds
        for index in (1, 2, 3)
    }
    assert len(set(orders.values())) == 6
    assert all(list(order) != sorted(order) for order in orders.values())
    assert orders["development", 2] == tuple(s.name for s in steps(MANY, "development", 2))


def test_the_order_never_changes_between_releases() -> None:
    asked = [step.name.removeprefix("probe ") for step in steps(GATE, "development", 1)]
    assert asked == ["r1", "k1", "u2", "c1", "c2", "u1"]


def test_the_order_hangs_on_no_other_pair_of_the_set() -> None:
    fewer = gate(pair_set("development", *MANY.sets[0].pairs[5:15]))
    kept = [step.name for step in steps(fewer, "development", 1)]
    whole = [step.name for step in steps(MANY, "development", 1) if step.name in kept]
    assert kept == whole


@pytest.mark.parametrize(
    ("kind", "index", "said"),
    [
        ("held-out", 1, "no pair set"),
        ("", 1, "no pair set"),
        ("development", 0, "no sample 0"),
        ("development", 4, "asked 3 times"),
        ("development", -1, "no sample"),
    ],
)
def test_what_is_not_asked_is_said(kind: str, index: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        steps(GATE, kind, index)
