import subprocess
import sys
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.stats import exact_interval, fisher, holm, rate


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    of = draw(st.integers(min_value=1, max_value=200))
    return draw(st.integers(min_value=0, max_value=of)), of


def at_least(hits: int, of: int, chance: float) -> float:
    """The chance of ``hits`` or more, from the definition."""
    return sum(comb(of, k) * chance**k * (1 - chance) ** (of - k) for k in range(hits, of + 1))


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [  # from published tables of exact intervals
        (0, 1, 0.0, 0.975),
        (1, 1, 0.025, 1.0),
        (3, 3, 0.2924, 1.0),
        (0, 3, 0.0, 0.7076),
        (2, 3, 0.0943, 0.9916),
        (5, 10, 0.1871, 0.8129),
        (0, 57, 0.0, 0.0627),
        (10, 100, 0.0490, 0.1762),
    ],
)
def test_known_intervals(hits: int, of: int, low: float, high: float) -> None:
    assert exact_interval(hits, of) == pytest.approx((low, high), abs=5e-5)


@given(counts())
def test_the_interval_is_what_its_definition_says(count: tuple[int, int]) -> None:
    hits, of = count
    low, high = exact_interval(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    if hits:
        assert at_least(hits, of, low) == pytest.approx(0.025, abs=1e-9)
    if hits < of:
        assert 1 - at_least(hits + 1, of, high) == pytest.approx(0.025, abs=1e-9)


@given(counts())
def test_misses_mirror_hits_and_more_confidence_is_wider(count: tuple[int, int]) -> None:
    hits, of = count
    low, high = exact_interval(hits, of)
    mirrored = exact_interval(of - hits, of)
    assert (1 - high, 1 - low) == pytest.approx(tuple(mirrored), abs=1e-12)
    wide = exact_interval(hits, of, confidence=0.99)
    assert wide.low <= low <= high <= wide.high


def test_rates_read_as_they_are_printed() -> None:
    assert rate(3, 3) == "3 of 3 [29–100%]"
    assert rate(0, 3) == "0 of 3 [0–71%]"
    assert rate(0, 0) == "0 of 0"


@pytest.mark.parametrize(("hits", "of"), [(-1, 3), (4, 3), (0, -1)])
def test_what_is_no_count_is_refused(hits: int, of: int) -> None:
    with pytest.raises(ValueError, match="no count"):
        exact_interval(hits, of)
    with pytest.raises(ValueError, match="confidence"):
        exact_interval(1, 2, confidence=1.0)


def test_nothing_is_known_of_no_trials() -> None:
    with pytest.raises(ValueError, match="no count"):
        exact_interval(1, 0)
    assert exact_interval(0, 0) == (0.0, 1.0)


def test_scipy_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, runner.stats; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.integers(0, 9), st.integers(0, 9), st.data())
def test_fishers_test_is_what_scipy_says(of: int, of_others: int, data: st.DataObject) -> None:
    from scipy.stats import fisher_exact

    hits, others = data.draw(st.integers(0, of)), data.draw(st.integers(0, of_others))
    table = [[hits, of - hits], [others, of_others - others]]
    assert fisher(hits, of, others, of_others) == pytest.approx(fisher_exact(table).pvalue)
    assert fisher(hits, of, others, of_others) == fisher(others, of_others, hits, of)


@pytest.mark.parametrize("counts", [(4, 3, 0, 3), (-1, 3, 0, 3), (0, 3, 4, 3), (0, 3, -1, 3)])
def test_fishers_test_of_no_counts(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="no counts"):
        fisher(*counts)


def test_holm_adjusts_by_how_many_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.9, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()
