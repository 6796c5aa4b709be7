from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.runs.clock import NOON, Clock

PUBLISHED = date(2026, 10, 14)
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
DAYS = st.dates(date(2000, 1, 1), date(2037, 12, 31))


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("note", "note"),
        ("now", "now"),
        ("published", "2026-10-14"),
        ("2026-10-13", "2026-10-13"),
        ("20261013", "2026-10-13"),
    ],
)
def test_what_is_a_clock(text: str, mode: str) -> None:
    assert Clock.parse(text, published=PUBLISHED) == Clock(mode)


@pytest.mark.parametrize("text", ["", "noon", "2026-13-01", "2026-02-30", "Note", "14.10.2026"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="--clock"):
        Clock.parse(text, published=PUBLISHED)


def test_the_wall_clock_is_left_alone() -> None:
    clock = Clock("now")
    assert clock.day(PUBLISHED) is None
    assert clock.offset(PUBLISHED, now=NOW, not_before=NOW) is None


def test_a_step_without_a_day_is_left_alone_on_the_clock_of_notes() -> None:
    assert Clock("note").offset(None, now=NOW, not_before=None) is None


def test_one_day_for_all_or_each_its_own() -> None:
    note = date(2026, 9, 1)
    assert Clock("note").day(note) == note
    assert Clock("2026-10-14").day(note) == PUBLISHED


@given(DAYS)
def test_the_first_step_starts_at_noon(day: date) -> None:
    offset = Clock("note").offset(day, now=NOW, not_before=None)
    assert offset is not None
    assert NOW + timedelta(seconds=offset) == datetime.combine(day, NOON)


@given(
    st.lists(st.tuples(DAYS, st.floats(0, 90_000)), min_size=2, max_size=6),
    st.sampled_from(["note", "2026-10-14"]),
)
def test_no_step_starts_before_the_system_s_clock_has_come(
    steps: list[tuple[date, float]], mode: str
) -> None:
    """However long steps take, and whatever days they are asked to be on, in whatever order."""
    clock, now, shows = Clock(mode), NOW, None
    for day, seconds in steps:
        offset = clock.offset(day, now=now, not_before=shows)
        assert offset is not None
        start = now + timedelta(seconds=offset)
        assert shows is None or start >= shows
        wanted = clock.day(day)
        assert wanted is not None
        if shows is None or shows <= datetime.combine(wanted, NOON):
            assert start == datetime.combine(wanted, NOON)
        now += timedelta(seconds=seconds)
        shows = now + timedelta(seconds=offset)
