"""One run, in a sandbox of threads: what goes well, and everything that can go wrong."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.model import Escape, Limit, Outcome, RunRecord
from runner.runs.clock import Clock
from runner.runs.job import Job
from runner.runs.keep import Keep
from runner.runs.run import Attempt
from runner.runs.sandbox.protocol import PeakMemory
from runner.runs.watch import Unwatched
from runner.suites.suite import Material
from tests.runs._memory import (
    Habit,
    MemoryBox,
    MemorySandbox,
    Verb,
    die,
    fail,
    hang,
    says,
)
from tests.runs._protocols import Seen, one

Run = Callable[..., RunRecord]


@pytest.fixture
def sandbox(tmp_path: Path) -> MemorySandbox:
    return MemorySandbox(tmp_path)


@pytest.fixture
def run(sandbox: MemorySandbox) -> Run:
    def go(job: Job | None = None, **habits: Habit) -> RunRecord:
        sandbox.habits = habits
        record = Attempt(job or one(), sandbox, watch=Unwatched(), keep=Keep(None)).run()
        assert not sandbox.opened, "the box was left open"
        # What cannot be written and read again is no record.
        assert RunRecord.model_validate_json(record.model_dump_json()) == record
        return record

    return go


def test_a_move_is_judged_by_what_the_store_held(run: Run) -> None:
    record = run()
    assert record.ending.outcome is Outcome.PASSED
    told = [step for step in record.steps if step.verb != "recall"]
    assert [step.name for step in told] == [
        "deposit reader-01.md",
        "deposit reader-02-moved.md",
        "consolidate",
    ]
    assert [(seen.step, seen.sha256) for seen in record.snapshots] == [
        (step.name, step.snapshot) for step in told
    ]
    assert {result.version for result in record.checks} == {2, 3}
    assert record.cost_usd == sum(call.cost_usd for call in record.calls) > 0
    assert [call.seq for call in record.calls] == list(range(1, 9))
    assert record.log_tail == ""
    assert record.final == record.snapshots[-1].store


def test_those_who_look_on_are_told_of_everything(sandbox: MemorySandbox) -> None:
    seen = Seen()
    record = Attempt(one(), sandbox, watch=seen, keep=Keep(None)).run()
    assert seen.begun == ["reader-move-1"]
    assert [name for _, name in seen.steps] == [step.name for step in record.steps]
    assert tuple(seen.calls) == record.calls
    assert seen.records == [record]


# ---------------------------------------------------------------- the clock


def test_each_step_sees_the_day_of_its_note(run: Run) -> None:
    record = run()
    first, move = date(2026, 9, 1), date(2026, 10, 1)
    told = [step for step in record.steps if step.verb != "recall"]
    assert [step.day for step in told] == [first, move, move]
    assert [step.saw.date() if step.saw else None for step in record.steps] == [
        step.day for step in record.steps
    ]
    assert record.warnings == ()


def test_a_second_step_on_the_same_day_goes_on_where_the_clock_was(
    sandbox: MemorySandbox, run: Run
) -> None:
    """A snapshot takes a while; its time must not be given to the system twice."""

    def slow(_box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        time.sleep(0.05)
        return verb(request)

    record = run(one(clock=Clock("2026-10-14")), snapshot=slow)
    assert record.ending.outcome is Outcome.PASSED
    offsets = [offset or 0.0 for offset in sandbox.boxes["reader-move-1"].door.offsets]
    assert len(offsets) == len(record.steps) > 3
    assert offsets == pytest.approx([offsets[0]] * len(offsets), abs=1e-3)


def test_the_wall_clock_is_not_touched(sandbox: MemorySandbox, run: Run) -> None:
    record = run(one(clock=Clock("now")))
    assert sandbox.boxes["reader-move-1"].door.offsets == [None] * len(record.steps)
    assert {step.day for step in record.steps} == {None}
    for step in record.steps:
        assert step.saw is not None
        assert abs(step.saw - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_system_that_does_not_obey_its_clock_is_named(sandbox: MemorySandbox, run: Run) -> None:
    sandbox.mute_clock = True
    record = run()
    assert record.ending.outcome is Outcome.PASSED
    assert sum("does not say what day" in warning for warning in record.warnings) == 3


def test_a_system_on_another_day_is_named(run: Run) -> None:
    def elsewhere(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        result = verb(request)
        box.door.offset_s = 0.0
        return result

    record = run(deposit=elsewhere)
    today = str(datetime.now(UTC).date())
    assert sum(today in warning for warning in record.warnings) >= 2


# ---------------------------------------------------------------- endings


@pytest.mark.parametrize(
    ("verb", "habit", "outcome", "kind"),
    [
        ("describe", fail("internal"), "errored", "driver"),
        ("describe", says({"encoder": 5}), "errored", "driver"),
        ("deposit", fail("provider"), "errored", "provider"),
        ("deposit", fail("unparseable_reply"), "errored", "unparseable_reply"),
        ("deposit", fail("gateway_refused"), "invalid", "refused_request"),
        ("consolidate", fail("degraded"), "errored", "degraded"),
        ("consolidate", die, "errored", "container_died"),
        ("snapshot", fail("internal"), "errored", "driver"),
        ("snapshot", says({}), "errored", "driver"),
        ("snapshot", says({"path": 7}), "errored", "driver"),
    ],
)
def test_what_a_system_does_wrong_is_its_ending(
    run: Run, verb: str, habit: Habit, outcome: str, kind: str
) -> None:
    record = run(**{verb: habit})
    assert (record.ending.outcome, record.ending.kind) == (outcome, kind)
    assert record.checks == ()
    assert record.log_tail == "the log of the system\n"
    if verb in ("deposit", "consolidate", "snapshot"):
        assert record.steps[-1].error


def test_a_step_that_takes_too_long(run: Run) -> None:
    record = run(one(step_deadline_s=0.05), consolidate=hang)
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "deadline")
    assert record.steps[-1].name == "consolidate"
    assert len(record.snapshots) == 2, "what was measured until then stays"
    assert len(record.calls) == 8


def test_a_folder_that_is_no_snapshot(run: Run, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "link").symlink_to("/etc/passwd")
    record = run(snapshot=says({"path": str(hostile)}))
    assert record.ending.kind == "snapshot"
    assert "link" in record.ending.detail


def test_a_store_that_its_reader_cannot_read(run: Run, tmp_path: Path) -> None:
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "memory.db").write_bytes(b"no database")
    record = run(snapshot=says({"path": str(torn)}))
    assert (record.ending.outcome, record.ending.kind) == ("errored", "snapshot")


def test_an_escape_stops_the_run_before_its_first_step(sandbox: MemorySandbox, run: Run) -> None:
    sandbox.escapes = (
        Escape(probe="dns", target="1.1.1.1", result="blocked"),
        Escape(probe="vsock", target="host", result="escaped", detail="connected"),
    )
    record = run()
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "escape")
    assert "vsock (host)" in record.ending.detail
    assert "dns" not in record.ending.detail
    assert record.escapes == sandbox.escapes
    assert record.steps == ()


def test_what_a_system_itself_warns_of_is_told(run: Run) -> None:
    def warn(_box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        return {**verb(request), "warnings": ["Of the first note nothing is left."]}

    record = run(consolidate=warn)
    assert record.ending.outcome is Outcome.PASSED
    assert record.warnings == ("consolidate: Of the first note nothing is left.",)


def test_a_limit_that_is_not_enforced_is_a_warning(sandbox: MemorySandbox, run: Run) -> None:
    sandbox.limits = (Limit(name="pids", wanted="512", seen="max", enforced=False),)
    record = run()
    assert record.ending.outcome is Outcome.PASSED
    assert record.warnings == ("The limit pids is not enforced: wanted 512, seen max.",)


def test_an_answer_that_no_table_holds(run: Run) -> None:
    job = one()
    strange = {**job.steps[0].payload, "text": "Nothing that any table was written for."}
    steps = (replace(job.steps[0], payload=strange), *job.steps[1:])
    record = run(replace(job, steps=steps))
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "script_missing")
    assert "nearest is engine/reader.toml:" in record.ending.detail


@pytest.mark.parametrize("ceiling", ["0.02308200", "0.001"])
def test_money_is_looked_at_between_steps(run: Run, ceiling: str) -> None:
    """The published check, which is all there is to hold a gateway that only counts."""
    record = run(one(max_usd=Decimal(ceiling), ceiling="measured"))
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "ceiling")
    assert "deposit reader-01.md" in record.ending.detail
    assert len(record.steps) == 1


def test_money_is_looked_at_after_the_last_step_too(run: Run) -> None:
    first = run(one(case="mid-trip"))
    assert first.calls[-1].step == "consolidate"
    again = one(case="mid-trip", max_usd=first.cost_usd)
    record = run(replace(again, spec=again.spec.model_copy(update={"id": "again"})))
    assert record.ending.kind == "ceiling"
    assert "after consolidate" in record.ending.detail


def test_the_gateway_s_word_goes_before_its_symptom(run: Run) -> None:
    """A gateway that ended the run refuses what follows, which looks like a failing system."""

    def refused(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        ending = {"outcome": "incomplete", "kind": "ceiling", "detail": "no money"}
        box.door.emit({"event": "ended", "ending": ending})
        return fail("gateway_refused")(box, request, verb)

    record = run(deposit=refused)
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "ceiling")


def test_a_call_that_is_told_of_late_is_still_the_reason(run: Run) -> None:
    """The gateway and the system speak on two lines: the failed call may come after the reply."""

    def declined(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        call = box.door.call("extraction", stop_reason="refusal")
        box.door.late.append({"event": "call", "call": call.model_dump(mode="json")})
        return fail("unparseable_reply")(box, request, verb)

    record = run(deposit=declined)
    assert record.ending.kind == "unparseable_reply"
    assert "extraction in deposit reader-01.md (refusal)" in record.ending.detail


def test_a_run_that_ended_well_for_the_system_and_not_for_the_gateway(run: Run) -> None:
    """Such as a wrong model in the very last call, which the system cannot notice."""

    def last(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        result = verb(request)
        ending = {"outcome": "invalid", "kind": "wrong_model", "detail": "another"}
        box.door.emit({"event": "ended", "ending": ending})
        return result

    record = run(consolidate=last)
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "wrong_model")
    assert record.checks == ()


def test_a_line_of_the_ledger_that_was_not_seen(run: Run) -> None:
    def unseen(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        result = verb(request)
        box.door._calls += 1
        return result

    record = run(consolidate=unseen)
    assert (record.ending.outcome, record.ending.kind) == ("errored", "ledger")


def test_checks_that_break_are_no_verdict(run: Run) -> None:
    def broken(_: Material) -> Any:
        raise ZeroDivisionError("a check divides by nothing")

    record = run(replace(one(), judge=broken))
    assert (record.ending.outcome, record.ending.kind) == ("errored", "bug")
    assert len(record.snapshots) == 3, "they can be judged again"


# ---------------------------------------------------------------- stopping


@pytest.mark.parametrize("verb", ["describe", "deposit", "consolidate", "snapshot"])
def test_a_run_is_stopped_in_the_middle_of_a_verb(sandbox: MemorySandbox, verb: str) -> None:
    entered = threading.Event()

    def waits(box: MemoryBox, request: Mapping[str, Any], own: Verb) -> Any:
        entered.set()
        return hang(box, request, own)

    sandbox.habits = {verb: waits}
    attempt = Attempt(one(), sandbox, watch=Unwatched(), keep=Keep(None))
    found: list[RunRecord] = []
    thread = threading.Thread(target=lambda: found.append(attempt.run()))
    thread.start()
    assert entered.wait(5)
    began = time.monotonic()
    attempt.cancel()
    thread.join(5)
    assert time.monotonic() - began < 5
    assert [record.ending.kind for record in found] == ["interrupted"]
    assert not sandbox.opened


def test_a_run_is_stopped_while_its_box_opens(sandbox: MemorySandbox) -> None:
    sandbox.gate.clear()
    attempt = Attempt(one(), sandbox, watch=Unwatched(), keep=Keep(None))
    found: list[RunRecord] = []
    thread = threading.Thread(target=lambda: found.append(attempt.run()))
    thread.start()
    while not sandbox.opened:
        time.sleep(0.001)
    attempt.cancel()
    thread.join(5)  # and the gate stays shut
    assert [record.ending.kind for record in found] == ["interrupted"]
    assert found[0].steps == ()
    assert not sandbox.opened


def test_a_run_that_was_stopped_before_it_began_opens_nothing(sandbox: MemorySandbox) -> None:
    attempt = Attempt(one(), sandbox, watch=Unwatched(), keep=Keep(None))
    attempt.cancel()
    assert attempt.run().ending.kind == "interrupted"
    assert sandbox.boxes == {}


@pytest.mark.parametrize("habits", [{}, {"deposit": fail("degraded")}, {"consolidate": die}])
def test_the_most_memory_of_a_run_is_kept_however_it_ended(
    sandbox: MemorySandbox, run: Run, habits: dict[str, Habit]
) -> None:
    sandbox.peak = PeakMemory(4096, "as the test says")
    record = run(**habits)
    assert (record.peak_memory_bytes, record.peak_memory_how) == (4096, "as the test says")


def test_memory_that_could_not_be_told_is_none(run: Run) -> None:
    record = run()
    assert (record.peak_memory_bytes, record.peak_memory_how) == (None, "")
