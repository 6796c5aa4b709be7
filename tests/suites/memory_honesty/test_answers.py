from typing import Any

import pytest
from pydantic import ValidationError

from runner.errors import UsageError
from runner.model import StepRecord
from runner.suites.memory_honesty import Answer, UnreadableAnswer, answers
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    ON_CALL,
    answer,
    answered,
    exam,
    result,
    run,
)

GOOD = {"pages": [{"name": LEAVE, "score": 1.5}], "refused": False, "receipt": {}}


def test_answers_are_read_in_the_order_of_the_questions() -> None:
    asked = exam("dev")
    given = answers(asked, answered(asked))
    assert [one.question for one in given] == [row.id for row in asked.questions]
    first = given[0]
    assert (first.cited, first.scores, first.refused) == ((BACKUPS,), (1.0,), False)
    assert first.receipt == {"why": "a test"}
    assert (given[4].cited, given[4].refused, given[4].first, given[4].score) == (
        (),
        True,
        None,
        None,
    )
    # The second step that asks took two milliseconds: see the kit.
    assert {one.question: one.ms for one in given}["q001"] == 2.0


def test_the_order_of_the_steps_says_nothing() -> None:
    asked = exam("dev")
    taken = answered(asked)
    assert answers(asked, reversed(taken)) == answers(asked, taken)


@pytest.mark.parametrize(
    ("cited", "refused", "stands"),
    [((LEAVE,), False, True), ((LEAVE,), True, False), ((), False, False), ((), True, False)],
)
def test_what_counts_as_an_answer(cited: tuple[str, ...], refused: bool, stands: bool) -> None:
    given = Answer(question="q", cited=cited, scores=(1.0,) * len(cited), refused=refused)
    assert given.answered is stands
    assert (given.first, given.score) == ((LEAVE, 1.0) if stands else (None, None))
    assert given.ranked == (cited if stands else ())


def test_a_page_cited_again_counts_where_it_was_cited_first() -> None:
    given = answer("q", [LEAVE, ON_CALL, LEAVE, BACKUPS])
    assert given.ranked == (LEAVE, ON_CALL, BACKUPS)


def test_an_answer_has_a_score_a_page() -> None:
    with pytest.raises(ValidationError, match="1 for 2 cited pages"):
        Answer(question="q", cited=(LEAVE, ON_CALL), scores=(1.0,), refused=False)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        {**GOOD, "pages": [{"name": LEAVE, "score": 2}]},
        {**GOOD, "pages": [{"name": LEAVE, "score": None}]},
        {**GOOD, "pages": [{"name": LEAVE, "score": -1e300, "chunk": 3}]},
        {**GOOD, "pages": []},
        {"pages": [], "refused": True},
        {**GOOD, "took": 3},
    ],
)
def test_what_a_driver_may_answer(reply: dict[str, Any]) -> None:
    asked = exam("dev")
    given = answers(asked, answered(asked, q003=reply))[2]
    assert given.cited == tuple(page["name"] for page in reply["pages"])


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({}, "pages"),
        ({"pages": []}, "refused"),
        ({**GOOD, "refused": None}, "refused"),
        ({**GOOD, "refused": 0}, "refused"),
        ({**GOOD, "pages": None}, "pages"),
        ({**GOOD, "pages": [LEAVE]}, "pages.0"),
        ({**GOOD, "pages": [{"name": LEAVE}]}, "pages.0.score"),
        ({**GOOD, "pages": [{"score": 1}]}, "pages.0.name"),
        ({**GOOD, "pages": [{"name": None, "score": 1}]}, "pages.0.name"),
        ({**GOOD, "pages": [{"name": LEAVE, "score": True}]}, "pages.0.score"),
        ({**GOOD, "pages": [{"name": LEAVE, "score": "1"}]}, "pages.0.score"),
        ({**GOOD, "pages": [{"name": LEAVE, "score": float("nan")}]}, "pages.0.score"),
        ({**GOOD, "pages": [{"name": LEAVE, "score": float("inf")}]}, "pages.0.score"),
        ({**GOOD, "receipt": "because"}, "receipt"),
        ({**GOOD, "pages": [{"name": "leave.md", "score": 1}]}, "'leave.md', which is no page"),
        ({**GOOD, "pages": [{"name": LEAVE, "score": 1}] * 6}, "cites 6 pages, of 5"),
    ],
)
def test_another_shape_is_no_answer_and_no_refusal(reply: dict[str, Any], told: str) -> None:
    asked = exam("dev")
    with pytest.raises(UnreadableAnswer, match=told) as caught:
        answers(asked, answered(asked, q003=reply))
    assert "q003" in str(caught.value)
    assert caught.value.exit_code == 7


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"pages": 5}, "took 5 pages of vault1, which has 6"),
        ({"pages": 0}, "took 0 pages"),
        ({"pages": 7}, "took 7 pages"),
        ({"pages": True}, "pages"),
        ({"pages": "6"}, "pages"),
        ({}, "pages"),
    ],
)
def test_a_vault_taken_in_part_is_no_vault(reply: dict[str, Any], told: str) -> None:
    asked = exam("dev")
    with pytest.raises(UnreadableAnswer, match=told):
        answers(asked, _indexed(reply))


def _indexed(reply: dict[str, Any]) -> list[StepRecord]:
    first, *rest = answered(exam("dev"))
    return [first.model_copy(update={"result": reply}), *rest]


def test_a_step_more_or_less_is_seen() -> None:
    asked = exam("dev")
    first, second, *rest = answered(asked)
    cases = {
        "handed over 0 times": [second, *rest],
        "handed over 2 times": [first, first, second, *rest],
        "no answer to q002": [first, *rest],
        "q002 of dev was asked twice": [first, second, second, *rest],
        "asks no question of dev": [
            first,
            second.model_copy(update={"name": "ask q999"}),
            *rest,
        ],
        "'ask q002' \\(probe\\)": [first, second.model_copy(update={"verb": "probe"}), *rest],
        "no answer to q001, q002, q003, q004, q005 and 1 more": [first],
    }
    for told, steps in cases.items():
        with pytest.raises(UnreadableAnswer, match=told):
            answers(asked, steps)


def test_a_search_that_failed_is_no_refusal() -> None:
    asked = exam("dev")
    taken = list(answered(asked))
    taken[3] = taken[3].model_copy(update={"error": "degraded: no index", "result": {}})
    with pytest.raises(UnreadableAnswer, match="got no answer: degraded: no index"):
        answers(asked, taken)
    taken = list(answered(asked))
    taken[0] = taken[0].model_copy(update={"error": "internal: disk full"})
    with pytest.raises(UnreadableAnswer, match="not taken: internal: disk full"):
        answers(asked, taken)


def test_answers_need_the_questions() -> None:
    asked = exam("heldout")
    with pytest.raises(UsageError, match="held out"):
        answers(asked.public(), run(asked).steps)


def test_a_result_of_the_kit_is_read_as_it_is_meant() -> None:
    asked = exam("dev")
    reply = result(asked, [ON_CALL, LEAVE], None)
    given = answers(asked, answered(asked, q004=reply))[3]
    assert (given.cited, given.scores) == ((ON_CALL, LEAVE), (None, None))
