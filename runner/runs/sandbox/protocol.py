"""What a run asks of a sandbox. Nothing outside this package knows of containers or engines.

A sandbox opens a *box*: the system under test and the one gateway it may talk to, side by side.
Both answer over a line protocol, so what comes out of :meth:`Sandbox.open` is a pair of channels
plus the few verbs that look at the box from outside.

All durations are seconds, all sizes bytes.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from runner.model import Escape, Limit
from runner.runs.sandbox.snapshot import Snapshot

MIB = 1024 * 1024

Side = Literal["system", "gateway"]

EventCallback = Callable[[Mapping[str, Any]], None]
"""Gets every unsolicited line (one with an ``event``), on a thread of the channel: be quick."""


@dataclass(frozen=True, slots=True)
class SystemBox:
    """The system under test and what it may use up."""

    image: str
    """Reference or id of a local image."""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """The driver; empty for the image's own."""
    memory_bytes: int = 2048 * MIB
    pids: int = 512
    cpus: float | None = None
    """Processors' worth of time; none for no limit."""
    home_bytes: int = 512 * MIB
    tmp_bytes: int = 256 * MIB
    exchange_bytes: int = 256 * MIB
    """Room for snapshots on their way out."""
    shm_bytes: int = 0
    """Shared memory at ``/dev/shm``; 0 for none at all, which most programs do not notice."""


@dataclass(frozen=True, slots=True)
class GatewayBox:
    """The gateway of one run."""

    image: str
    network: Literal["none", "bridge"]
    first_line: bytes = field(repr=False)
    """Its configuration, and the key where there is one: written to its standard input, never shown
    in an environment or a command line."""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("python", "-m", "runner.gateway")
    memory_bytes: int = 512 * MIB
    pids: int = 128


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer to one request."""

    result: Mapping[str, Any]
    now: datetime | None
    """What the answering process read off its own clock; none when it did not say."""
    ms: float
    """How long it says it took, in milliseconds."""


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """The most memory that a container used at one time."""

    bytes: int
    """With files that the kernel keeps for it, and what lies in its folders in memory."""
    how: str
    """How that was measured."""


class Channel(Protocol):
    """A process inside the box that answers requests, one JSON line each way."""

    def request(
        self, verb: str, payload: Mapping[str, Any] | None = None, *, deadline_s: float
    ) -> Reply:
        """Ask and wait.

        Raises:
            DriverError: it answered with a typed error.
            DeadlineMissed: it did not answer in time; its container was killed.
            ContainerDied: its container ended.
            EngineLost: the engine stopped answering.
        """
        ...

    def wait_for(self, event: str, *, deadline_s: float) -> Mapping[str, Any]:
        """The first unsolicited line with this ``event``, waiting for it where it has not come yet.

        Raises the same as :meth:`request`.
        """
        ...

    def tail(self) -> str:
        """The end of its log."""
        ...


class Box(Protocol):
    """One run's containers."""

    @property
    def system(self) -> Channel:
        """The driver of the system under test."""
        ...

    @property
    def gateway(self) -> Channel:
        """The one door to a model."""
        ...

    def get(
        self, path: str, *, max_bytes: int, max_files: int = 4096, deadline_s: float = 60.0
    ) -> Snapshot:
        """A folder of the system's container, which has to be running.

        Raises:
            HostileSnapshot: it holds anything but plain files and folders, or too much.
            EngineLost: the engine stopped answering.
        """
        ...

    def read_file(
        self, path: str, *, max_bytes: int = 16 * MIB, side: Side = "system"
    ) -> bytes | None:
        """One file, such as a package list or the gateway's ledger; none when there is none.

        What lies in memory (home, /tmp, exchange, door) is there while its container runs.

        Raises:
            HostileSnapshot: it is no plain file (a link is not followed), or too large.
            EngineLost: the engine stopped answering.
        """
        ...

    def escapes(self, *, deadline_s: float = 20.0) -> tuple[Escape, ...]:
        """Try every known way out, from inside, beside the driver.

        One look answers this and :meth:`limits`: the second of the two to be called is free.

        Raises:
            DeadlineMissed: it took too long; the system's container was killed.
            ContainerDied, EngineLost: as :meth:`Channel.request`.
        """
        ...

    def limits(self, *, deadline_s: float = 20.0) -> tuple[Limit, ...]:
        """Every limit that was asked for, as the kernel states it inside. See :meth:`escapes`."""
        ...

    def peak_memory(self) -> PeakMemory | None:
        """The most memory that the system's container has used since it started, the probes
        before the first step included; none where that cannot be told."""
        ...

    def close(self) -> None:
        """Remove everything of this box. Twice is once; takes at most a few seconds."""
        ...


class Reading(Protocol):
    """A container of a system beside the snapshot of one of its stores, and nothing else: no door,
    no network, nothing that it could write to but its own home."""

    @property
    def system(self) -> Channel:
        """The driver."""
        ...

    @property
    def store(self) -> str:
        """Where the snapshot lies for it, read-only."""
        ...

    def close(self) -> None:
        """Remove everything of it. Twice is once."""
        ...


class Sandbox(Protocol):
    """A place where runs can happen. Many boxes may be open at once, from many threads."""

    def open(
        self,
        run_id: str,
        system: SystemBox,
        gateway: GatewayBox,
        *,
        deadline_s: float,
        on_event: EventCallback | None = None,
        on_opening: Callable[[Box], None] | None = None,
        log_folder: Path | None = None,
    ) -> AbstractContextManager[Box]:
        """Start both sides; leaving the context removes them on every path out.

        Both processes have been started and the gateway has its first line when this returns;
        neither has been waited for, so that they import side by side.

        Args:
            run_id: goes into labels only.
            system: the system under test.
            gateway: the one thing it can reach.
            deadline_s: for the whole opening.
            on_event: gets the gateway's unsolicited lines.
            on_opening: gets the box before anything of it is there, so that it can be closed while
                it opens; nothing else may be asked of it yet.
            log_folder: where both full logs are kept; none keeps only their ends.

        Raises:
            CannotStart: no such image, or a limit this engine cannot set.
            ContainerDied: it was closed while it opened.
            DeadlineMissed: the engine was too slow.
            EngineLost: the engine stopped answering.
        """
        ...

    def read(
        self,
        run_id: str,
        system: SystemBox,
        store: Snapshot,
        *,
        deadline_s: float,
        on_opening: Callable[[Reading], None] | None = None,
    ) -> AbstractContextManager[Reading]:
        """Start a system's driver beside a snapshot of its store; leaving the context removes all
        of it on every path out.

        Args:
            run_id: goes into labels only.
            system: what is started.
            store: what it is given.
            deadline_s: for the whole opening.
            on_opening: gets it before anything of it is there, so that it can be closed while it
                opens; nothing else may be asked of it yet.

        Raises:
            CannotStart, ContainerDied, DeadlineMissed, EngineLost: as :meth:`open`.
        """
        ...

    def close(self) -> None:
        """Remove whatever of this sandbox is still there, and give up its lease."""
        ...
