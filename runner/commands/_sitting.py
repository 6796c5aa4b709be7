"""The protocols of one command: everything that has to be ready, and then the runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from runner.errors import UsageError
from runner.estimate import Estimate
from runner.model import Outcome
from runner.prices import PriceList
from runner.reports import files
from runner.reports.produce import Expected, kept, produce
from runner.reports.recording import Recorder
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.runs.keep import Keep
from runner.runs.place import Place, Say, place
from runner.runs.protocol import Protocol
from runner.runs.purse import Purse
from runner.runs.watch import Watch


@dataclass(slots=True)
class Sitting:
    """Protocols that run one after another, out of one purse.

    Attributes:
        protocols: what runs.
        prices: of every model.
        estimates: of each protocol.
        outputs: where each report goes.
        cassettes: where each is recorded; none where it is not.
        keep: what is left of the runs on disk.
        max_usd_total: US dollars for all of them; none for no limit.
    """

    protocols: Sequence[Protocol]
    prices: PriceList
    estimates: Sequence[Estimate | None]
    outputs: Sequence[Path]
    cassettes: Sequence[Path | None]
    keep: Keep
    max_usd_total: Decimal | None
    _halves: list[Report | None] = field(default_factory=list)
    _recorders: list[Recorder | None] = field(default_factory=list)

    def prepare(self, *, resume: bool) -> None:
        """Find out before anything starts, or is spent, whether all can be written.

        Args:
            resume: half-written reports are to be finished.

        Raises:
            UsageError: something is there already, or there is nothing that can be resumed.
            CannotStart: something cannot be written.
            AlteredReport: a report to resume was changed.
        """
        recording = any(protocol.arm == "record" for protocol in self.protocols)
        if resume and recording:
            raise UsageError("A recording cannot be resumed: it would be of two sittings.")
        self._halves = [_half(path) if resume else None for path in self.outputs]
        for path in self.outputs:
            files.prepare(path, resume=resume)
        self._recorders = [
            Recorder(path, protocol) if recording and path is not None else None
            for path, protocol in zip(self.cassettes, self.protocols, strict=True)
        ]
        for recorder in filter(None, self._recorders):
            recorder.prepare()
        self.keep.prepare()

    @property
    def earlier(self) -> tuple[Outcome, ...]:
        """How those runs of half-written reports ended that are not made again."""
        halves = filter(None, self._halves)
        return tuple(run.ending.outcome for half in halves for run in kept(half))

    def run(self, say: Say, *, workers: int, watch: Watch) -> list[Report]:
        """Run all; each report is on disk, run by run.

        Args:
            say: told, a line at a time, what takes long before the first run.
            workers: runs at a time.
            watch: told of the runs.

        Raises:
            CannotStart: no engine, no image, or no lease.
            OutputLost: something could not be written any more.
        """
        purse = Purse(self.max_usd_total)
        reports = []
        for (name, version, model, image), some in groupby(range(len(self.protocols)), self._of):
            with place(name, version, model, image=image, say=say) as here:
                reports += [
                    self._produce(number, here, purse, workers=workers, watch=watch)
                    for number in some
                ]
        return reports

    def _of(self, number: int) -> tuple[str, str | None, str | None, str | None]:
        """The image that a protocol runs on: its name and, where there are several, its version
        and what is baked into it; and its digest, where one was named."""
        protocol = self.protocols[number]
        system = protocol.system
        version = system.version if system.versions else None
        return system.image, version, system.model, protocol.image

    def _produce(
        self, number: int, here: Place, purse: Purse, *, workers: int, watch: Watch
    ) -> Report:
        one = self.estimates[number]
        return produce(
            self.protocols[number],
            self.prices,
            here,
            output=self.outputs[number],
            workers=workers,
            watch=watch,
            keep=self.keep,
            expected=Expected(one.expected_usd, one.source, one.bound_usd) if one else None,
            resume=self._halves[number],
            purse=purse,
            recorder=self._recorders[number],
        )


def _half(path: Path) -> Report | None:
    """The half-written report at a path, verified; none where there is none yet."""
    if not path.exists():
        return None
    report = files.load(path)
    verify(report)
    return report
