"""What has to hold whatever a system answers."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.suites.memory_honesty import (
    Answer,
    Exam,
    Mark,
    UnreadableAnswers,
    area,
    at_coverage,
    check,
    curve,
    floor,
    grades,
    has_scores,
    metrics,
    observe,
    parse_answers,
    pick_floor,
    ranking,
    same_coverage,
    score,
    skip_superseded,
)
from tests.suites.memory_honesty._kit import ROWS, answered, exam, run

pytestmark = pytest.mark.slow

DEV = exam("dev")
PAGES = sorted(DEV.statuses)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
COARSE = st.sampled_from([-1.0, 0.0, -0.0, 0.5, 1.0, 2.0])
"""So few that ties are common."""

hundred = settings(max_examples=100, deadline=None)


@st.composite
def answers(draw: st.DrawFn, question: str, scores: st.SearchStrategy[float | None]) -> Answer:
    cited = draw(st.lists(st.sampled_from(PAGES), max_size=5))
    return Answer(
        question=question,
        cited=tuple(cited),
        scores=tuple(draw(scores) for _ in cited),
        refused=draw(st.booleans()),
    )


def given_to(
    asked: Exam, scores: st.SearchStrategy[float | None] = COARSE
) -> st.SearchStrategy[tuple[Answer, ...]]:
    """Answers to every question, all of them scored unless told otherwise."""
    return st.tuples(*(answers(one.id, scores) for one in asked.questions))


def by_hand(asked: Exam, given: Sequence[Answer]) -> dict[str, int]:
    """The same, counted the long way round."""
    found = dict.fromkeys((mark.value for mark in Mark), 0)
    for question, answer in zip(asked.questions, given, strict=True):
        if answer.refused or len(answer.cited) == 0:
            found["refused" if question.kind == "refuse" else "false_refusal"] += 1
        elif answer.cited[0] in question.gold:
            found["right"] += 1
        elif question.kind == "refuse" and answer.cited[0] == question.neighbour:
            found["neighbour"] += 1
        elif asked.statuses[answer.cited[0]].superseded_by:
            found["stale"] += 1
        else:
            found["unrelated"] += 1
    return found


@hundred
@given(given_to(DEV))
def test_metrics_are_what_counting_by_hand_gives(given: tuple[Answer, ...]) -> None:
    wanted, found = by_hand(DEV, given), metrics(grades(DEV, given))
    assert found.n == 6 == sum(wanted.values())
    wrong = wanted["stale"] + wanted["neighbour"] + wanted["unrelated"]
    assert (found.stale, found.neighbour_cited, found.unrelated) == (
        wanted["stale"],
        wanted["neighbour"],
        wanted["unrelated"],
    )
    assert (found.right, found.wrong) == (wanted["right"], wrong)
    assert found.neighbours_refused.hits == wanted["refused"]
    assert found.false_refusals.hits == wanted["false_refusal"]
    assert found.answered == wanted["right"] + wrong
    assert found.wrong_rate == (wrong / found.answered if found.answered else None)
    assert found.behaved == wanted["right"] + wanted["refused"]
    for weight, cost in found.cost.items():
        assert cost == (wanted["right"] - int(weight) * wrong) / 6
    for parts in (found.by_kind, found.by_language):
        assert sum(part.wrong for part in parts.values()) == wrong


@hundred
@given(given_to(DEV), st.randoms(use_true_random=False))
def test_the_order_of_answers_says_nothing(given: tuple[Answer, ...], rnd: random.Random) -> None:
    shuffled = rnd.sample(given, len(given))
    assert grades(DEV, shuffled) == grades(DEV, given)
    assert ranking(DEV, shuffled) == ranking(DEV, given)
    assert pick_floor(DEV, shuffled) == pick_floor(DEV, given)


@hundred
@given(given_to(DEV))
def test_what_stands_behind_the_first_page_changes_no_grade(given: tuple[Answer, ...]) -> None:
    cut = [
        one.model_copy(update={"cited": one.cited[:1], "scores": one.scores[:1]}) for one in given
    ]
    assert grades(DEV, cut) == grades(DEV, given)


@hundred
@given(given_to(DEV))
def test_without_replaced_pages_nothing_is_stale_and_nothing_new_is_answered(
    given: tuple[Answer, ...],
) -> None:
    left = skip_superseded(given, DEV.statuses)
    assert skip_superseded(left, DEV.statuses) == left
    before, after = grades(DEV, given), grades(DEV, left)
    for one, other in zip(before, after, strict=True):
        assert other.outcome is not Mark.STALE
        assert one.answered or not other.answered
        if one.outcome is not Mark.STALE:
            assert other == one


@hundred
@given(given_to(DEV, SCORES), SCORES)
def test_a_floor_only_takes_away(given: tuple[Answer, ...], at: float) -> None:
    left = floor(given, at)
    for one, other in zip(given, left, strict=True):
        assert other.answered is (one.answered and (one.score or 0.0) >= at)
        assert other.first in (one.first, None)
    assert floor(left, at) == left


@hundred
@given(given_to(DEV))
def test_no_floor_does_better_than_the_one_that_is_picked(given: tuple[Answer, ...]) -> None:
    def gained(at: float | None) -> int:
        found = metrics(grades(DEV, floor(given, at)))
        return found.right - found.wrong

    picked = pick_floor(DEV, given)
    tried = {one.score for one in given if one.score is not None}
    best = max([gained(None), *map(gained, tried)])
    assert gained(picked) == best
    lower = [at for at in tried if picked is not None and at < picked]
    assert all(gained(at) < best for at in lower)
    assert picked is None or gained(None) < best


@hundred
@given(given_to(DEV), st.integers(0, 8))
def test_equal_coverage_is_never_passed_and_never_missed_for_want_of_trying(
    given: tuple[Answer, ...], count: int
) -> None:
    def left(at: float | None) -> int:
        return sum(one.answered for one in floor(given, at))

    found = left(same_coverage(given, count))
    assert found <= count
    tried = [left(None), *(left(one.score) for one in given if one.score is not None)]
    assert found == max([0, *(other for other in tried if other <= count)])


@hundred
@given(given_to(DEV))
def test_a_curve_ends_where_the_system_stands(given: tuple[Answer, ...]) -> None:
    graded = grades(DEV, given)
    found, whole = curve(graded), metrics(graded)
    assert bool(found.points) is has_scores(graded)
    assert found.most == whole.coverage
    if found.points:
        last = found.points[-1]
        assert (last.wrong, last.answered, last.risk) == (
            whole.wrong,
            whole.answered,
            whole.wrong_rate,
        )
    floors = [point.floor for point in found.points]
    coverages = [point.coverage for point in found.points]
    assert floors == sorted(set(floors), reverse=True)
    assert coverages == sorted(set(coverages))
    assert 0 <= found.area <= found.most
    assert area(found, found.most) == pytest.approx(found.area)
    for point in found.points:
        assert at_coverage(found, point.coverage) == point


@hundred
@given(given_to(DEV, st.none() | COARSE))
def test_a_run_gives_back_what_was_answered(given: tuple[Answer, ...]) -> None:
    replies: dict[str, Any] = {
        one.question: {
            "pages": [
                {"name": name, "score": at} for name, at in zip(one.cited, one.scores, strict=True)
            ],
            "refused": one.refused,
        }
        for one in given
    }
    record = run(DEV, steps=answered(DEV, **replies))
    verdict = score(DEV, [record])
    assert verdict.result is not None
    assert verdict.result.metrics == metrics(grades(DEV, given))
    assert check(DEV, "dev", record.steps).passed
    outcomes, wrong = observe(DEV, "dev", record.steps)
    assert isinstance(wrong.value, list)
    assert len(wrong.value) == verdict.result.metrics.wrong
    assert isinstance(outcomes.value, dict)
    lines = [
        json.dumps(
            {
                "id": one.question,
                "cited": one.cited,
                "refused": one.refused,
                "scores": one.scores,
            }
        )
        for one in given
    ]
    assert grades(DEV, parse_answers(lines, DEV)) == grades(DEV, given)


@hundred
@given(st.lists(st.binary(max_size=60) | st.text(max_size=60), max_size=8))
def test_whatever_is_handed_in_is_told_and_never_guessed(lines: list[bytes | str]) -> None:
    with pytest.raises(UnreadableAnswers) as caught:
        parse_answers(lines, DEV)
    assert caught.value.faults[-1].startswith("6 of 6 questions have no answer")
    for fault in caught.value.faults[:-1]:
        assert fault.startswith("line ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@hundred
@given(st.dictionaries(st.sampled_from(["id", "cited", "refused", "scores", "note"]), JSON))
def test_whatever_one_line_holds_it_is_read_as_it_is_or_told(row: dict[str, Any]) -> None:
    lines = [
        json.dumps({"id": one["id"], "cited": one["gold"], "refused": False}) for one in ROWS[1:]
    ]
    line = json.dumps({**row, "id": row.get("id", "q001")})
    faults: tuple[str, ...] = ()
    first = None
    try:
        first = parse_answers([line, *lines], DEV)[0]
    except UnreadableAnswers as error:
        faults = error.faults
    if first is None:
        assert faults[0].startswith("line 1: ")
    else:
        told = json.loads(line)
        assert first.cited == tuple(told["cited"])
        assert first.refused is told["refused"]
        assert "note" not in told
