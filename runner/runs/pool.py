"""Several runs at a time, and all of them stopped when the bench is."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from runner.gateway.cassette import Entry
from runner.model import RunRecord
from runner.runs.job import Job
from runner.runs.keep import Keep
from runner.runs.purse import Purse
from runner.runs.run import Attempt
from runner.runs.sandbox.protocol import Sandbox
from runner.runs.watch import Watch

Recorded = Callable[[str, tuple[Entry, ...]], None]
"""Given a run's id and what was recorded of its calls."""
LOOK_UP_S = 0.5
"""A signal that comes just before the wait begins does not end it; so no wait is long."""
STOP_BOUND_S = 8.0
"""How long stopping may take before the bench gives up waiting for its threads."""


def run_all(
    jobs: Sequence[Job],
    sandbox: Sandbox,
    *,
    workers: int,
    watch: Watch,
    keep: Keep,
    done: Callable[[RunRecord], None],
    recorded: Recorded | None = None,
    purse: Purse | None = None,
) -> None:
    """Run every job, ``workers`` at a time, and hand each record to ``done`` as it ends; what was
    recorded of its calls goes to ``recorded`` before that.

    With more than one worker the box of one more run is opened, proved or removed meanwhile: the
    engine takes its time over these, and processors would be idle. It takes no step before it is
    its turn.

    ``done`` is called in the caller's thread. When it raises, or the caller is interrupted, the
    runs under way are cancelled, their records are still handed over where they come in time, and
    the exception goes on. The record that was being handed over then is handed over once more, so
    ``done`` has to bear the same record twice.

    Jobs with the most steps start first, so that the last lane to finish is a short one. Each
    leases its ceiling out of ``purse`` first.
    """
    turns = threading.Semaphore(workers)
    attempts = [
        Attempt(job, sandbox, watch=watch, keep=keep, turn=turns, purse=purse)
        for job in _longest_first(jobs)
    ]
    lanes = workers + 1 if workers > 1 else 1
    pool = ThreadPoolExecutor(max_workers=lanes, thread_name_prefix="run")
    futures = {pool.submit(attempt.run): attempt for attempt in attempts}

    def over(future: Future[RunRecord]) -> None:
        record = future.result()
        if recorded is not None:
            recorded(record.spec.id, futures[future].entries)
        done(record)

    try:
        while futures:
            ready, _ = wait(futures, timeout=LOOK_UP_S, return_when=FIRST_COMPLETED)
            for future in ready:
                over(future)
                del futures[future]
    except BaseException:
        _stop(attempts, tuple(futures), over)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _longest_first(jobs: Sequence[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: -len(job.steps))


def _stop(
    attempts: Sequence[Attempt],
    futures: Sequence[Future[RunRecord]],
    over: Callable[[Future[RunRecord]], None],
) -> None:
    """Cancel what runs and forget what has not begun."""
    begun = {future for future in futures if not future.cancel()}
    with ThreadPoolExecutor(max_workers=max(1, len(attempts))) as closers:
        list(closers.map(Attempt.cancel, attempts))
    ready, _ = wait(begun, timeout=STOP_BOUND_S)
    for future in ready:
        if future.exception() is None:
            try:
                over(future)
            except Exception:  # noqa: S112 - the first error is the one that is reported
                continue
