from datetime import UTC, date, datetime
from typing import Any

import pytest

from runner.errors import UsageError
from runner.model import CheckResult, Ending, Outcome, RunRecord, RunSpec
from runner.suites.trip_vs_move import MOVE, TRIP_ALONE, comparable, load_case, score

READER, MID_TRIP = load_case("reader"), load_case("mid-trip")


def run(kind: str, index: int, outcome: str = "passed", **more: Any) -> RunRecord:
    """A run under versions 2 and 3; ``v2`` gives version 2 another verdict."""
    v2 = more.pop("v2", outcome)
    ended = more.pop("kind_of_ending", "checks")
    spec = RunSpec(
        id=more.pop("id", f"{kind}-{index}"),
        suite="trip-vs-move",
        kind=kind,
        index=index,
        **{
            "case": "reader",
            "system": "engine",
            "arm": "scripted",
            "model": "model-a",
            "clock": "note",
            **more,
        },
    )
    return RunRecord(
        spec=spec,
        ending=Ending(outcome=Outcome(outcome), kind=ended),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=1.0,
        checks=(
            CheckResult(version=2, passed=v2 == "passed", checks=()),
            CheckResult(version=3, passed=outcome == "passed", checks=()),
        ),
    )


def protocol(**changed: Any) -> list[RunRecord]:
    """Three move and two trip-alone runs, some of them changed: ``move_2={...}``."""
    keys = [(MOVE, 1), (MOVE, 2), (MOVE, 3), (TRIP_ALONE, 1), (TRIP_ALONE, 2)]
    return [
        run(kind, index, **changed.get(f"{kind}_{index}".replace("-", "_"), {}))
        for kind, index in keys
    ]


def test_the_published_protocol_meets_the_bar_when_all_pass() -> None:
    verdict = score(READER, protocol())
    assert verdict.bar_met is True
    assert verdict.checks_version == 3
    assert verdict.models == ("model-a",)
    assert verdict.mixture == {}
    moves = verdict.tally(MOVE)
    assert (moves.passed, moves.counted, moves.planned, moves.coverage) == (3, 3, 3, 1.0)
    with pytest.raises(KeyError):
        verdict.tally("stay")


def test_one_failure_misses_it_under_the_version_that_sees_it() -> None:
    records = protocol(move_2={"outcome": "failed", "v2": "passed", "kind_of_ending": "vacuous"})
    assert score(READER, records).bar_met is False
    assert score(READER, records, 2).bar_met is True
    assert score(READER, records, 2).tally(MOVE).passed == 3
    assert score(READER, records, 3).tally(MOVE).outcomes == {
        Outcome.PASSED: 2,
        Outcome.FAILED: 1,
    }


@pytest.mark.parametrize("outcome", ["incomplete", "invalid", "errored"])
def test_a_run_without_a_verdict_counts_in_no_rate_and_leaves_the_bar_open(outcome: str) -> None:
    records = protocol(move_2={"outcome": outcome, "kind_of_ending": "why", "v2": "passed"})
    verdict = score(READER, records, 2)
    moves = verdict.tally(MOVE)
    assert (moves.passed, moves.counted, moves.uncounted, moves.missing) == (2, 2, 1, 0)
    assert moves.reasons == {"why": 1}
    assert moves.coverage == pytest.approx(2 / 3)
    assert verdict.bar_met is None
    failed = protocol(
        move_2={"outcome": outcome}, trip_alone_1={"outcome": "failed", "v2": "failed"}
    )
    assert score(READER, failed).bar_met is False


def test_runs_that_are_still_to_come_leave_it_open() -> None:
    planned = {MOVE: 3, TRIP_ALONE: 2}
    verdict = score(READER, protocol()[:4], planned=planned)
    assert verdict.bar_met is None
    assert verdict.tally(TRIP_ALONE).missing == 1
    none_yet = score(READER, [], planned=planned)
    assert none_yet.bar_met is None
    assert none_yet.models == ()
    assert none_yet.tally(MOVE).coverage == 0.0


@pytest.mark.parametrize("records", [protocol()[:4], [*protocol(), run(MOVE, 4)]])
def test_other_counts_have_no_bar(records: list[RunRecord]) -> None:
    verdict = score(READER, records)
    assert verdict.bar_met is None
    assert "3 move and 2 trip-alone" in verdict.bar_note


def test_a_mixture_is_named_and_has_no_bar() -> None:
    pins = {"pins": {"update": "model-b", "extraction": "model-a"}}
    names = ("move_1", "move_2", "move_3", "trip_alone_1", "trip_alone_2")
    verdict = score(READER, protocol(**dict.fromkeys(names, pins)))
    assert verdict.mixture == {"update": "model-b"}
    assert verdict.models == ("model-a", "model-b")
    assert verdict.bar_met is None
    two = score(READER, protocol(move_1={"model": "model-b"}))
    assert (two.bar_met, two.models) == (None, ("model-a", "model-b"))
    same = score(READER, protocol(**{name: {"pins": {"update": "model-a"}} for name in names}))
    assert same.bar_met is True


def test_version_1_has_no_bar() -> None:
    records = [
        record.model_copy(
            update={
                "spec": record.spec.model_copy(update={"case": "mid-trip"}),
                "checks": (CheckResult(version=1, passed=True, checks=()), *record.checks),
            }
        )
        for record in protocol()
    ]
    assert score(MID_TRIP, records, 1).bar_met is None
    assert score(MID_TRIP, records, 1).tally(MOVE).passed == 3
    assert score(MID_TRIP, records, 2).bar_met is True


@pytest.mark.parametrize(
    ("records", "version", "said"),
    [
        ([], None, "no run"),
        (protocol(), 1, "version 1"),
        ([run(MOVE, 1, case="mid-trip")], None, "not of reader"),
        ([run(MOVE, 1, fixture_variant="leeds-york")], None, "not of reader"),
        ([run(MOVE, 1), run(MOVE, 1)], None, "twice"),
        ([run(MOVE, 1), run(MOVE, 1, id="another")], None, "twice"),
        ([run(MOVE, 1).model_copy(update={"checks": ()})], None, "no result"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    records: list[RunRecord], version: int | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        score(READER, records, version)


def test_a_variant_is_scored_apart() -> None:
    case = load_case("reader", "leeds-york")
    records = [run(MOVE, 1, fixture_variant="leeds-york")]
    assert score(case, records).fixture_variant == "leeds-york"


@pytest.mark.parametrize(
    ("clock", "today", "holds"),
    [
        ("note", date(2030, 1, 1), True),
        ("now", date(2026, 10, 14), True),
        ("now", date(2026, 10, 15), False),
        ("2026-10-13", date(2030, 1, 1), True),
        ("2026-12-01", date(2026, 1, 1), False),
    ],
)
def test_a_later_day_is_another_test_in_the_mid_trip_case(
    clock: str, today: date, holds: bool
) -> None:
    assert (comparable(MID_TRIP, clock, today) is None) is holds
    assert comparable(READER, clock, today) is None
