from runner.suites.memory_honesty import Moved, answers, result, score
from runner.suites.memory_honesty.repeats import MAIN, repeats
from tests.suites.memory_honesty._kit import LEAVE, ON_CALL, Said, exam, run


def moved(*said: dict[str, Said]) -> Moved:
    """What runs that say so make of the little exam."""
    asked = exam("dev")
    records = [run(asked, one, index=number) for number, one in enumerate(said, 1)]
    verdict = score(asked, records, {"dev": len(records)})
    assert verdict.repeats is not None
    assert verdict.repeats.moved is not None
    return verdict.repeats.moved


def test_runs_that_say_the_same_moved_nothing() -> None:
    found = moved({}, {}, {})
    assert [(one.first, one.second) for one in found.pairs] == [(1, 2), (1, 3), (2, 3)]
    assert [one.differing for one in found.pairs] == [0, 0, 0]
    assert found.mean == 0
    assert set(found.rates) == set(MAIN)
    assert all(spread.width == 0 for spread in found.rates.values())


def test_every_two_runs_are_laid_beside_one_another() -> None:
    """Another page that is right too is another answer all the same; a refusal is told apart."""
    found = moved({}, {"q004": [ON_CALL]}, {"q004": None, "q005": [LEAVE], "q006": [LEAVE]})
    assert [(one.differing, one.refusals) for one in found.pairs] == [(1, 0), (3, 3), (3, 3)]
    assert (found.questions, found.mean) == (6, 7 / 18)


def test_what_is_cited_further_down_moves_nothing() -> None:
    found = moved({"q003": [ON_CALL]}, {"q003": [ON_CALL, LEAVE]})
    assert found.pairs[0].differing == 0


def test_how_far_the_rates_are_apart() -> None:
    found = moved({}, {"q003": [LEAVE], "q004": None}, {"q005": [LEAVE]})
    assert found.rates["answerable_right"].model_dump() == {"least": 0.5, "most": 1.0}
    assert found.rates["neighbours_refused"].model_dump() == {"least": 0.5, "most": 1.0}
    assert found.rates["false_refusals"].most == 0.25
    assert found.rates["wrong_rate"].least == 0
    assert found.rates["wrong_rate"].most == 1 / 3
    assert found.rates["coverage"].width == 5 / 6 - 3 / 6


def test_a_rate_that_is_undefined_has_no_spread() -> None:
    nothing: dict[str, Said] = {f"q00{n}": None for n in range(1, 7)}
    found = moved(nothing, nothing)
    assert found.rates["wrong_rate"].model_dump() == {"least": None, "most": None}
    assert found.rates["wrong_rate"].width is None
    found = moved(nothing, {})
    assert found.rates["wrong_rate"].model_dump() == {"least": 0.0, "most": 0.0}


def test_one_run_repeats_nothing() -> None:
    asked = exam("dev")
    given = answers(asked, run(asked).steps)
    assert repeats([1], [given], [result(asked, given).metrics]) is None
