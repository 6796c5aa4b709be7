"""One run, from an empty sandbox to its record.

A run always yields a record: whatever goes wrong becomes the record's ending, and what was
measured until then stays in it.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

from runner.errors import BenchError, DriverError
from runner.gateway.cassette import Entry
from runner.model import (
    Ending,
    Escape,
    Limit,
    Outcome,
    RunRecord,
    SnapshotRecord,
    Step,
    StepRecord,
    Store,
)
from runner.runs import calls
from runner.runs.account import Account
from runner.runs.endings import Ended, ending_after, interrupted, passes, unleased
from runner.runs.export import Exporter
from runner.runs.job import Job, Judgement
from runner.runs.keep import Keep
from runner.runs.purse import Purse
from runner.runs.sandbox.protocol import Box, PeakMemory, Sandbox
from runner.runs.sandbox.snapshot import Snapshot
from runner.runs.snapshots import read_snapshot
from runner.runs.warned import warned
from runner.runs.watch import Watch
from runner.suites.suite import Material

OPEN_DEADLINE_S = 60.0
GATEWAY_DEADLINE_S = 10.0
DESCRIBE_DEADLINE_S = 60.0
SNAPSHOT_BYTES = 512 << 20
LOG_TAIL_CHARS = 4000


class Attempt:
    """One execution of a job. ``cancel`` may be called from another thread.

    Args:
        job: what is run.
        sandbox: where.
        watch: told of it meanwhile.
        keep: what is left of it on disk.
        turn: held while steps are taken. A run that has to wait for it does so in an open box that
            has been proved.
        purse: where its ceiling is leased before anything of it is started.
    """

    def __init__(
        self,
        job: Job,
        sandbox: Sandbox,
        *,
        watch: Watch,
        keep: Keep,
        turn: AbstractContextManager[object] | None = None,
        purse: Purse | None = None,
    ) -> None:
        self.job = job
        self._purse = Purse() if purse is None else purse
        self._turn = nullcontext() if turn is None else turn
        self._waited_s = 0.0
        self._sandbox = sandbox
        self._watch = watch
        self._keep = keep
        self._box: Box | None = None
        self._exporter = Exporter(sandbox, job.spec.id, job.export) if job.export else None
        self._cancelled = threading.Event()
        self._account = Account(lambda call: watch.call(job.spec.id, call))
        self._steps: list[StepRecord] = []
        self._snapshots: list[SnapshotRecord] = []
        self._escapes: tuple[Escape, ...] = ()
        self._limits: tuple[Limit, ...] = ()
        self._warnings: list[str] = []
        self._describe: dict[str, Any] = {}
        self._offset_s: float | None = None
        self._peak: PeakMemory | None = None
        self._log = ""

    def cancel(self) -> None:
        """Stop the run where it is; its containers are removed."""
        self._cancelled.set()
        self._purse.wake()
        if self._box is not None:
            self._account.stop(self._box)
            self._box.close()
        if self._exporter is not None:
            self._exporter.close()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was recorded of the run's calls."""
        return tuple(self._account.entries)

    def run(self) -> RunRecord:
        """Execute the job.

        Returns:
            The record; an error under the run is its ending, not an exception.
        """
        spec = self.job.spec
        started_at, started = datetime.now(UTC), time.monotonic()
        self._watch.started(spec)
        judgement = Judgement((), (), interrupted())
        try:
            ending = self._leased() or calls.ending(self._account.calls)
            if ending is None:
                stores = {snapshot.step: snapshot.store for snapshot in self._snapshots}
                judgement = self.job.judge(Material(stores, tuple(self._steps)))
                ending = judgement.ending
        except Exception as error:
            ending = self._why(error)
        finished = ending.outcome in (Outcome.PASSED, Outcome.FAILED)
        record = RunRecord(
            spec=spec,
            ending=ending,
            started_at=started_at,
            seconds=round(time.monotonic() - started - self._waited_s, 3),
            steps=tuple(self._steps),
            snapshots=tuple(self._snapshots),
            checks=judgement.checks,
            observations=judgement.observations,
            calls=tuple(self._account.calls),
            usage=calls.by_purpose(self._account.calls),
            cost_usd=self._account.cost_usd,
            escapes=self._escapes,
            limits=self._limits,
            encoder=self._describe.get("encoder"),
            system=self._describe,
            peak_memory_bytes=self._peak.bytes if self._peak else None,
            peak_memory_how=self._peak.how if self._peak else "",
            gateway=self.job.gateway_record,
            warnings=(
                *self._warnings,
                *calls.warnings(self._account.calls, self.job.steps),
                *self._account.warnings,
            ),
            log_tail="" if finished else self._log[-LOG_TAIL_CHARS:],
        )
        try:
            self._keep.record(record, log=self._log)
        except OSError as error:
            lost = f"The calls and the log were not kept: {error}."
            record = record.model_copy(update={"warnings": (*record.warnings, lost)})
        self._watch.ended(record)
        return record

    # ------------------------------------------------------------ inside the sandbox

    def _leased(self) -> Ending | None:
        """The run, within the ceiling it leases; an ending where it cannot."""
        ceiling, asked = self.job.spec.max_usd, time.monotonic()
        leased = self._purse.lease(ceiling, self._cancelled)
        self._waited_s += time.monotonic() - asked
        if not leased:
            return interrupted() if self._cancelled.is_set() else unleased(self._purse, ceiling)
        try:
            return self._in_the_box()
        finally:
            spent = self._account.cost_usd
            # Where the ledger is not whole, all that was leased may be gone.
            known = self._account.settled or not self._account.ready
            self._purse.settle(ceiling, spent if known else max(spent, ceiling or spent))

    def _in_the_box(self) -> Ending | None:
        """Everything that needs the sandbox; an ending, or none when the stores may be judged."""
        if self._cancelled.is_set():
            return interrupted()
        with self._sandbox.open(
            self.job.spec.id,
            self.job.system,
            self.job.gateway,
            deadline_s=OPEN_DEADLINE_S,
            on_event=self._account.on_event,
            on_opening=self._opening,
        ) as box:
            try:
                self._prove(box)
                asked = time.monotonic()
                with self._turn:
                    self._waited_s += time.monotonic() - asked
                    for step in self.job.steps:
                        self._step(box, step)
                    self._account.check(box, self.job.spec.max_usd, after="the last step")
            except Exception as error:
                # What is in flight is paid for: the ledger is settled on every path out, and before
                # the ending is put into words, as a call is told of after the reply it failed.
                with suppress(BenchError):
                    self._account.settle(box)
                return self._account.ended or self._why(error)
            finally:
                self._log = box.system.tail()
                self._peak = box.peak_memory()
            self._account.settle(box)
        return self._account.ended

    def _opening(self, box: Box) -> None:
        self._box = box
        if self._cancelled.is_set():  # a moment ago, when there was no box to close yet
            box.close()

    def _prove(self, box: Box) -> None:
        """Before the first step: what the system is, and that nothing gets out of its sandbox."""
        with ThreadPoolExecutor(max_workers=2) as pool:
            limits = pool.submit(box.limits)
            escapes = pool.submit(box.escapes)
            self._account.wait(box)
            reply = box.system.request("describe", {}, deadline_s=DESCRIBE_DEADLINE_S)
            self._escapes, self._limits = escapes.result(), limits.result()
        encoder = reply.result.get("encoder")
        if not isinstance(encoder, str | None):
            raise DriverError("internal", f"it describes its encoder as {encoder!r}")
        self._describe = dict(reply.result)
        self._warnings += [
            f"The limit {limit.name} is not enforced: wanted {limit.wanted}, seen {limit.seen}."
            for limit in self._limits
            if not limit.enforced
        ]
        out = [escape for escape in self._escapes if escape.result == "escaped"]
        if out:
            names = ", ".join(f"{escape.probe} ({escape.target})" for escape in out)
            raise Ended(
                Ending(
                    outcome=Outcome.INVALID,
                    kind="escape",
                    detail=f"The sandbox leaks: {names}. Nothing was run in it.",
                )
            )

    def _step(self, box: Box, step: Step) -> None:
        self._watch.step(self.job.spec.id, step.name)
        now = datetime.now(UTC)
        # What the system's clock shows at this moment: set back, its events would change order.
        shows = now + timedelta(seconds=self._offset_s) if self._offset_s is not None else None
        offset = self._offset_s = self.job.clock.offset(step.day, now=now, not_before=shows)
        box.gateway.request("clock", {"offset_s": offset}, deadline_s=GATEWAY_DEADLINE_S)
        box.gateway.request("step", {"name": step.name}, deadline_s=GATEWAY_DEADLINE_S)
        last = self._steps[-1].name if self._steps else "the start"
        self._account.check(box, self.job.spec.max_usd, after=last)
        began = time.monotonic()
        result: dict[str, Any] = {}
        saw: datetime | None = None
        failure: str | None = None
        digest: str | None = None
        day = self.job.clock.day(step.day)
        try:
            reply = box.system.request(
                step.verb, dict(step.payload), deadline_s=self.job.spec.step_deadline_s
            )
            result, saw = dict(reply.result), reply.now
            self._warnings += warned(step.name, result)
            if not step.aside:  # it goes by the clock of the step before it
                self._compare_clocks(step, day, reply.now)
            if step.snapshot:
                digest = self._snapshot(box, step)
        except Exception as error:
            failure = str(error) or type(error).__name__
            if not passes(step, error):
                raise
        finally:
            self._steps.append(
                StepRecord(
                    name=step.name,
                    verb=step.verb,
                    day=day,
                    saw=saw,
                    seconds=round(time.monotonic() - began, 3),
                    result=result,
                    error=failure,
                    snapshot=digest,
                )
            )

    def _compare_clocks(self, step: Step, day: date | None, saw: datetime | None) -> None:
        if saw is None:
            self._warnings.append(f"{step.name}: the system does not say what day it saw.")
        elif day is not None and saw.date() != day:
            self._warnings.append(
                f"{step.name}: the clock was set to {day}, the system's process saw"
                f" {saw.date()}. Its dates are not the note's."
            )

    def _snapshot(self, box: Box, step: Step) -> str:
        reply = box.system.request("snapshot", {}, deadline_s=self.job.spec.step_deadline_s)
        path = reply.result.get("path")
        if not isinstance(path, str):
            raise DriverError("internal", f"it made a snapshot at {path!r}, which is no path")
        snapshot = box.get(path, max_bytes=SNAPSHOT_BYTES)
        try:
            self._keep.snapshot(self.job.spec.id, snapshot)
        except OSError as error:
            self._warnings.append(f"The snapshot after {step.name} was not kept: {error}.")
        self._snapshots.append(
            SnapshotRecord(
                step=step.name,
                sha256=snapshot.sha256,
                size=len(snapshot.archive),
                store=self._read(snapshot),
            )
        )
        return snapshot.sha256

    def _read(self, snapshot: Snapshot) -> Store:
        if self._exporter is not None:
            return self._exporter.read(snapshot)
        return read_snapshot(snapshot, self.job.read)

    def _why(self, error: Exception) -> Ending:
        """The ending an error stands for: a stop or the gateway's word goes before its symptom."""
        if self._cancelled.is_set():
            return interrupted()
        if self._account.ended is not None:
            return self._account.ended
        return ending_after(error, self._account.calls)
