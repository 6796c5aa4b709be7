from datetime import date
from typing import Any

from runner.model import Claim, Store
from runner.suites.trip_vs_move import MOVE, TRIP_ALONE, load_case, observe

READER = load_case("reader")
FIRST, SECOND = "reader-01.md", "reader-02-moved.md"


def claim(text: str, source: str = FIRST, **more: Any) -> Claim:
    return Claim(id=text, text=text, sources=(source,), **{"status": "ACTIVE", **more})


def seen(kind: str, *claims: Claim) -> dict[str, list[str]]:
    """The texts under every observation."""
    found = {}
    for observation in observe(READER, kind, {"consolidate": Store(claims=claims)}):
        assert isinstance(observation.value, list)
        texts = []
        for brief in observation.value:
            assert isinstance(brief, dict)
            assert {"id", "text", "status"} <= set(brief)
            texts.append(str(brief["text"]))
        found[observation.id] = texts
    return found


def test_a_store_that_was_never_read_shows_nothing() -> None:
    assert observe(READER, MOVE, {"deposit reader-01.md": Store()}) == ()


def test_the_end_date_and_its_day() -> None:
    week = claim("The user is in Mumbai for a week.", valid_until=date(2026, 9, 8))
    endless = claim("The user is in Mumbai.")
    elsewhere = claim("The lease ends.", SECOND, valid_until=date(2026, 12, 1))
    assert seen(TRIP_ALONE, week, endless, elsewhere)["end_date"] == [week.text]
    (observation,) = (
        one
        for one in observe(READER, MOVE, {"consolidate": Store(claims=(week,))})
        if one.id == "end_date"
    )
    assert observation.value == [
        {"id": week.id, "text": week.text, "status": "ACTIVE", "valid_until": "2026-09-08"}
    ]


def test_a_dated_request_that_stands_after_the_move_alone() -> None:
    request = claim("The user wanted dinner in Mumbai on the evening of 2026-09-01.")
    undated = claim("The user wants dinner tonight.")
    retired = claim("The user wanted dinner on 2026-09-01.", status="SUPERSEDED")
    assert seen(MOVE, request, undated, retired)["dated_request"] == [request.text]
    assert "dated_request" not in seen(TRIP_ALONE, request)


def test_what_the_move_retired_and_what_it_had_no_business_with() -> None:
    moved = claim("The user moved to Mumbai.", SECOND)
    home = claim("The user lives in Delhi.", status="SUPERSEDED", retired_by=moved.id)
    other_note = claim("The user is vegetarian.", "x.md", status="SUPERSEDED", retired_by=moved.id)
    by_another = claim("The user sings.", status="SUPERSEDED", retired_by="another")
    found = seen(MOVE, moved, home, other_note, by_another)
    assert set(found["retired_by_move"]) == {home.text, other_note.text}
    assert found["retired_elsewhere"] == [other_note.text]
    assert found["current"] == [moved.text]


def test_history_is_not_current() -> None:
    walk = claim(
        "The canteen was near the flat in Delhi, where they lived, as of 2026-09-01.",
        restatement=True,
    )
    found = seen(MOVE, walk)
    assert found["dated_history"] == found["home_as_history"] == [walk.text]
    assert found["current"] == []


def test_how_the_sentence_was_split_and_in_which_tense() -> None:
    both = claim("The user lives in Delhi but is in Mumbai for a week.")
    past = claim("The user was in Mumbai on 2026-09-01.")
    found = seen(MOVE, both, past)
    assert found["both_places"] == [both.text]
    assert found["past_week"] == [past.text]
