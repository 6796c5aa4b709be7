import random

import pytest

from runner.errors import UsageError
from runner.stats import mcnemar
from runner.suites.memory_honesty import Estimate, Grade, Mark, Paired, paired
from tests.suites.memory_honesty._big import big, graded
from tests.suites.memory_honesty._published import FALSE, NEAR, REFUSED, RIGHT, heldout3

DEFAULTS = ("KRouter", "claude-mem", "basic-memory")


def test_two_systems_are_compared_on_the_same_questions() -> None:
    found = paired(heldout3("KRouter"), heldout3("claude-mem"))
    difference = found.differences["wrong_rate"]
    assert difference.value == pytest.approx(37 / 139 - 128 / 200)
    assert difference.low is not None
    assert difference.high is not None
    # Published of the same counts: 30 to 45 points less.
    assert -0.47 < difference.low < difference.high < -0.29
    right = found.differences["answerable_right"]
    assert right.value == pytest.approx(30 / 120)
    refused = found.differences["neighbours_refused"]
    assert refused.value == pytest.approx(46 / 80)
    # Published in questions: 35 to 58, over both other systems.
    assert refused.low is not None
    assert refused.low * 80 > 34


def test_a_system_does_not_differ_from_itself() -> None:
    found = paired(heldout3("KRouter"), heldout3("KRouter"), resamples=300)
    assert set(found.differences.values()) == {Estimate(value=0.0, low=0.0, high=0.0)}
    assert {test.p_value for test in found.tests.values()} == {1.0}


def test_turned_round_a_difference_is_its_mirror_image() -> None:
    one, other = heldout3("KRouter"), heldout3("basic-memory with rules")
    there, back = paired(one, other), paired(other, one)
    for name, found in there.differences.items():
        mirror = back.differences[name]
        assert found.low is not None
        assert found.high is not None
        assert found.value is not None
        assert (mirror.value, mirror.low, mirror.high) == (-found.value, -found.high, -found.low)
    for name, test in there.tests.items():
        assert test.only_first == back.tests[name].only_second
        assert test.p_value == back.tests[name].p_value


def test_the_order_of_the_grades_says_nothing() -> None:
    one, other = list(heldout3("KRouter")), list(heldout3("claude-mem"))
    first = paired(one, other, resamples=300)
    random.Random(1).shuffle(one)
    random.Random(2).shuffle(other)
    assert paired(one, other, resamples=300) == first


def test_the_tests_count_what_one_alone_did_right() -> None:
    asked = big(2, 2, 4)
    first = graded(
        asked,
        {
            "correction": [(RIGHT, 2)],
            "current": [(RIGHT, 1), (FALSE, 1)],
            "refuse": [(REFUSED, 3), (NEAR, 1)],
        },
    )
    second = graded(
        asked,
        {
            "correction": [(RIGHT, 1), (Mark.STALE, 1)],
            "current": [(FALSE, 1), (RIGHT, 1)],
            "refuse": [(NEAR, 3), (REFUSED, 1)],
        },
    )
    tests = paired(first, second, resamples=10).tests
    told = {name: (one.only_first, one.only_second) for name, one in tests.items()}
    assert told == {
        "behaved": (5, 2),
        "not_wrong": (4, 1),
        "answerable_right": (2, 1),
        "neighbours_refused": (3, 1),
    }
    assert tests["behaved"].p_value == mcnemar(5, 2)


def test_where_either_rate_is_undefined_so_is_the_difference() -> None:
    asked = big(0, 10, 0)
    some = graded(asked, {"current": [(RIGHT, 1), (FALSE, 9)]})
    none = graded(asked, {"current": [(FALSE, 10)]})
    nothing = paired(some, none, resamples=100).differences["wrong_rate"]
    assert nothing == Estimate(value=None, low=None, high=None, undefined=100)
    all_of_them = graded(asked, {"current": [(RIGHT, 10)]})
    rare = paired(some, all_of_them).differences["wrong_rate"]
    assert (rare.value, rare.low, rare.high) == (0.0, 0.0, 0.0)
    assert rare.undefined > 3000


def test_languages_are_compared_by_themselves() -> None:
    found = paired(heldout3("KRouter"), heldout3("claude-mem"), resamples=200, stratified=False)
    assert list(found.by_language) == ["en", "zh"]
    assert set(found.by_language["zh"]) == set(found.differences)
    assert (found.stratified, found.resamples, found.seed) == (False, 200, 0)
    assert Paired.model_validate_json(found.model_dump_json()) == found


def changed(**fields: object) -> tuple[Grade, ...]:
    first, *rest = heldout3("KRouter")
    return (first.model_copy(update=fields), *rest)


@pytest.mark.parametrize(
    "other",
    [
        (),
        heldout3("claude-mem")[1:],
        (*heldout3("claude-mem"), heldout3("claude-mem")[0]),
        changed(question="q999"),
        changed(question="q002"),
        changed(kind="refuse"),
        changed(lang="en"),
    ],
)
def test_other_questions_cannot_be_compared(other: tuple[Grade, ...]) -> None:
    with pytest.raises(UsageError, match="same questions"):
        paired(heldout3("KRouter"), other)
    with pytest.raises(UsageError, match="same questions"):
        paired(other, heldout3("KRouter"))


def test_nothing_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="no grade"):
        paired((), ())
