"""More pages are asked for than may be cited, so that leaving some out leaves enough."""

from datetime import date

import pytest
from pydantic import ValidationError

from runner.suites.memory_honesty import (
    SETS,
    Exam,
    UnreadableAnswer,
    answers,
    deep_enough,
    load_exam,
    result,
    skip_superseded,
    steps,
)
from runner.suites.memory_honesty.suite import MemoryHonesty
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    OLD_RELEASE,
    answered,
    exam,
    vault,
)


def deep(top_k: int = 1, depth: int | None = 4) -> Exam:
    return exam("dev", top_k=top_k, depth=depth)


def test_a_system_is_asked_for_so_many() -> None:
    asked = [step for step in steps(deep(), "dev", 1, vault()) if step.verb == "ask"]
    assert {step.payload["top_k"] for step in asked} == {4}
    asked = [step for step in steps(deep(depth=None), "dev", 1, vault()) if step.verb == "ask"]
    assert {step.payload["top_k"] for step in asked} == {1}


def test_it_may_cite_so_many_and_no_more() -> None:
    said = {"q001": [OLD_BACKUPS, OLD_RELEASE, LEAVE, BACKUPS]}
    given = {one.question: one for one in answers(deep(), answered(deep(), said))}
    assert given["q001"].cited == tuple(said["q001"])
    with pytest.raises(UnreadableAnswer, match="cites 4 pages, of 3 that it may"):
        answers(deep(depth=3), answered(deep(), said))


def test_only_those_that_may_be_cited_count() -> None:
    """The right page is the fourth: found, had four been allowed."""
    said = {"q001": [OLD_BACKUPS, OLD_RELEASE, LEAVE, BACKUPS]}
    for asked, hits in ((deep(2), {"1": 3, "2": 3}), (exam("dev", top_k=4), {"1": 3, "4": 4})):
        found = result(asked, answers(asked, answered(asked, said)))
        assert found.ranking is not None
        assert {step: found.ranking.hits[step] for step in hits} == hits
        assert found.metrics.stale == 1


def test_with_replaced_pages_left_out_what_stood_behind_them_counts() -> None:
    said = {"q001": [OLD_BACKUPS, OLD_RELEASE, BACKUPS, LEAVE], "q003": [OLD_RELEASE]}
    asked = deep()
    without = skip_superseded(answers(asked, answered(asked, said)), asked.statuses)
    found = result(asked, without).metrics
    # What cited a replaced page alone has nothing left.
    assert (found.corrections_right.hits, found.stale, found.false_refusals.hits) == (2, 0, 1)


def test_no_number_of_replaced_pages_on_top_empties_an_answer() -> None:
    statuses = exam("dev").statuses
    assert sum(page.superseded for page in statuses.values()) == 2
    assert (deep_enough(statuses, 5), deep_enough(statuses, 49)) == (50, 51)
    assert (deep_enough(statuses, 98), deep_enough(statuses, 99)) == (100, 100)
    assert deep_enough(statuses, 100) is None
    for name in SETS:
        asked = load_exam(name)
        depth = deep_enough(asked.statuses, asked.top_k) or 0
        assert depth - sum(page.superseded for page in asked.pages) >= asked.top_k


def test_less_than_may_be_cited_is_no_depth() -> None:
    for depth in (1, 5, 101):
        with pytest.raises(ValidationError, match="depth"):
            exam("dev", depth=depth)


def test_an_exam_without_one_is_what_it_was() -> None:
    plain = exam("dev")
    assert plain.model_dump(exclude={"depth"}) == deep(5, None).model_dump(exclude={"depth"})
    assert plain.digest == deep(5, None).digest != deep(5, 50).digest
    # As reports were written before there was a depth.
    before = plain.model_dump(mode="json")
    del before["depth"]
    assert Exam.model_validate(before) == plain


def test_it_is_told_of_where_results_are_compared() -> None:
    why = MemoryHonesty().apart(deep(5, 50), "now", date(2026, 12, 1))
    assert "50 pages were asked for, of which the first 5 count." in why
    assert not any(
        "asked for" in one for one in MemoryHonesty().apart(exam("dev"), "now", date.min)
    )


def test_a_saved_exam_is_compared_with_one_of_its_depth() -> None:
    asked = load_exam("dev", depth=50)
    assert MemoryHonesty().known(asked) == asked
