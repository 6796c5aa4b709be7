import pytest

from runner.suites.update_gate import UnreadableSample, observe
from tests.suites.update_gate._tables import (
    KEEPS,
    RETIRES,
    WITH_CONTRADICTION,
    answered,
    gate,
    pair,
    pair_set,
)

GATE = gate(
    pair_set(
        "development",
        pair("u1"),
        pair("c1", "not-changes", older={"text": "Zoë formerly lived in Köln."}),
        pair("k1", "changes", "case"),
        pair("r1", "report", older={"text": "Until 2019 Zoë lived in Köln."}),
    )
)


def test_reported_rows_are_shown_under_every_rule() -> None:
    steps = answered(GATE, said={"k1": WITH_CONTRADICTION, "r1": RETIRES}, marked=["r1", "c1"])
    reported, _ = observe(GATE, "development", steps)
    assert reported.id == "reported"
    assert reported.value == [
        {
            "id": "k1",
            "older": "k1 was thus.",
            "newer": "k1 is otherwise.",
            "class": "case",
            "expected": "changes",
            "retired": {"production": True, "changes-only": True, "before-1.187": True},
        },
        {
            "id": "r1",
            "older": "Until 2019 Zoë lived in Köln.",
            "newer": "r1 is otherwise.",
            "class": "update",
            "expected": "report",
            "retired": {"production": False, "changes-only": True, "before-1.187": False},
        },
    ]


def test_where_the_markers_differ_in_either_direction() -> None:
    _, marker = observe(GATE, "development", answered(GATE, marked=["u1", "r1"]))
    assert marker.value == [
        {
            "id": "u1",
            "older": "u1 was thus.",
            "newer": "u1 is otherwise.",
            "system": True,
            "ours": False,
        },
        {
            "id": "c1",
            "older": "Zoë formerly lived in Köln.",
            "newer": "c1 is otherwise.",
            "system": False,
            "ours": True,
        },
    ]
    _, agreed = observe(GATE, "development", answered(GATE, marked=["c1", "r1"]))
    assert agreed.value == []


def test_the_order_of_the_steps_says_nothing() -> None:
    steps = answered(GATE, said={"u1": KEEPS}, marked=["c1"])
    assert observe(GATE, "development", steps) == observe(GATE, "development", steps[::-1])


def test_half_a_sample_shows_nothing() -> None:
    with pytest.raises(UnreadableSample):
        observe(GATE, "development", answered(GATE)[:2])
