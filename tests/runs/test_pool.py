import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.model import RunRecord
from runner.runs.keep import Keep
from runner.runs.pool import run_all
from runner.runs.watch import Unwatched
from tests.runs._memory import MemoryBox, MemorySandbox, Verb, fail, hang
from tests.runs._protocols import Seen, jobs_of

pytestmark = pytest.mark.slow


class Full(Exception):
    """A disk that is."""


def go(sandbox: MemorySandbox, done: Any, **more: Any) -> None:
    given: dict[str, Any] = {"workers": 2, "watch": Unwatched(), "jobs": jobs_of(), **more}
    run_all(sandbox=sandbox, done=done, keep=Keep(None), **given)


@pytest.fixture
def sandbox(tmp_path: Path) -> MemorySandbox:
    return MemorySandbox(tmp_path)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_record_is_handed_over_once_in_the_caller_s_thread(
    sandbox: MemorySandbox, workers: int
) -> None:
    found: list[tuple[str, threading.Thread]] = []
    go(sandbox, lambda r: found.append((r.spec.id, threading.current_thread())), workers=workers)
    assert sorted(name for name, _ in found) == sorted(job.spec.id for job in jobs_of())
    assert {thread for _, thread in found} == {threading.current_thread()}
    assert not sandbox.opened


@pytest.mark.parametrize(("workers", "boxes"), [(1, 1), (2, 3)])
def test_no_more_steps_at_a_time_than_asked_for(
    sandbox: MemorySandbox, workers: int, boxes: int
) -> None:
    """One more box may be made ready or removed meanwhile, but nothing happens in it."""
    lock, now, most, opened = threading.Lock(), 0, 0, 0

    def count(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        nonlocal now, most, opened
        with lock:
            now += 1
            most, opened = max(most, now), max(opened, len(sandbox.opened))
        time.sleep(0.01)
        result = verb(request)
        with lock:
            now -= 1
        return result

    sandbox.habits = {"deposit": count, "consolidate": count}
    go(sandbox, lambda record: None, workers=workers, jobs=jobs_of(runs={"move": 6}))
    assert most == workers
    assert opened <= boxes


def test_the_longest_runs_begin_first(sandbox: MemorySandbox) -> None:
    seen = Seen()
    jobs = jobs_of(runs={"trip-alone": 2, "move": 2})
    go(sandbox, lambda record: None, workers=1, watch=seen, jobs=jobs)
    assert [name.rsplit("-", 1)[0] for name in seen.begun] == [
        "reader-move",
        "reader-move",
        "reader-trip-alone",
        "reader-trip-alone",
    ]


def test_a_run_that_errors_takes_no_other_with_it(sandbox: MemorySandbox) -> None:
    def second(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        return (fail("provider")(box, request, verb)) if "move-2" in box.run_id else verb(request)

    sandbox.habits = {"deposit": second}
    found: dict[str, str] = {}
    go(sandbox, lambda record: found.update({record.spec.id: record.ending.kind}))
    assert found.pop("reader-move-2") == "provider"
    assert set(found.values()) == {"checks"}


def test_when_a_record_cannot_be_saved_the_others_stop_and_are_still_handed_over(
    sandbox: MemorySandbox,
) -> None:
    """Runs that wait for ever are stopped, and those that had just ended are not dropped."""
    reached = threading.Event()

    def third(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        if "move-3" in box.run_id:
            reached.set()
            return hang(box, request, verb)
        return verb(request)

    sandbox.habits = {"deposit": third}
    found: list[RunRecord] = []

    def done(record: RunRecord) -> None:
        if not found:
            assert reached.wait(5)
            # By now everything else has ended too, and lies ready in one handful.
            while len(sandbox.opened) > 1:
                time.sleep(0.001)
            found.append(record)
            raise Full
        found.append(record)

    began = time.monotonic()
    with pytest.raises(Full):
        go(sandbox, done, workers=5)
    assert time.monotonic() - began < 5
    assert {record.spec.id for record in found} == {job.spec.id for job in jobs_of()}
    kinds = {record.spec.id: record.ending.kind for record in found}
    assert kinds.pop("reader-move-3") == "interrupted"
    assert set(kinds.values()) == {"checks"}
    assert not sandbox.opened


def test_an_interrupt_stops_what_runs_and_forgets_what_has_not_begun(
    sandbox: MemorySandbox,
) -> None:
    entered = threading.Semaphore(0)

    def waits(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        entered.release()
        return hang(box, request, verb)

    sandbox.habits = {"consolidate": waits}
    found: list[RunRecord] = []

    def press() -> None:
        assert entered.acquire(timeout=5)
        assert entered.acquire(timeout=5)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=press).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        go(sandbox, found.append, workers=2)
    assert time.monotonic() - began < 5
    assert {record.spec.id for record in found} == sandbox.boxes.keys()
    assert {record.ending.kind for record in found} == {"interrupted"}
    assert 2 <= len(found) <= 3, "the two that took steps, and the one that waited for its turn"
    assert not sandbox.opened
