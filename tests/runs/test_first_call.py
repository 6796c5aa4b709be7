from decimal import Decimal

import pytest

from runner.errors import UsageError
from runner.runs.first_call import first_call_usd
from runner.runs.protocol import check
from runner.suites.trip_vs_move import load_case
from tests.runs._protocols import MODEL, PRICES, protocol

NOTE = load_case("reader").notes[0]
WORDS = (NOTE.name, NOTE.text)
SUITE = "trip-vs-move"


def test_it_is_the_prompt_byte_by_byte_and_the_shortest_answer() -> None:
    """The containers' tests hold it to what a gateway sets aside."""
    assert first_call_usd("engine", SUITE, WORDS, MODEL, PRICES) == Decimal("0.0093")


def test_a_system_whose_prompt_is_not_known_is_asked_for_less() -> None:
    least = first_call_usd("particles", SUITE, WORDS, MODEL, PRICES)
    assert Decimal(0) < least < first_call_usd("engine", SUITE, WORDS, MODEL, PRICES)


def test_a_ceiling_below_it_is_refused_and_the_least_that_works_is_named() -> None:
    with pytest.raises(UsageError, match=r"at least 0\.0093"):
        check(protocol(max_usd=Decimal("0.0092")), PRICES)
    check(protocol(max_usd=Decimal("0.0093")), PRICES)
    # As published, a ceiling is only looked at between steps, and can be passed.
    check(protocol(max_usd=Decimal("0.0001"), ceiling="measured"), PRICES)


def test_the_cheapest_model_of_a_mixture_counts() -> None:
    pins = {"update": "claude-haiku-5-5"}
    check(protocol(max_usd=Decimal("0.0092"), pins=pins), PRICES)
