import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import ranking
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    ON_CALL,
    RELEASE,
    ROWS,
    answer,
    exam,
)

GIVEN = [
    answer("q001", [OLD_BACKUPS, BACKUPS]),
    answer("q002", [RELEASE]),
    # Cited twice: the right page is the second of two.
    answer("q003", [LEAVE, LEAVE, ON_CALL]),
    answer("q004", [BACKUPS, OLD_BACKUPS, RELEASE, ON_CALL]),
    answer("q005", [BACKUPS]),
    answer("q006"),
]


def test_how_far_down_the_right_page_stood() -> None:
    found = ranking(exam("dev"), GIVEN)
    assert found is not None
    assert (found.of, found.hits) == (4, {"1": 1, "3": 3, "5": 4})
    assert found.mrr == (1 / 2 + 1 + 1 / 2 + 1 / 4) / 4


def test_what_stands_further_down_than_may_be_cited_counts_for_nothing() -> None:
    found = ranking(exam("dev", top_k=2), GIVEN)
    assert found is not None
    assert (found.hits, found.mrr) == ({"1": 1, "2": 3}, (1 / 2 + 1 + 1 / 2) / 4)


def test_a_refusal_and_a_page_that_was_not_cited_count_for_nothing() -> None:
    given = [
        answer("q001", [BACKUPS], refused=True),
        answer("q002", [LEAVE]),
        answer("q003"),
        *GIVEN[3:],
    ]
    found = ranking(exam("dev", top_k=4), given)
    assert found is not None
    assert (found.hits, found.mrr) == ({"1": 0, "3": 0, "4": 1}, 1 / 16)


def test_with_one_page_there_is_no_rank() -> None:
    assert ranking(exam("dev", top_k=1), GIVEN) is None


def test_over_no_answerable_question_there_is_no_mean() -> None:
    found = ranking(exam("dev", *ROWS[4:]), GIVEN[4:])
    assert found is not None
    assert (found.of, found.mrr) == (0, None)


def test_ranks_need_the_questions() -> None:
    with pytest.raises(UsageError, match="held out"):
        ranking(exam("heldout").public(), GIVEN)
