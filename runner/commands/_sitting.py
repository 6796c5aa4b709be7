"""The protocols of one command: everything that has to be ready, and then the runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from runner.errors import UsageError
from runner.estimate import Estimate
from runner.prices import PriceList
from runner.reports import files
from runner.reports.produce import Expected, produce
from runner.reports.recording import Recorder
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.runs.keep import Keep
from runner.runs.place import Place
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
    estimates: Sequence[Estimate]
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
        recording = self.protocols[0].arm == "record"
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

    def run(self, place: Place, *, workers: int, watch: Watch) -> list[Report]:
        """Run all; each report is on disk, run by run.

        Raises:
            OutputLost: something could not be written any more.
        """
        purse = Purse(self.max_usd_total)
        return [
            produce(
                protocol,
                self.prices,
                place,
                output=self.outputs[number],
                workers=workers,
                watch=watch,
                keep=self.keep,
                expected=Expected(one.expected_usd, one.source, one.bound_usd),
                resume=self._halves[number],
                purse=purse,
                recorder=self._recorders[number],
            )
            for number, (protocol, one) in enumerate(
                zip(self.protocols, self.estimates, strict=True)
            )
        ]


def _half(path: Path) -> Report | None:
    """The half-written report at a path, verified; none where there is none yet."""
    if not path.exists():
        return None
    report = files.load(path)
    verify(report)
    return report
