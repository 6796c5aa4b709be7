import random
import subprocess
import sys

import numpy as np
import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import (
    KINDS,
    RATES,
    RESAMPLES,
    Estimate,
    Grade,
    Intervals,
    Mark,
    estimates,
    intervals,
)
from runner.suites.memory_honesty.intervals import _drawn, resampled
from tests.suites.memory_honesty._big import big, graded
from tests.suites.memory_honesty._published import FALSE, HELDOUT3, RIGHT, heldout3

pytestmark = pytest.mark.slow


def percent(found: Estimate) -> tuple[int, int]:
    assert found.low is not None
    assert found.high is not None
    return round(found.low * 100), round(found.high * 100)


def test_the_published_interval_comes_out_unstratified() -> None:
    found = estimates(heldout3("KRouter"), stratified=False)
    assert percent(found["wrong_rate"]) == (19, 34)


@pytest.mark.parametrize(
    ("system", "low", "high"),
    [
        ("claude-mem", 0.58, 0.71),
        ("basic-memory", 0.72, 0.84),
        ("basic-memory with rules", 0.04, 0.33),
    ],
)
def test_other_published_intervals_come_out_within_two_points(
    system: str, low: float, high: float
) -> None:
    # Of how many resamples they are, and how they were rounded, was not told.
    found = estimates(heldout3(system), stratified=False)["wrong_rate"]
    assert found.low is not None
    assert found.high is not None
    assert abs(found.low - low) < 0.02
    assert abs(found.high - high) < 0.02


def test_stratified_by_kind_the_same_counts_are_known_better() -> None:
    found = estimates(heldout3("KRouter"))["wrong_rate"]
    assert percent(found) == (21, 32)
    assert found.value == 37 / 139
    assert found.undefined == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_seed_says_much_the_same(seed: int) -> None:
    assert percent(estimates(heldout3("KRouter"), seed=seed)["wrong_rate"]) == (21, 32)
    found = estimates(heldout3("KRouter"), stratified=False, seed=seed)
    assert percent(found["wrong_rate"]) == (19, 34)


def test_the_same_seed_says_the_same_to_the_last_bit_whatever_the_order() -> None:
    given = list(heldout3("KRouter"))
    first = intervals(given)
    random.Random(5).shuffle(given)
    assert intervals(given) == first
    assert intervals(given, seed=1) != first
    # What every machine and every version of NumPy has to come to.
    assert first.all["wrong_rate"] == Estimate(
        value=37 / 139, low=PINNED[0], high=PINNED[1], undefined=0
    )


PINNED = (0.2116788321167883, 0.31756756756756754)


def test_a_count_of_a_stratum_does_not_move_where_stratified() -> None:
    found = intervals(heldout3("claude-mem"))
    assert found.all["coverage"] == Estimate(value=1.0, low=1.0, high=1.0)
    # 80 of 200 are wrong by design: no resample has fewer.
    low = found.all["wrong_rate"].low
    assert low is not None
    assert low > 0.4
    assert found.by_kind["refuse"]["wrong_rate"] == Estimate(value=1.0, low=1.0, high=1.0)


def test_parts_have_their_own_rates() -> None:
    found = intervals(heldout3("KRouter"), resamples=500)
    assert set(found.all) == set(RATES)
    assert list(found.by_kind) == ["correction", "current", "refuse"]
    assert list(found.by_language) == ["en", "zh"]
    assert "neighbours_refused" not in found.by_kind["correction"]
    assert "corrections_right" not in found.by_kind["refuse"]
    assert (found.stratified, found.resamples, found.seed) == (True, 500, 0)
    assert Intervals.model_validate_json(found.model_dump_json()) == found


def few(answered: int, refused: int) -> tuple[Grade, ...]:
    return graded(big(0, answered + refused, 0), {"current": [(RIGHT, answered), (FALSE, refused)]})


def test_a_resample_with_nothing_answered_is_left_out_and_counted() -> None:
    found = estimates(few(1, 9))
    rate = found["wrong_rate"]
    assert (rate.value, rate.low, rate.high) == (0.0, 0.0, 0.0)
    # (9/10) ** 10 of all resamples.
    assert abs(rate.undefined / RESAMPLES - 0.9**10) < 0.02
    assert found["coverage"].undefined == 0


def test_where_nothing_was_answered_no_resample_has_a_rate() -> None:
    rate = estimates(few(0, 3), resamples=50)["wrong_rate"]
    assert rate == Estimate(value=None, low=None, high=None, undefined=50)


def test_unstratified_a_kind_may_be_missing_from_a_resample() -> None:
    given = graded(big(1, 2, 0), {"correction": [(RIGHT, 1)], "current": [(RIGHT, 2)]})
    assert estimates(given, stratified=False)["corrections_right"].undefined > 0
    assert estimates(given)["corrections_right"].undefined == 0


def test_one_question_and_one_resample_will_do() -> None:
    found = estimates(few(1, 0), resamples=1)
    assert found["wrong_rate"] == Estimate(value=0.0, low=0.0, high=0.0)


def test_of_nothing_there_is_no_resample() -> None:
    with pytest.raises(UsageError, match="no grade"):
        estimates([])
    with pytest.raises(UsageError, match="no grade"):
        resampled([], dict(RATES), stratified=True, resamples=10, seed=0)
    with pytest.raises(UsageError, match="0 resamples"):
        estimates(few(1, 1), resamples=0)


@pytest.mark.parametrize("stratified", [True, False])
def test_a_loop_over_the_same_draws_comes_to_the_same_to_the_last_bit(stratified: bool) -> None:
    given = sorted(heldout3("KRouter"), key=lambda one: (KINDS.index(one.kind), one.question))
    strata = [given[:60], given[60:120], given[120:]] if stratified else [given]
    generator = np.random.PCG64(9)
    seen = []
    for _ in range(200):
        drawn = [
            stratum[(int(generator.random_raw()) >> 32) * len(stratum) >> 32]
            for stratum in strata
            for _ in stratum
        ]
        seen.append(sum(one.wrong for one in drawn) / sum(one.answered for one in drawn))
    seen.sort()
    found = estimates(given, stratified=stratified, resamples=200, seed=9)["wrong_rate"]
    # 5 of 200 are cut off at either end.
    assert (found.low, found.high) == (seen[5], seen[-6])


def test_every_resample_has_as_many_questions_and_as_many_of_each_kind() -> None:
    (drawn,) = _drawn([3, 5, 1], 200, 0, 200 * 9)
    assert drawn.shape == (200, 9)
    assert {float(total) for total in drawn[:, :3].sum(axis=1)} == {3.0}
    assert {float(total) for total in drawn[:, 3:8].sum(axis=1)} == {5.0}
    assert {float(total) for total in drawn[:, 8]} == {1.0}


def test_every_question_is_drawn_about_as_often_as_any() -> None:
    (drawn,) = _drawn([40], 10_000, 0, 10_000 * 40)
    shares = drawn.sum(axis=0) / 10_000
    # Each is drawn once a resample on average, with a standard deviation of 1 in 100.
    assert shares.min() > 0.95
    assert shares.max() < 1.05


@pytest.mark.parametrize("cells", [1, 1000, 34_999, 70_001])
def test_how_many_draws_are_worked_on_at_once_changes_nothing(cells: int) -> None:
    (whole,) = _drawn([3, 40, 7], 700, 4, 700 * 50)
    parts = list(_drawn([3, 40, 7], 700, 4, cells))
    assert (len(parts) > 1) is (cells < 700 * 50)
    assert [row for part in parts for row in part.tolist()] == whole.tolist()


def test_a_wide_interval_and_the_exact_one_agree() -> None:
    # The binomial's own quantiles, for a rate over a fixed count.
    given = graded(big(0, 0, 100), {"refuse": [(Mark.REFUSED, 30), (Mark.NEIGHBOUR, 70)]})
    found = estimates(given)["neighbours_refused"]
    assert percent(found) == (21, 39)


def test_numpy_is_loaded_only_when_something_is_resampled() -> None:
    program = (
        "import sys, runner.suites.memory_honesty.suite;"
        "print([name for name in ('numpy', 'scipy') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"


def test_all_published_rows_have_all_rates() -> None:
    for system in HELDOUT3:
        for name, found in estimates(heldout3(system), resamples=200).items():
            assert found.value is not None, name
            assert found.low is not None
            assert found.high is not None
            assert found.low <= found.high
