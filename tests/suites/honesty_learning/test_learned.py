from collections.abc import Mapping
from typing import Any

import pytest

from runner.model import StepRecord
from runner.suites.honesty_learning import night
from runner.suites.memory_honesty import UnreadableAnswer
from tests.suites.honesty_learning._kit import BACKUPS, LEAVE, ROWS, learned, lesson, said


def step(result: Mapping[str, Any], **more: Any) -> StepRecord:
    return StepRecord(name="learn", verb="learn", seconds=1.0, result=dict(result), **more)


def test_what_was_learned_is_laid_beside_what_is_right() -> None:
    done = night(
        lesson(),
        [
            step(
                learned(
                    said(" How frequently  are databases copied?", BACKUPS),
                    said(ROWS[3]["week1"], BACKUPS, ""),
                    unproved=[said(ROWS[1]["week1"], LEAVE, why="no sentence")],
                )
            )
        ],
    )
    assert [(one.pair, one.right, one.why) for one in done.learned] == [
        ("w001", True, None),
        ("w004", False, None),  # nothing answers it, whatever the page
    ]
    assert [(one.pair, one.right, one.why) for one in done.unproved] == [
        ("w002", True, "no sentence")
    ]
    assert (done.looked_at, done.asked, done.declined, done.proof) == (5, 5, 2, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"looked_at": 4, "asked": 4, "declined": 4}, "looked at 4 questions, of 5"),
        ({"looked_at": 6}, "looked at 6 questions, of 5"),
        ({"declined": 4}, "asked a model about 5 of 5 questions, and tells of 4"),
        ({"asked": 6, "declined": 6}, "asked a model about 6 of 5"),
        ({"declined": -1}, "declined"),
        ({"declined": True}, "declined"),
        ({"learned": None}, "learned"),
        ({"proof": "yes"}, "proof"),
        ({"learned": [{"question": "How?"}]}, "learned.0.page"),
        ({"declined": 4, "learned": [said("Why?", LEAVE)]}, "a question that it was not asked"),
        ({"declined": 4, "learned": [said(ROWS[1]["week1"], "No.md")]}, "'No.md', which is no"),
        ({"declined": 3, "learned": [said(ROWS[1]["week1"], LEAVE)] * 2}, "w002 twice"),
    ],
)
def test_nothing_is_guessed(change: Mapping[str, Any], says: str) -> None:
    with pytest.raises(UnreadableAnswer, match=says):
        night(lesson(), [step({**learned(), **change})])


def test_a_night_is_one_and_did_not_fail() -> None:
    for steps, says in (
        ([], "0 times"),
        ([step(learned())] * 2, "2 times"),
        ([step({}, error="provider: gone")], "could not learn: provider: gone"),
    ):
        with pytest.raises(UnreadableAnswer, match=says):
            night(lesson(), steps)
