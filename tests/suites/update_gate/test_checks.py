import pytest

from runner.errors import UsageError
from runner.model import Outcome
from runner.suites.update_gate import VERSION, UnreadableSample, check, ending
from tests.suites.update_gate._tables import (
    KEEPS,
    RETIRES,
    WITH_CONTRADICTION,
    Said,
    answered,
    gate,
)

GATE = gate()


def failing(said: dict[str, Said], marked: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Which checks fail, and on which pairs."""
    result = check(GATE, "development", answered(GATE, said=said, marked=marked))
    assert result.version == VERSION
    assert [one.id for one in result.checks] == ["updates", "controls"]
    found = {
        one.id: [evidence.partition(":")[0] for evidence in one.evidence]
        for one in result.checks
        if not one.passed
    }
    assert result.passed is not bool(found)
    assert all(bool(one.evidence) is not one.passed for one in result.checks)
    return found


def test_a_perfect_model_passes() -> None:
    assert failing({}) == {}
    assert failing({}, marked=("c1", "c2")) == {}


@pytest.mark.parametrize(
    ("said", "marked", "broken"),
    [
        ({"u1": KEEPS}, (), {"updates": ["u1"]}),
        ({"u1": KEEPS, "u2": KEEPS}, (), {"updates": ["u1", "u2"]}),
        ({"u2": (False, True)}, (), {"updates": ["u2"]}),
        ({}, ("u1",), {"updates": ["u1"]}),
        ({"u1": WITH_CONTRADICTION}, ("u1",), {}),
        ({"c1": RETIRES}, (), {"controls": ["c1"]}),
        ({"c1": RETIRES}, ("c1",), {}),
        ({"c1": WITH_CONTRADICTION}, ("c1",), {"controls": ["c1"]}),
        ({"c1": (False, True)}, (), {}),
        ({"c2": RETIRES, "u1": KEEPS}, (), {"updates": ["u1"], "controls": ["c2"]}),
        ({"k1": KEEPS, "r1": RETIRES}, (), {}),
        ({"k1": RETIRES, "r1": KEEPS}, (), {}),
    ],
)
def test_what_a_sample_breaks(
    said: dict[str, Said], marked: tuple[str, ...], broken: dict[str, list[str]]
) -> None:
    assert failing(said, marked) == broken


def test_the_evidence_is_the_pair_in_its_own_words() -> None:
    result = check(GATE, "development", answered(GATE, said={"c1": RETIRES}))
    assert result.checks[1].evidence == ('c1: "c1 was thus." → "c1 is otherwise."',)


def test_an_ending_says_which_checks_failed() -> None:
    good = ending(check(GATE, "development", answered(GATE)))
    assert (good.outcome, good.kind, good.detail) == (Outcome.PASSED, "checks", "")
    bad = ending(check(GATE, "development", answered(GATE, said={"u1": KEEPS, "c1": RETIRES})))
    assert (bad.outcome, bad.kind) == (Outcome.FAILED, "checks")
    assert bad.detail == (
        "(updates) No older claim outlives its update; "
        "(controls) No control retires its older claim"
    )


def test_what_cannot_be_checked_has_no_verdict() -> None:
    with pytest.raises(UnreadableSample):
        check(GATE, "development", answered(GATE)[1:])
    with pytest.raises(UsageError, match="no pair set"):
        check(GATE, "past-values", answered(GATE))
