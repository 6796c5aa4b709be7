from datetime import date

import pytest

from runner.errors import UsageError
from runner.model import Step, Store
from runner.suites.trip_vs_move import (
    KINDS,
    MOVE,
    RECALL,
    TRIP_ALONE,
    Case,
    StoreMissing,
    case_names,
    check_all,
    load_case,
    steps,
)


def told(case: Case, kind: str) -> list[Step]:
    """What a system is told and has to act on."""
    return [step for step in steps(case, kind) if not step.aside]


def test_a_move_run_deposits_every_note_on_its_day_and_consolidates_on_the_last() -> None:
    case = load_case("mid-trip")
    planned = told(case, MOVE)
    assert [step.name for step in planned] == [
        "deposit session-04.md",
        "deposit session-11.md",
        "deposit session-12-moved.md",
        "consolidate",
    ]
    assert [step.day for step in planned] == [
        date(2026, 9, 4),
        date(2026, 10, 8),
        date(2026, 10, 9),
        date(2026, 10, 9),
    ]
    assert [step.snapshot for step in planned] == [True] * 4
    assert [step.judged for step in planned] == [False, True, False, True]
    assert planned[0].payload == {
        "name": "session-04.md",
        "text": case.notes[0].text,
        "day": "2026-09-04",
    }
    assert planned[-1].payload == {}


def test_a_verdict_on_a_move_rests_on_the_store_before_it_as_well() -> None:
    planned = told(load_case("reader"), MOVE)
    assert [(step.name, step.judged) for step in planned] == [
        ("deposit reader-01.md", True),
        ("deposit reader-02-moved.md", False),
        ("consolidate", True),
    ]


@pytest.mark.parametrize(
    ("name", "deposits", "last"),
    [("reader", 1, date(2026, 9, 1)), ("mid-trip", 2, date(2026, 10, 8))],
)
def test_a_trip_alone_run_never_hears_of_the_move(name: str, deposits: int, last: date) -> None:
    case = load_case(name)
    planned = told(case, TRIP_ALONE)
    assert len(planned) == deposits + 1
    assert all(case.move_note not in step.name for step in planned)
    assert [step.snapshot for step in planned] == [True] * (deposits + 1)
    assert [step.judged for step in planned] == [False] * deposits + [True]
    assert planned[-1].day == last


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", case_names())
def test_what_checks_read_is_what_a_verdict_rests_on(name: str, kind: str) -> None:
    case = load_case(name)
    stores = {step.name: Store() for step in told(case, kind)}
    rests_on = {step.name for step in told(case, kind) if step.judged}
    check_all(case, kind, {step: store for step, store in stores.items() if step in rests_on})
    for step in rests_on:
        with pytest.raises(StoreMissing):
            check_all(case, kind, {other: stores[other] for other in stores if other != step})


def test_payloads_tell_a_system_nothing_of_what_is_measured() -> None:
    case = load_case("mid-trip", "leeds-york")
    for step in steps(case, MOVE):
        assert set(step.payload) <= (
            {"question", "top_k"} if step.aside else {"name", "text", "day"}
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", case_names())
def test_every_question_is_asked_after_every_step_on_its_day(name: str, kind: str) -> None:
    case = load_case(name)
    assert len(case.questions) >= 4
    planned = steps(case, kind)
    for place, step in enumerate(planned):
        if step.aside:
            continue
        asked = planned[place + 1 : place + 1 + len(case.questions)]
        assert [one.name for one in asked] == [
            f"recall {question.id} after {step.name}" for question in case.questions
        ]
        assert [one.payload for one in asked] == [
            {"question": case.asked(question), "top_k": 3} for question in case.questions
        ]
        for one in asked:
            assert (one.verb, one.day, one.snapshot, one.aside) == (RECALL, step.day, False, True)
    assert len(planned) == len(told(case, kind)) * (1 + len(case.questions))


def test_there_is_no_third_kind() -> None:
    with pytest.raises(UsageError):
        steps(load_case("reader"), "stay")
