import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import (
    Curve,
    Grade,
    Mark,
    area,
    at_coverage,
    curve,
    floor,
    grades,
    has_scores,
    metrics,
)
from tests.suites.memory_honesty._kit import LEAVE, answer, exam


def grade(number: int, outcome: str, score: float | None = None) -> Grade:
    refused = outcome in ("refused", "false_refusal")
    return Grade(
        question=f"q{number}",
        kind="refuse" if outcome in ("refused", "neighbour") else "current",
        lang="en",
        outcome=Mark(outcome),
        cited=None if refused else LEAVE,
        score=score,
    )


def told(*outcomes: tuple[str, float | None]) -> list[Grade]:
    return [grade(number, *one) for number, one in enumerate(outcomes)]


FOUR = told(
    ("right", 4.0), ("unrelated", 3.0), ("right", 2.0), ("neighbour", 2.0), ("refused", None)
)


def test_a_point_a_score_from_the_surest_down() -> None:
    found = curve(FOUR)
    assert [(p.floor, p.answered, p.right, p.wrong) for p in found.points] == [
        (4.0, 1, 1, 0),
        (3.0, 2, 1, 1),
        (2.0, 4, 2, 2),
    ]
    assert [(p.coverage, p.risk) for p in found.points] == [(0.2, 0.0), (0.4, 0.5), (0.8, 0.5)]
    assert (found.n, found.most) == (5, 0.8)
    assert Curve.model_validate_json(found.model_dump_json()) == found


def test_the_area_holds_each_risk_from_the_coverage_before() -> None:
    found = curve(FOUR)
    assert found.area == pytest.approx(0.2 * 0.0 + 0.2 * 0.5 + 0.4 * 0.5)
    assert area(found, 0.0) == 0.0
    assert area(found, 0.3) == pytest.approx(0.1 * 0.5)
    assert area(found, 0.8) == found.area
    for beyond in (0.9, -0.1):
        with pytest.raises(UsageError, match=r"reaches a coverage of 0\.800"):
            area(found, beyond)


@pytest.mark.parametrize(
    ("coverage", "floor_"),
    [(0.0, None), (0.1, None), (0.2, 4.0), (0.39, 4.0), (0.4, 3.0), (0.8, 2.0), (0.81, None)],
)
def test_the_point_at_a_coverage_is_the_next_below(coverage: float, floor_: float | None) -> None:
    found = at_coverage(curve(FOUR), coverage)
    assert (found.floor if found else None) == floor_


def test_a_system_that_answers_nothing_has_an_empty_curve() -> None:
    found = curve(told(("refused", None), ("false_refusal", None)))
    assert (found.points, found.area, found.most, found.n) == ((), 0.0, 0.0, 2)
    assert area(found, 0.0) == 0.0
    assert at_coverage(found, 0.0) is None
    assert curve([]).n == 0


def test_an_answer_without_a_score_has_no_place_on_it() -> None:
    with pytest.raises(UsageError, match=r"reports no score \(question q1\)"):
        curve(told(("right", 1.0), ("right", None)))
    assert has_scores(FOUR)
    assert not has_scores(told(("right", 1.0), ("right", None)))
    assert not has_scores(told(("refused", None)))
    assert not has_scores([])


def test_all_of_one_score_is_one_point() -> None:
    found = curve(told(("right", 1.0), ("unrelated", 1.0)))
    assert [(p.answered, p.risk) for p in found.points] == [(2, 0.5)]


def test_every_point_is_what_its_floor_leaves() -> None:
    asked = exam("dev")
    given = [answer(one.id, [LEAVE], 10.0 - number) for number, one in enumerate(asked.questions)]
    for point in curve(grades(asked, given)).points:
        left = metrics(grades(asked, floor(given, point.floor)))
        assert (left.answered, left.right, left.wrong) == (
            point.answered,
            point.right,
            point.wrong,
        )
        assert (left.coverage, left.wrong_rate) == (point.coverage, point.risk)
