import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import Mark, UnreadableAnswer, grade, grades
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    OLD_RELEASE,
    ON_CALL,
    ROWS,
    Said,
    answer,
    exam,
    oracle,
)


@pytest.mark.parametrize(
    ("question", "cited", "mark"),
    [
        ("q001", [BACKUPS], "right"),
        ("q001", [BACKUPS, OLD_BACKUPS], "right"),
        ("q001", [OLD_BACKUPS, BACKUPS], "stale"),
        ("q001", [OLD_RELEASE], "stale"),
        ("q001", [LEAVE, BACKUPS], "unrelated"),
        ("q001", None, "false_refusal"),
        ("q001", [], "false_refusal"),
        ("q003", [ON_CALL], "right"),
        ("q003", [OLD_BACKUPS], "stale"),
        ("q003", [BACKUPS], "unrelated"),
        # Either of two pages that answer it.
        ("q004", [LEAVE], "right"),
        ("q004", [ON_CALL], "right"),
        ("q004", [BACKUPS, LEAVE], "unrelated"),
        # A page that is cited twice changes nothing.
        ("q004", [BACKUPS, BACKUPS, LEAVE], "unrelated"),
        ("q004", [LEAVE, LEAVE], "right"),
        ("q005", None, "refused"),
        ("q005", [], "refused"),
        ("q005", [BACKUPS], "neighbour"),
        ("q005", [LEAVE], "unrelated"),
        ("q005", [OLD_BACKUPS], "stale"),
        ("q005", [LEAVE, BACKUPS], "unrelated"),
    ],
)
def test_an_answer_is_graded_by_the_page_it_stands_by(
    question: str, cited: Said, mark: str
) -> None:
    asked = exam("dev")
    by_id = {one.id: one for one in asked.questions}
    found = grade(by_id[question], answer(question, cited, refused=cited is None), asked.statuses)
    assert found.outcome is Mark(mark)
    assert found.answered is bool(cited)
    assert found.cited == (cited[0] if cited else None)
    assert found.wrong is (mark in ("stale", "neighbour", "unrelated"))
    assert found.right is (mark == "right")
    assert found.behaved is (mark in ("right", "refused"))


@pytest.mark.parametrize(
    ("question", "cited", "mark"),
    [("q001", BACKUPS, "false_refusal"), ("q005", BACKUPS, "refused")],
)
def test_who_says_that_it_refuses_has_refused_whatever_it_cites(
    question: str, cited: str, mark: str
) -> None:
    asked = exam("dev")
    by_id = {one.id: one for one in asked.questions}
    given = answer(question, [cited], 9.0, refused=True)
    found = grade(by_id[question], given, asked.statuses)
    assert (found.outcome, found.cited, found.score) == (Mark(mark), None, None)


def test_a_registered_neighbour_is_one_even_where_it_was_replaced() -> None:
    rows = [*ROWS[:4], {**ROWS[4], "neighbour": OLD_BACKUPS}]
    asked = exam("dev", *rows)
    found = grade(asked.questions[4], answer("q005", [OLD_BACKUPS]), asked.statuses)
    assert found.outcome is Mark.NEIGHBOUR


def test_a_question_without_a_neighbour_has_none() -> None:
    asked = exam("dev", *ROWS[:4], {**ROWS[4], "neighbour": None})
    found = grade(asked.questions[4], answer("q005", [BACKUPS]), asked.statuses)
    assert found.outcome is Mark.UNRELATED


def test_the_score_is_that_of_the_first_page() -> None:
    asked = exam("dev")
    found = grade(asked.questions[0], answer("q001", [BACKUPS, LEAVE], 2.5, 9.0), asked.statuses)
    assert found.score == 2.5


@pytest.mark.parametrize("cited", [["Nowhere.md"], [BACKUPS, "Nowhere.md"]])
def test_a_page_that_is_not_there_is_an_error_wherever_it_is_cited(cited: list[str]) -> None:
    asked = exam("dev")
    for refused in (False, True):
        given = answer("q001", cited, refused=refused)
        with pytest.raises(UnreadableAnswer, match=r"q001 cites 'Nowhere\.md'"):
            grade(asked.questions[0], given, asked.statuses)


def test_an_answer_to_another_question_is_none() -> None:
    asked = exam("dev")
    with pytest.raises(UnreadableAnswer, match="none to q001"):
        grade(asked.questions[0], answer("q002", [BACKUPS]), asked.statuses)


def test_all_are_graded_in_the_order_of_the_questions() -> None:
    asked = exam("dev")
    given = [answer(id_, said) for id_, said in oracle(asked).items()]
    found = grades(asked, given[::-1])
    assert [one.question for one in found] == [row["id"] for row in ROWS]
    assert all(one.behaved for one in found)
    assert [(one.kind, one.lang) for one in found] == [(row["kind"], row["lang"]) for row in ROWS]


def test_each_question_has_one_answer() -> None:
    asked = exam("dev")
    given = [answer(id_, said) for id_, said in oracle(asked).items()]
    with pytest.raises(UnreadableAnswer, match="no answer to q006"):
        grades(asked, given[:-1])
    with pytest.raises(UnreadableAnswer, match="q001 of dev was answered twice"):
        grades(asked, [*given, given[0]])
    with pytest.raises(UnreadableAnswer, match="no question 'q9'"):
        grades(asked, [*given, answer("q9")])
    with pytest.raises(UsageError, match="held out"):
        grades(exam("heldout").public(), given)
