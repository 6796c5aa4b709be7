"""Faults seen in the harness of the published runs: this runner has none of them.

Each has a short test here, or names the tests elsewhere that show it.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.model import Call, GatewayRecord, ImageIdentity, Outcome, RunRecord, StepRecord
from runner.prices import UnpricedModel
from runner.runs.keep import Keep
from runner.runs.protocol import check
from runner.runs.run import Attempt
from runner.runs.watch import Unwatched
from tests._named import missing
from tests.runs._memory import Habit, MemoryBox, MemorySandbox, Verb, fail
from tests.runs._protocols import PRICES, one, protocol

ELSEWHERE = {
    3: (
        "suites/trip_vs_move/test_checks.py"
        "::test_a_move_away_from_a_home_that_was_never_known_is_vacuous",
    ),
    4: (
        "runs/test_run.py::test_money_is_looked_at_after_the_last_step_too",
        "containers/test_endings.py::test_a_ceiling_is_never_passed",
        "containers/test_live.py"
        "::test_a_total_is_never_passed_and_runs_it_cannot_hold_are_not_started",
    ),
    6: (
        "gateway/test_live.py::test_another_model_that_serves_ends_the_run_and_is_paid",
        "containers/test_live.py::test_what_the_provider_fails_is_no_verdict",
    ),
    7: (
        "runs/test_run.py::test_a_step_that_takes_too_long",
        "reports/test_produce.py::test_a_run_is_on_disk_the_moment_it_ends",
        "reports/test_produce.py::test_a_half_written_report_is_finished_and_keeps_what_it_had",
        "commands/test_app.py::test_an_output_that_cannot_be_written_is_found_first",
    ),
    8: (
        "containers/test_signals.py"
        "::test_after_sigkill_all_stops_by_itself_and_the_next_start_removes_it",
        "containers/test_live.py"
        "::test_what_a_killed_bench_had_in_flight_is_settled_and_said_at_the_next_start",
    ),
    9: (
        "commands/test_app.py::test_a_relative_output_is_where_it_says",
        "commands/test_app.py::test_what_is_typed_wrong_starts_nothing",
    ),
    10: (
        "reports/test_rescore.py::test_a_forgery_with_digests_made_anew_is_refused",
        "reports/test_files.py::test_a_run_of_another_protocol_is_refused",
        "reports/test_files.py::test_runs_that_were_not_planned_or_come_twice_are_refused",
    ),
    11: (
        "containers/test_secrets.py::test_the_key_is_at_the_gateways_door_and_nowhere_else",
        "containers/test_secrets.py::test_nothing_of_the_users_environment_reaches_a_run",
    ),
}
HERE = {1, 2, 5, 12}


@pytest.mark.parametrize("fault", ELSEWHERE)
def test_the_others_are_shown_elsewhere(fault: int) -> None:
    assert missing(list(ELSEWHERE[fault])) == []


def test_none_is_left_out() -> None:
    assert HERE | set(ELSEWHERE) == set(range(1, 13))


def run(folder: Path, **habits: Habit) -> RunRecord:
    return Attempt(one(), MemorySandbox(folder, **habits), watch=Unwatched(), keep=Keep(None)).run()


def _another_call(**how: Any) -> Habit:
    """A system that makes one more call, to which this happens, and goes on regardless."""

    def habit(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        result = verb(request)
        box.door._calls += 1
        usual: dict[str, Any] = {
            "seq": box.door._calls,
            "step": "consolidate",
            "purpose": "contradiction",
            "requested_model": "claude-sonnet-5-5",
            "served_model": "claude-sonnet-5-5",
            "outcome": "answered",
            "prompt_sha256": "a" * 64,
        }
        call = Call(**{**usual, **how})
        box.door.emit({"event": "call", "call": call.model_dump(mode="json")})
        return result

    return habit


@pytest.mark.parametrize(
    "how",
    [
        {"outcome": "failed", "error": "http_529", "served_model": None},
        {"stop_reason": "refusal"},
        {"stop_reason": "max_tokens"},
    ],
)
def test_1_what_a_provider_failed_to_answer_is_not_scored(
    how: dict[str, Any], tmp_path: Path
) -> None:
    record = run(tmp_path, consolidate=_another_call(**how))
    assert record.ending.outcome is Outcome.ERRORED
    assert record.checks == ()
    assert "contradiction in consolidate" in record.ending.detail
    said = how.get("error") or how["stop_reason"]
    assert any(said in warning for warning in record.warnings)


def test_1_what_it_answered_in_the_end_is(tmp_path: Path) -> None:
    record = run(tmp_path, consolidate=_another_call(stop_reason="end_turn"))
    assert record.ending.outcome is Outcome.PASSED


def test_2_a_system_without_its_encoder_is_not_scored(tmp_path: Path) -> None:
    record = run(tmp_path, describe=fail("degraded", "the encoder is missing"))
    assert (record.ending.outcome, record.ending.kind) == (Outcome.ERRORED, "degraded")
    assert record.checks == ()


def test_5_a_model_without_a_price_never_starts() -> None:
    with pytest.raises(UnpricedModel, match="--price unheard-of="):
        check(protocol(model="unheard-of", max_usd=Decimal(1)), PRICES)
    with pytest.raises(UnpricedModel):
        check(protocol(pins={"update": "unheard-of"}), PRICES)


def test_12_the_report_leaves_nothing_out_that_was_missed() -> None:
    assert {"seconds", "encoder", "usage", "calls", "warnings"} <= RunRecord.model_fields.keys()
    assert {"seconds", "saw"} <= StepRecord.model_fields.keys()
    assert {"packages", "config_digest", "layers"} <= ImageIdentity.model_fields.keys()
    assert {
        "prompt_sha256", "requested_model", "served_model", "request_id", "error", "retries",
        "latency_ms",
    } <= Call.model_fields.keys()  # fmt: skip
    assert {"way_out", "prices", "tables", "cassette_sha256"} <= GatewayRecord.model_fields.keys()
