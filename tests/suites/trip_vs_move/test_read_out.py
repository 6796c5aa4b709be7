from datetime import UTC, date, datetime
from typing import Any

import pytest

from runner.model import Claim, StepRecord, Store
from runner.suites.suite import Material
from runner.suites.trip_vs_move import (
    KINDS,
    MOVE,
    READ_OUT,
    TRIP_ALONE,
    Readout,
    case_names,
    check,
    load_case,
    read_out,
    read_outs,
    steps,
)
from runner.suites.trip_vs_move.suite import TripVsMove

READER = load_case("reader")
TOLD = StepRecord(name="deposit reader-01.md", verb="deposit", day=date(2026, 9, 1), seconds=0)
HOME = "recall home after deposit reader-01.md"


def recalled(result: Any, name: str = HOME, **more: Any) -> StepRecord:
    usual = {"verb": "recall", "day": date(2026, 9, 4), "seconds": 0, "result": result}
    return StepRecord(name=name, **{**usual, **more})


def one(result: Any, **more: Any) -> Readout:
    """The read-out of one question."""
    (found,) = read_outs(read_out(READER, (TOLD, recalled(result, **more))))
    return found


def said(text: str, day: str | None = "2026-09-01", **more: Any) -> dict[str, Any]:
    return {"text": text, "day": day, "score": None, "source": None, **more}


def test_the_first_statement_its_age_and_the_home_it_names() -> None:
    lives = said("The user lives in Delhi.", score=0.5, source="reader-01.md")
    found = one({"statements": [lives, said("The user is in Mumbai.")]})
    assert (found.question, found.asked) == ("home", "Where does the user live?")
    assert (found.after, found.day) == (TOLD.name, date(2026, 9, 4))
    assert (found.found, found.error) == (2, None)
    assert found.first is not None
    assert (found.first.text, found.first.age_days) == ("The user lives in Delhi.", 3)
    assert (found.first.names_before, found.first.names_after) == (True, False)
    assert (found.first.score, found.first.source) == (0.5, "reader-01.md")


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("The user moved to MUMBAI.", False, True),
        ("The user moved from Delhi to Mumbai.", True, True),
        ("The user likes Delhiwala sweets.", False, False),
    ],
)
def test_places_are_told_by_the_case_s_own_words(text: str, before: bool, after: bool) -> None:
    first = one({"statements": [said(text)]}).first
    assert first is not None
    assert (first.names_before, first.names_after) == (before, after)


def test_an_age_is_told_only_where_both_days_are_known() -> None:
    undated = one({"statements": [said("a", None)]}).first
    assert undated is not None
    assert undated.age_days is None
    noon = datetime(2026, 9, 3, 12, tzinfo=UTC)
    by_the_system = one({"statements": [said("a")]}, day=None, saw=noon)
    assert by_the_system.day == date(2026, 9, 3)
    assert by_the_system.first is not None
    assert by_the_system.first.age_days == 2
    nowhen = one({"statements": [said("a")]}, day=None).first
    assert nowhen is not None
    assert nowhen.age_days is None
    tomorrow = one({"statements": [said("a", "2026-09-05")]}).first
    assert tomorrow is not None
    assert tomorrow.age_days == -1


def test_nothing_found_is_no_error_and_an_error_is_told() -> None:
    nothing = one({"statements": []})
    assert (nothing.found, nothing.first, nothing.error) == (0, None, None)
    assert one({}, error="degraded: no encoder").error == "degraded: no encoder"


@pytest.mark.parametrize(
    ("result", "where"),
    [
        ({}, "statements:"),
        ({"statements": "The user lives in Delhi."}, "statements:"),
        ({"statements": [{"day": "2026-09-01"}]}, "statements.0.text"),
        ({"statements": [said("")]}, "statements.0.text"),
        ({"statements": [said("a", "the day before")]}, "statements.0.day"),
        ({"statements": [said("a"), said("b", score="high")]}, "statements.1.score"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(result: Any, where: str) -> None:
    found = one(result)
    assert (found.found, found.first) == (0, None)
    assert found.error is not None
    assert where in found.error


def test_what_else_a_system_says_of_a_statement_is_let_be() -> None:
    assert one({"statements": [said("a", id="7")]}).error is None


def test_a_system_that_was_never_asked_is_not_told_of() -> None:
    assert read_out(READER, (TOLD,)) == ()
    foreign = recalled({"statements": []}, "recall shoe after deposit reader-01.md")
    assert read_out(READER, (TOLD, foreign)) == ()
    assert read_outs(()) == ()


def test_they_are_observations_of_the_suite_and_follow_from_the_records_alone() -> None:
    records = (TOLD, recalled({"statements": [said("The user lives in Delhi.")]}))
    seen = TripVsMove().observe(READER, MOVE, Material({}, records))
    assert [observation.id for observation in seen] == [READ_OUT]
    again = [StepRecord.model_validate_json(record.model_dump_json()) for record in records]
    assert TripVsMove().observe(READER, MOVE, Material({}, tuple(again))) == seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", case_names())
def test_questions_hold_for_every_variant_and_name_neither_place(name: str, kind: str) -> None:
    base = load_case(name)
    for variant in (None, *base.variants):
        case = load_case(name, variant)
        assert [question.id for question in case.questions] == [q.id for q in base.questions]
        for step in steps(case, kind):
            if step.aside:
                question = step.payload["question"]
                assert "{" not in question
                assert case.home not in question
                assert case.away not in question


# ---------------------------------------------------------------- stores without statuses


def stated(*said: tuple[str, str]) -> Store:
    """A store that only ever adds: every statement is as current as the day it came in."""
    return Store(
        claims=tuple(
            Claim(id=str(number), text=text, status="ACTIVE", sources=(source,))
            for number, (text, source) in enumerate(said)
        )
    )


BEFORE = (
    ("The user lives in Delhi.", "reader-01.md"),
    ("The user is in Mumbai for a week.", "reader-01.md"),
)
AFTER = (*BEFORE, ("The user moved to Mumbai.", "reader-02-moved.md"))


@pytest.mark.parametrize("version", READER.checks_versions)
def test_no_check_is_waived_for_a_store_of_statements(version: int) -> None:
    """It keeps the home and the trip, so it passes the first half and fails the second."""
    stores = {"deposit reader-01.md": stated(*BEFORE), "consolidate": stated(*AFTER)}
    moved = check(READER, MOVE, stores, version)
    assert not moved.passed
    assert {one.id for one in moved.checks if not one.passed} == {"i", "iii"}
    alone = check(READER, TRIP_ALONE, {"consolidate": stated(*BEFORE)}, version)
    assert alone.passed
    assert len(alone.checks) == 2


def test_a_store_of_statements_that_takes_the_old_ones_out_passes() -> None:
    gone = [claim.model_copy(update={"status": "DELETED"}) for claim in stated(*BEFORE).claims]
    moved = stated(("The user moved to Mumbai.", "reader-02-moved.md")).claims
    stores = {
        "deposit reader-01.md": stated(*BEFORE),
        "consolidate": Store(claims=(*gone, *moved)),
    }
    assert check(READER, MOVE, stores, 3).passed
