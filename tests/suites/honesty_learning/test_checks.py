import pytest

from runner.errors import UsageError
from runner.model import Outcome, StepRecord
from runner.suites.honesty_learning import check, ending, observe
from runner.suites.memory_honesty import UnreadableAnswer
from tests.suites.honesty_learning._kit import (
    BACKUPS,
    LEAVE,
    ROWS,
    learned,
    lesson,
    said,
    taken,
)


def test_a_run_that_was_asked_everything_is_graded() -> None:
    for kind, ids in (("before", ["indexed", "asked"]), ("after", ["indexed", "asked", "learned"])):
        result = check(lesson(), kind, taken(lesson(), kind))
        assert [one.id for one in result.checks] == ids
        assert (ending(result).outcome, ending(result).kind) == (Outcome.PASSED, "graded")


def test_a_bad_memory_is_graded_as_a_good_one() -> None:
    steps = taken(lesson(), "after", {"w002": [BACKUPS]}, {"w001": None})
    assert check(lesson(), "after", steps).passed


@pytest.mark.parametrize("name", ["index", "ask week1 w003", "ask week2 w003", "learn"])
def test_a_step_that_is_missing_or_there_twice(name: str) -> None:
    steps = taken(lesson(), "after")
    with pytest.raises(UnreadableAnswer):
        check(lesson(), "after", [step for step in steps if step.name != name])
    with pytest.raises(UnreadableAnswer):
        check(lesson(), "after", [*steps, *(step for step in steps if step.name == name)])


def test_a_failed_search_or_night_is_no_refusal() -> None:
    for name in ("ask week1 w001", "ask week2 w001", "learn", "index"):
        steps = [
            step.model_copy(update={"error": "degraded: no index"}) if step.name == name else step
            for step in taken(lesson(), "after")
        ]
        with pytest.raises(UnreadableAnswer, match="degraded"):
            check(lesson(), "after", steps)


def test_pages_that_were_taken_in_part() -> None:
    with pytest.raises(UnreadableAnswer, match="took 5 pages"):
        check(lesson(), "before", taken(lesson(), "before", index={"pages": 5}))


def test_a_night_stands_between_the_weeks() -> None:
    steps = taken(lesson(), "after")
    late = [*steps[:5], steps[6], steps[5], *steps[7:]]
    early = [*steps[:6], steps[7], steps[6], *steps[8:]]
    for moved in (late, early):
        with pytest.raises(UnreadableAnswer, match="wrong side of learning"):
            check(lesson(), "after", moved)


def test_a_run_before_learning_has_none_of_it() -> None:
    after = taken(lesson(), "after")
    for name in ("learn", "ask week1 w001"):
        more = [step for step in after if step.name == name]
        with pytest.raises(UnreadableAnswer):
            check(lesson(), "before", [*taken(lesson(), "before"), *more])


def test_a_step_of_no_week() -> None:
    odd = StepRecord(name="ask week3 w001", verb="ask", seconds=0.1)
    with pytest.raises(UnreadableAnswer, match="asks no question"):
        check(lesson(), "after", [*taken(lesson(), "after"), odd])


def test_there_are_two_kinds() -> None:
    for judge in (check, observe):
        with pytest.raises(UsageError, match="no kind"):
            judge(lesson(), "during", ())


def test_what_was_learned_is_told_of_by_pair() -> None:
    night = learned(
        said(ROWS[3]["week1"], BACKUPS), unproved=[said(ROWS[1]["week1"], LEAVE, why="a scrap")]
    )
    steps = taken(lesson(), "after", {"w004": [BACKUPS]}, night=night)
    outcomes, known, unproved = observe(lesson(), "after", steps)
    assert isinstance(outcomes.value, dict)
    assert outcomes.value["neighbour"] == ["w004"]
    assert known.value == [
        {"pair": "w004", "page": BACKUPS, "right": False, "quote": "so it is", "why": None}
    ]
    assert unproved.value == [
        {"pair": "w002", "page": LEAVE, "right": True, "quote": "so it is", "why": "a scrap"}
    ]
    assert [one.id for one in observe(lesson(), "before", taken(lesson(), "before"))] == [
        "outcomes"
    ]
