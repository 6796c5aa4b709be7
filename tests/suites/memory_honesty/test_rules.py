import math

import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import (
    Answer,
    floor,
    pick_floor,
    same_coverage,
    skip_superseded,
)
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    OLD_RELEASE,
    ON_CALL,
    RELEASE,
    answer,
    exam,
)

PAGES = exam("dev").statuses


def test_replaced_pages_are_left_out_with_their_scores() -> None:
    given = answer("q", [OLD_BACKUPS, BACKUPS, OLD_RELEASE, LEAVE], 4.0, 3.0, 2.0, 1.0)
    (left,) = skip_superseded([given], PAGES)
    assert (left.cited, left.scores, left.refused) == ((BACKUPS, LEAVE), (3.0, 1.0), False)


def test_where_only_replaced_pages_were_cited_nothing_is_answered() -> None:
    (left,) = skip_superseded([answer("q", [OLD_BACKUPS])], PAGES)
    assert (left.cited, left.answered) == ((), False)


def test_who_refused_has_still_refused() -> None:
    given = [answer("a"), answer("b", [BACKUPS], refused=True), answer("c", [LEAVE])]
    assert skip_superseded(given, PAGES) == tuple(given)


def test_below_the_floor_an_answer_is_a_refusal_and_at_it_stands() -> None:
    given = [answer("a", [LEAVE], 1.0), answer("b", [LEAVE], 2.0), answer("c")]
    left = floor(given, 2.0)
    assert [one.answered for one in left] == [False, True, False]
    assert left[0].cited == (LEAVE,)
    assert left[1:] == tuple(given[1:])
    assert floor(given, None) == tuple(given)
    assert floor(floor(given, 2.0), 2.0) == left


def test_a_floor_needs_scores_of_answers_and_of_nothing_else() -> None:
    refusals = [answer("a"), answer("b", [LEAVE], refused=True)]
    assert floor(refusals, 1.0) == tuple(refusals)
    with pytest.raises(UsageError, match=r"reports no score \(question c\)"):
        floor([*refusals, answer("c", [LEAVE])], 1.0)
    # Only the first counts.
    assert floor([answer("d", [LEAVE, ON_CALL], 1.0, None)], 1.0)[0].answered
    with pytest.raises(UsageError, match="reports no score"):
        same_coverage([answer("c", [LEAVE])], 0)
    with pytest.raises(UsageError, match="reports no score"):
        pick_floor(exam("dev"), [*said({}).values()])


RIGHT = {"q001": BACKUPS, "q002": RELEASE, "q003": ON_CALL, "q004": LEAVE}


def said(scores: dict[str, float], **pages: str) -> dict[str, Answer]:
    """Everything answered with the right page, or the neighbour, unless told otherwise."""
    cited = {**RIGHT, "q005": BACKUPS, "q006": RELEASE, **pages}
    return {
        id_: answer(id_, [page], *([scores[id_]] if scores else [])) for id_, page in cited.items()
    }


def picked(*scores: float, **pages: str) -> float | None:
    named = dict(zip(("q001", "q002", "q003", "q004", "q005", "q006"), scores, strict=True))
    return pick_floor(exam("dev"), list(said(named, **pages).values()))


def test_the_floor_has_the_most_right_minus_wrong() -> None:
    # Four right above two wrong ones.
    assert picked(4, 5, 6, 7, 1, 2) == 4
    # One right answer below them is worth less than what it brings along.
    assert picked(0, 5, 6, 7, 1, 2) == 5
    # Two are worth as much: a tie, and the lower floor, which is none.
    assert picked(0, 0, 6, 7, 1, 2) is None
    assert picked(1, 2, 3, 4, 9, 10) is None
    # Where all are wrong, least is lost at the top: that everything is refused is not tried.
    assert picked(1, 2, 3, 4, 5, 6, **dict.fromkeys(RIGHT, OLD_BACKUPS)) == 6


def test_answers_of_one_score_stand_or_fall_together() -> None:
    # At 5 stand two right and one wrong, above nothing.
    assert picked(5, 5, 1, 1, 5, 1, q003=LEAVE, q004=OLD_BACKUPS) == 5
    # All of one score: there is nothing to draw a line between.
    assert picked(3, 3, 3, 3, 3, 3) is None


def test_of_several_floors_as_good_it_is_the_lowest() -> None:
    # From the top: +1, 0, +1, 0: the best is 1, at 6 and at 4; and with the rest again below.
    given = {"q001": 6.0, "q005": 5.0, "q002": 4.0, "q006": 3.0, "q003": 2.0, "q004": 1.0}
    floor_ = pick_floor(exam("dev"), list(said(given, q003=OLD_BACKUPS, q004=OLD_BACKUPS).values()))
    assert floor_ == 4.0


def test_a_floor_may_be_picked_from_answers_in_any_order_and_with_refusals() -> None:
    named = {"q001": 4.0, "q002": 5.0, "q003": 6.0, "q004": 7.0, "q005": 1.0, "q006": 2.0}
    given = {**said(named), "q001": answer("q001")}
    assert pick_floor(exam("dev"), list(given.values())[::-1]) == 5.0
    nothing = [answer(id_) for id_ in given]
    assert pick_floor(exam("dev"), nothing) is None


def test_no_floor_is_picked_on_a_held_out_set() -> None:
    with pytest.raises(UsageError, match=r"No floor is picked on heldout: .* come from dev"):
        pick_floor(exam("heldout"), [])


def scored(*scores: float) -> list[Answer]:
    return [answer(f"a{number}", [LEAVE], score) for number, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "count", "at", "left"),
    [
        ((4, 3, 2, 1), 3, 2, 3),
        ((4, 3, 2, 1), 4, None, 4),
        ((4, 3, 2, 1), 9, None, 4),
        ((4, 3, 2, 1), 1, 4, 1),
        ((1, 2, 3, 4), 2, 3, 2),
        # Ties: the largest number that is not above.
        ((4, 3, 3, 3, 1), 3, 4, 1),
        ((4, 3, 3, 3, 1), 4, 3, 4),
        ((4, 3, 3, 3, 1), 2, 4, 1),
        ((4, 4, 1), 1, math.nextafter(4, math.inf), 0),
        ((4, 3), 0, math.nextafter(4, math.inf), 0),
        ((0.0, -0.0), 1, 5e-324, 0),
        ((), 0, None, 0),
        ((), 3, None, 0),
    ],
)
def test_equal_coverage(scores: tuple[float, ...], count: int, at: float | None, left: int) -> None:
    given = [*scored(*scores), answer("r"), answer("s", [LEAVE], 9.0, refused=True)]
    found = same_coverage(given, count)
    assert found == at
    assert sum(one.answered for one in floor(given, found)) == left


def test_fewer_than_no_questions_cannot_be_answered() -> None:
    with pytest.raises(UsageError, match="-1 questions"):
        same_coverage(scored(1), -1)
