from datetime import date
from typing import Any

import pytest

from runner.errors import UsageError
from runner.model import Claim, Outcome, RestatementExamined, Store
from runner.suites.trip_vs_move import (
    MOVE,
    TRIP_ALONE,
    VACUOUS,
    StoreMissing,
    check,
    check_all,
    ending,
    load_case,
)

READER = load_case("reader")
MID_TRIP = load_case("mid-trip")
HOME, TRIP, MOVED = MID_TRIP.home_note, MID_TRIP.trip_note, MID_TRIP.move_note


def claim(text: str, source: str, **more: Any) -> Claim:
    return Claim(id=text, text=text, sources=(source,), **{"status": "ACTIVE", **more})


RESIDENCE = claim("The user lives in Delhi.", HOME)
WEEK = claim("The user is in Mumbai for a week.", TRIP)
MOVE_CLAIM = claim("The user moved to Mumbai.", MOVED)
WALK = claim(
    "The Canteen was a ten-minute walk from the flat in Delhi, where they lived, as of 2026-09-04.",
    HOME,
    restatement=True,
)
FLIGHT = claim(
    "As of 2026-10-08 the user was to fly back to Delhi on 2026-10-15.", TRIP, restatement=True
)
GOOD = (MOVE_CLAIM, WALK, FLIGHT, claim("The user is vegetarian.", HOME))


def failing(version: int, *claims: Claim, events: tuple[RestatementExamined, ...] = ()) -> set[str]:
    """Which checks of a mid-trip move fail on these claims."""
    stores = {
        "deposit session-11.md": Store(claims=(RESIDENCE,)),
        "consolidate": Store(claims=claims, events=events),
    }
    result = check(MID_TRIP, MOVE, stores, version)
    failed = {check.id for check in result.checks if not check.passed}
    assert result.passed is not bool(failed)
    return failed


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_good_store_passes(version: int) -> None:
    assert failing(version, *GOOD) == set()


@pytest.mark.parametrize(
    ("text", "source", "restatement", "v1", "v2"),
    [
        ("The user lives in Delhi.", HOME, False, {"i"}, {"i"}),
        ("The user lives in Delhi.", MOVED, False, {"i"}, {"i"}),
        ("The user resides in Delhi.", HOME, False, set(), {"i"}),
        ("Delhi is where their residence is.", HOME, False, set(), {"i"}),
        ("The user's flat is in Delhi.", HOME, False, {"i"}, {"i"}),
        ("They go back to Delhi next week.", TRIP, False, {"i"}, {"i"}),
        ("The canteen is in Delhi.", HOME, False, set(), set()),
        ("The user lived in Delhi.", HOME, False, set(), set()),
        ("The user was living in Delhi.", HOME, False, set(), {"i"}),
        ("The user lives in Delhi.", HOME, True, set(), {"i"}),
        ("As of 2026-09-04 the user lives in Delhi.", HOME, True, set(), {"i"}),
        ("The user was at home in Delhi.", HOME, True, set(), {"i"}),
        ("The user plans to fly back to Delhi.", TRIP, True, {"i"}, {"i"}),
        ("The user has a flight on Thursday.", TRIP, True, {"i"}, set()),
        ("The user has a flight on Thursday.", TRIP, False, set(), set()),
        ("The user is in Mumbai for a week.", TRIP, False, {"iii"}, {"iii"}),
        ("The user is in Mumbai for a week.", TRIP, True, set(), {"iii"}),
        ("The user is in Mumbai for a week.", HOME, False, set(), set()),
        ("The user is on a work trip.", TRIP, False, {"iii"}, {"iii"}),
        ("The user is on a trip.", TRIP, False, set(), {"iii"}),
        ("The user is visiting Mumbai.", TRIP, False, set(), {"iii"}),
        ("The user is in Mumbai temporarily.", TRIP, False, set(), {"iii"}),
        ("The user was in Mumbai on 2026-10-08.", TRIP, False, set(), set()),
        ("The user was in Mumbai for a week, as of 2026-10-08.", TRIP, True, set(), set()),
        ("The user was in Mumbai for a week, as of 2026-10-08.", TRIP, False, {"iii"}, {"iii"}),
        ("The user stays at a hotel in Bandra.", TRIP, False, set(), set()),
    ],
)
def test_what_one_more_claim_breaks(
    text: str, source: str, restatement: bool, v1: set[str], v2: set[str]
) -> None:
    more = claim(text, source, restatement=restatement)
    assert failing(1, *GOOD, more) == v1
    assert failing(2, *GOOD, more) == v2
    assert failing(3, *GOOD, more) == v2


def test_only_version_1_does_not_ask_for_the_move() -> None:
    assert failing(1) == set()
    assert failing(2) == {"iv"}
    elsewhere = claim("The user moved to Mumbai.", TRIP)
    assert failing(2, elsewhere) == {"iv"}
    assert failing(2, claim("The user moved.", MOVED)) == {"iv"}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_restatement_must_stand(version: int) -> None:
    idle = WALK.model_copy(update={"status": "SUPERSEDED"})
    assert failing(version, MOVE_CLAIM, idle) == {"ii"}


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    ("outcome", "contradicts", "broken"),
    [
        ("kept_back", "move", {"ii"}),
        ("kept_back", "another", set()),
        ("kept_back", None, set()),
        ("restated", "move", set()),
        ("independent", None, set()),
    ],
)
def test_a_restatement_held_by_the_winner_breaks_the_second_check(
    version: int, outcome: Any, contradicts: str | None, broken: set[str]
) -> None:
    event = RestatementExamined(
        claim="walk", anchor="home", retired_by="move", contradicts=contradicts, outcome=outcome
    )
    assert failing(version, *GOOD, events=(event,)) == broken


def _reader_move(week_ends: date | None) -> bool:
    week = claim("The user is in Mumbai for a week.", "reader-01.md", valid_until=week_ends)
    moved = claim("The user moved to Mumbai.", "reader-02-moved.md")
    return check(READER, MOVE, {"consolidate": Store(claims=(week, moved))}, 2).passed


@pytest.mark.parametrize(
    ("ends", "over"),
    [
        (None, False),
        (date(2026, 9, 8), True),
        (date(2026, 10, 1), True),
        (date(2026, 10, 2), False),
    ],
)
def test_an_end_date_by_the_move_ends_the_readers_week(ends: date | None, over: bool) -> None:
    assert _reader_move(ends) is over


def test_an_end_date_never_ends_the_week_of_the_mid_trip_case() -> None:
    ended = WEEK.model_copy(update={"valid_until": date(2026, 10, 8)})
    assert failing(2, *GOOD, ended) == {"iii"}


@pytest.mark.parametrize(
    ("claims", "v1", "v2"),
    [
        ((RESIDENCE, WEEK), set(), set()),
        ((), {"a"}, {"a", "b"}),
        ((WEEK,), {"a"}, {"a", "b"} - {"b"}),
        ((RESIDENCE,), set(), {"b"}),
        ((claim("Their flat is in Delhi.", HOME), WEEK), {"a"}, set()),
        ((claim("The user lives in Delhi.", TRIP), WEEK), {"a"}, {"a"}),
        ((RESIDENCE, claim("The user is in Mumbai.", HOME)), set(), {"b"}),
        ((RESIDENCE, WEEK.model_copy(update={"restatement": True})), set(), {"b"}),
        ((RESIDENCE, WEEK.model_copy(update={"status": "SUPERSEDED"})), set(), {"b"}),
    ],
)
def test_trip_alone(claims: tuple[Claim, ...], v1: set[str], v2: set[str]) -> None:
    stores = {"consolidate": Store(claims=claims)}
    for version, expected in ((1, v1), (2, v2), (3, v2)):
        result = check(MID_TRIP, TRIP_ALONE, stores, version)
        assert {check.id for check in result.checks if not check.passed} == expected


def test_one_claim_may_satisfy_both_halves() -> None:
    both = claim("The user lives in Delhi but is in Mumbai for a week.", "reader-01.md")
    result = check(READER, TRIP_ALONE, {"consolidate": Store(claims=(both,))}, 2)
    assert result.passed
    assert [check.evidence for check in result.checks] == [
        (
            '"The user lives in Delhi but is in Mumbai for a week." '
            "(The user lives in Delhi but is in Mumbai for a week.)",
        )
    ] * 2


@pytest.mark.parametrize(
    "before",
    [
        (),
        (WEEK,),
        (RESIDENCE.model_copy(update={"status": "SUPERSEDED"}),),
        (claim("The user lives in Delhi.", TRIP),),
        (claim("The canteen is in Delhi.", HOME),),
    ],
)
def test_a_move_away_from_a_home_that_was_never_known_is_vacuous(
    before: tuple[Claim, ...],
) -> None:
    stores = {
        "deposit session-11.md": Store(claims=before),
        "consolidate": Store(claims=(MOVE_CLAIM,)),
    }
    results = check_all(MID_TRIP, MOVE, stores)
    assert [(result.version, result.passed, result.reason) for result in results] == [
        (1, True, None),
        (2, True, None),
        (3, False, VACUOUS),
    ]
    assert ending(results).kind == VACUOUS
    assert ending(results).outcome is Outcome.FAILED
    assert "(known)" in ending(results).detail
    assert ending(results, 2).outcome is Outcome.PASSED


def test_places_of_two_words_and_of_the_variant_are_what_is_looked_for() -> None:
    case = load_case("reader", "new-york-san-diego")
    old = claim("Marcus lives in New York.", case.home_note)
    moved = claim("Marcus moved to San Diego.", case.move_note)
    before = {"deposit reader-01.md": Store(claims=(old,))}
    gone = before | {"consolidate": Store(claims=(moved,))}
    kept = before | {"consolidate": Store(claims=(moved, old))}
    assert check(case, MOVE, gone, 3).passed
    assert not check(case, MOVE, kept, 3).passed
    mumbai = {"consolidate": Store(claims=(claim("They moved to Mumbai.", case.move_note),))}
    assert not check(case, MOVE, before | mumbai, 3).passed


def test_what_cannot_be_checked_has_no_verdict() -> None:
    with pytest.raises(UsageError, match="version 1"):
        check(READER, MOVE, {"consolidate": Store()}, 1)
    with pytest.raises(UsageError, match="kind"):
        check(READER, "stay", {"consolidate": Store()}, 2)
    with pytest.raises(StoreMissing, match="consolidate"):
        check(READER, MOVE, {}, 2)
    with pytest.raises(StoreMissing, match=r"deposit reader-01\.md"):
        check(READER, MOVE, {"consolidate": Store()}, 3)
    with pytest.raises(KeyError):
        ending(check_all(READER, TRIP_ALONE, {"consolidate": Store()}), 1)


def test_an_ending_says_which_checks_failed() -> None:
    results = check_all(READER, TRIP_ALONE, {"consolidate": Store()})
    failed = ending(results)
    assert failed.kind == "checks"
    assert failed.detail == "(a) The home stays in Delhi; (b) The trip to Mumbai is current"
    good = Store(claims=(claim("They live in Delhi, in Mumbai for a week.", "reader-01.md"),))
    assert ending(check_all(READER, TRIP_ALONE, {"consolidate": good})).detail == ""
