import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.stats import mcnemar

COUNTS = st.integers(min_value=0, max_value=400)


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    [  # from the definition: twice the lesser tail of a fair coin
        (0, 0, 1.0),
        (1, 0, 1.0),
        (3, 3, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (0, 10, 0.001953125),
        (1, 9, 0.021484375),
        (27, 0, 2.0**-26),
    ],
)
def test_known_values(first: int, second: int, p_value: float) -> None:
    assert mcnemar(first, second) == p_value


@pytest.mark.slow
@settings(deadline=None)
@given(COUNTS, COUNTS)
def test_it_is_the_exact_test_of_a_fair_coin(first: int, second: int) -> None:
    from scipy.stats import binomtest

    found = mcnemar(first, second)
    assert found == mcnemar(second, first)
    assert 0 <= found <= 1
    if first + second:
        expected = float(binomtest(first, first + second, 0.5).pvalue)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_many_cases_are_counted_too() -> None:
    assert mcnemar(1000, 1000) == 1.0
    assert mcnemar(0, 10_000) == 0.0


@pytest.mark.parametrize(("first", "second"), [(-1, 0), (0, -1)])
def test_what_is_no_count_is_refused(first: int, second: int) -> None:
    with pytest.raises(ValueError, match="no counts"):
        mcnemar(first, second)
