import unicodedata

import pytest

from runner.model import Claim
from runner.suites.trip_vs_move.text import dated_restatement, names_a_day, says, says_any


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("The user lives in Delhi.", "Delhi", True),
        ("the user lives in DELHI's north", "Delhi", True),
        ("New Delhi", "Delhi", True),
        ("Delhiite", "Delhi", False),
        ("Old-Delhi", "Delhi", True),
        ("Ann moved to New  York.", "New York", True),
        ("Ann moved to New\nYork.", "new york", True),
        ("Ann moved to Newer York.", "New York", False),
        ("lives", "live", False),
        ("They flew back to it", "back to", True),
        ("a week-long stay", "week-long", True),
        ("for a weekend", "for a week", False),
        ("São Paulo", "Sao Paulo", False),
        (unicodedata.normalize("NFD", "lives in São Paulo"), "são paulo", True),
        ("lives in São Paulo", unicodedata.normalize("NFD", "São Paulo"), True),
        ("Belém2", "Belém", False),
        ("St. Louis.", "St. Louis", True),
    ],
)
def test_phrases_match_whole_and_in_any_case(text: str, phrase: str, found: bool) -> None:
    assert says(text, phrase) is found
    assert says_any(text, ("nothing", phrase)) is found


@pytest.mark.parametrize(
    ("text", "restatement", "is_dated"),
    [
        ("The café was near the flat, as of 2026-09-04.", True, True),
        ("AS OF 2026-09-04 they were in Mumbai.", True, True),
        ("The café was near the flat, as of 2026-09-04.", False, False),
        ("The café is near the flat, as of 2026-09-04.", True, False),
        ("The café was near the flat.", True, False),
        ("The café was near the flat on 2026-09-04.", True, False),
        ("The café was near the flat, as of September.", True, False),
        ("The café was near the flat, as of 2026-13-04.", True, False),
        ("The café was near the flat, as of 2026-09-041.", True, False),
        ("Washed in 2026, as of 2026-09-04.", True, False),
    ],
)
def test_history_has_a_day_and_the_past_tense(text: str, restatement: bool, is_dated: bool) -> None:
    claim = Claim(id="1", text=text, status="ACTIVE", restatement=restatement)
    assert dated_restatement(claim) is is_dated


def test_a_day_is_one_of_the_calendar() -> None:
    assert names_a_day("on 2026-02-28.")
    assert not names_a_day("on 2026-02-30.")
    assert not names_a_day("ticket 12026-02-28")
