"""Cassettes of whole protocols: written run by run, and read before a replay."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from runner import __version__
from runner.errors import CannotStart, UsageError
from runner.gateway.cassette import Cassette, Entry, load, models_of, save
from runner.reports.schema import CassetteUsed
from runner.runs.disk import give_to_owner, make_folder, try_out
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.runs.provider import Tape


class Recorder:
    """Writes what is recorded of a protocol's runs, the moment each ends.

    Args:
        path: of the cassette, which must not exist.
        protocol: what is recorded.
    """

    def __init__(self, path: Path, protocol: Protocol) -> None:
        self.path = path
        self._protocol = protocol
        self._from = datetime.now(UTC)
        self._runs: dict[str, tuple[Entry, ...]] = {}
        self.used: CassetteUsed | None = None
        """What a report says of it; none before the first run has ended."""

    def prepare(self) -> None:
        """Find out before anything is spent whether it can be written.

        Raises:
            UsageError: there is such a file already.
            CannotStart: it cannot be written.
        """
        if self.path.exists():
            raise UsageError(
                f"The cassette {self.path} exists already.",
                hint="A recording was paid for: choose another --cassette, or replay this one.",
            )
        try:
            make_folder(self.path.parent)
            try_out(self.path.parent)
        except OSError as error:
            raise CannotStart(
                f"A cassette cannot be written at {self.path}: {error.strerror or error}.",
                hint="Nothing was started. Choose a writable --cassette.",
            ) from error

    def __call__(self, run_id: str, entries: Sequence[Entry]) -> None:
        """Take what was recorded of a run, and write the cassette.

        Raises:
            OSError: it cannot be written.
        """
        self._runs[run_id] = tuple(entries)
        runs = {name: self._runs[name] for name in sorted(self._runs)}
        cassette = Cassette(
            bench=__version__,
            system=self._protocol.system.name,
            suite=self._protocol.suite.name,
            case=self._protocol.case.name,
            fixture_variant=self._protocol.case.variant,
            fixtures=self._protocol.case.fixtures,
            recorded_from=self._from,
            recorded_to=datetime.now(UTC),
            models=models_of(runs.values()),
            runs=runs,
        )
        digest = save(cassette, self.path)
        give_to_owner(self.path)
        self.used = used(self.path.name, cassette, digest)


def used(name: str, cassette: Cassette, sha256: str) -> CassetteUsed:
    """What a report says of a cassette."""
    return CassetteUsed(
        name=name,
        sha256=sha256,
        recorded_from=cassette.recorded_from,
        recorded_to=cassette.recorded_to,
    )


def open_tape(path: Path) -> Tape:
    """Read a cassette to replay.

    Raises:
        UsageError: there is no such file.
        AlteredReport: it is no cassette, or was changed.
    """
    cassette = load(path)
    return Tape(path.name, cassette, cassette.sha256())


def check_tape(protocol: Protocol) -> None:
    """Refuse a cassette that cannot answer a protocol, before anything is started.

    Raises:
        UsageError: it was recorded of something else, on another model, or of fewer runs.
    """
    tape = protocol.tape
    if tape is None:
        raise UsageError(
            "--arm replay needs --cassette: the recording to answer with.",
            hint="--arm record --cassette FILE makes one.",
        )
    case = protocol.case
    other = tape.differs(
        protocol.suite.name, protocol.system.name, case.name, case.variant, case.fixtures
    )
    if other:
        raise UsageError(f"The cassette {tape.name} is a recording of {other}.")
    asked = {protocol.model, *protocol.pins.values()}
    missing = sorted(asked - set(tape.cassette.models))
    if protocol.model in missing:
        raise UsageError(
            f"The cassette {tape.name} has no answers of {protocol.model}.",
            hint=f"It has answers of: {', '.join(tape.cassette.models) or 'no model'}.",
        )
    runs = sorted({spec.id for spec in specs(protocol)} - set(tape.cassette.runs))
    if runs:
        raise UsageError(
            f"The cassette {tape.name} does not hold the runs {', '.join(runs)}.",
            hint=f"It holds: {', '.join(sorted(tape.cassette.runs)) or 'none'}.",
        )
