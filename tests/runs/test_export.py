"""What a system says of its own store: taken where it is claims and events, refused else."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UnreadableStore
from runner.model import Outcome, RunRecord
from runner.runs.export import CLAIMS, Exporting, exported
from runner.runs.job import Job
from runner.runs.keep import Keep
from runner.runs.run import Attempt
from runner.runs.watch import Unwatched
from tests.runs._memory import Habit, MemorySandbox, Verb, die, fail, hang, says
from tests.runs._protocols import one

CLAIM = {"id": "c1", "text": "It rains.", "status": "ACTIVE"}
GONE = {"id": "c0", "text": "It is dry.", "status": "REPLACED", "retired_by": "c1"}
SUPERSEDED = {"kind": "superseded", "loser": "c0", "winner": "c1", "decided_by": "words"}


def job(deadline_s: float = 20.0) -> Job:
    usual = one()
    return replace(usual, export=Exporting(usual.system, deadline_s))


def go(sandbox: MemorySandbox, made: Job | None = None, **habits: Habit) -> RunRecord:
    sandbox.habits = habits
    record = Attempt(made or job(), sandbox, watch=Unwatched(), keep=Keep(None)).run()
    assert not sandbox.opened
    assert all(reading.closed for reading in sandbox.readings), "a reading was left open"
    return record


@pytest.fixture
def sandbox(tmp_path: Path) -> MemorySandbox:
    return MemorySandbox(tmp_path)


def test_a_system_that_reads_its_own_store_is_judged_as_by_a_reader(
    sandbox: MemorySandbox, tmp_path: Path
) -> None:
    own = go(sandbox)
    read = go(MemorySandbox(tmp_path), one())
    assert own.ending.outcome is Outcome.PASSED
    assert [result.passed for result in own.checks] == [result.passed for result in read.checks]
    texts = [[claim.text for claim in seen.store.claims] for seen in own.snapshots]
    assert texts == [[claim.text for claim in seen.store.claims] for seen in read.snapshots]
    assert len(sandbox.readings) == len(own.snapshots)


@pytest.mark.parametrize(
    ("habit", "outcome", "kind", "said"),
    [
        (says({"claims": "all of them"}), "errored", "snapshot", "claims"),
        (says({}), "errored", "snapshot", "claims: Field required"),
        (fail("degraded"), "errored", "degraded", "asked to export"),
        (die, "errored", "container_died", "ended before"),
    ],
)
def test_what_goes_wrong_is_the_run_s_ending(
    sandbox: MemorySandbox, habit: Habit, outcome: str, kind: str, said: str
) -> None:
    record = go(sandbox, export=habit)
    assert (record.ending.outcome, record.ending.kind) == (outcome, kind)
    assert said in record.ending.detail
    assert len(sandbox.readings) == 1


def test_a_system_that_never_says(sandbox: MemorySandbox) -> None:
    record = go(sandbox, job(0.05), export=hang)
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "deadline")


def test_a_run_is_stopped_while_its_store_is_read(sandbox: MemorySandbox) -> None:
    reached = threading.Event()

    def wait(box: Any, request: Mapping[str, Any], verb: Verb) -> Any:
        reached.set()
        return hang(box, request, verb)

    sandbox.habits = {"export": wait}
    attempt = Attempt(job(60.0), sandbox, watch=Unwatched(), keep=Keep(None))
    records: list[RunRecord] = []
    thread = threading.Thread(target=lambda: records.append(attempt.run()))
    thread.start()
    assert reached.wait(10)
    started = time.monotonic()
    attempt.cancel()
    thread.join(10)
    assert time.monotonic() - started < 5
    assert records[0].ending.kind == "interrupted"
    assert all(reading.closed for reading in sandbox.readings)


def test_claims_and_events_are_taken() -> None:
    store = exported({"claims": [CLAIM, GONE], "events": [SUPERSEDED], "unmapped": ["a table"]})
    assert [claim.active for claim in store.claims] == [True, False]
    assert store.events[0].kind == "superseded"
    assert store.unmapped == ("a table",)
    assert exported({"claims": []}).claims == ()


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"claims": [CLAIM], "verdict": "passed"}, "verdict: Extra inputs"),
        ({"claims": [{**CLAIM, "confidence": 1}]}, "claims.0.confidence: Extra inputs"),
        ({"claims": [{**CLAIM, "text": 7}]}, "claims.0.text: Input should be a valid string"),
        ({"claims": [{"id": "c1"}]}, "claims.0.text: Field required"),
        ({"claims": [{**CLAIM, "valid_from": "soon"}]}, "claims.0.valid_from"),
        ({"claims": [CLAIM, CLAIM]}, "'c1' is there twice"),
        ({"claims": [{**CLAIM, "id": ""}]}, "has not 1 to 200"),
        ({"claims": [{**CLAIM, "status": ""}]}, "has no status"),
        ({"claims": [{**CLAIM, "text": "x" * 20_001}]}, "20001 characters"),
        ({"claims": [{**CLAIM, "anchor": "c9"}]}, "leaned on 'c9', which is not there"),
        ({"claims": [CLAIM], "events": [SUPERSEDED]}, "event 0 names 'c0', which is not there"),
        ({"claims": [CLAIM], "events": [{"kind": "passed"}]}, "events.0"),
        ({"claims": [CLAIM], "unmapped": [1]}, "unmapped.0"),
        ({"claims": [CLAIM] * (CLAIMS + 1)}, f"exported {CLAIMS + 1} claims"),
        ({"claims": [{**CLAIM, "text": "x" * (17 << 20)}]}, "bytes; 16777216 are read"),
        ({"claims": None}, "claims: Input should be a valid"),
    ],
)
def test_anything_else_is_refused_and_said(result: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableStore) as refused:
        exported(result)
    assert said in refused.value.message
    assert len(refused.value.message) < 1000


def test_what_is_nested_without_end_is_refused() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"more": deep}
    odd = {"kind": "other", "type": "odd", "payload": deep}
    with pytest.raises(UnreadableStore):
        exported({"claims": [], "events": [odd]})
