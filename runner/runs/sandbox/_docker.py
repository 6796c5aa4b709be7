"""The sandbox on a container engine: two containers a run, no network object, all labelled."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from runner.errors import EngineLost
from runner.runs.sandbox._box import EngineBox
from runner.runs.sandbox._containers import CLOSE_S
from runner.runs.sandbox._engine import Engine, EngineRefused, connect
from runner.runs.sandbox._lease import Domain, Lease, folder
from runner.runs.sandbox._reading import EngineReading
from runner.runs.sandbox._reaper import remove_lease
from runner.runs.sandbox._shield import uninterrupted
from runner.runs.sandbox.protocol import Box, EventCallback, GatewayBox, Reading, SystemBox
from runner.runs.sandbox.snapshot import Snapshot


class EngineSandbox:
    """A :class:`~runner.runs.sandbox.protocol.Sandbox` over the engine's API.

    Holds one lease from its making to :meth:`close`; a context manager that closes itself.
    """

    def __init__(self, engine: Engine, lease: Lease) -> None:
        self.engine = engine
        self.lease = lease

    def __enter__(self) -> "EngineSandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
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
    ) -> Iterator[EngineBox]:
        """See :meth:`runner.runs.sandbox.protocol.Sandbox.open`."""
        box = EngineBox(self.engine, self.lease, run_id, system, gateway, on_event, log_folder)
        try:
            if on_opening is not None:
                on_opening(box)
            box.start(deadline_s)
            yield box
        finally:
            box.close()

    @contextlib.contextmanager
    def read(
        self,
        run_id: str,
        system: SystemBox,
        store: Snapshot,
        *,
        deadline_s: float,
        on_opening: Callable[[Reading], None] | None = None,
    ) -> Iterator[EngineReading]:
        """See :meth:`runner.runs.sandbox.protocol.Sandbox.read`."""
        reading = EngineReading(self.engine, self.lease, run_id, system)
        try:
            if on_opening is not None:
                on_opening(reading)
            reading.start(store, deadline_s)
            yield reading
        finally:
            reading.close()

    def close(self) -> None:
        """See :meth:`runner.runs.sandbox.protocol.Sandbox.close`.

        When the engine is gone the lease is given up all the same, so that the next start removes
        the rest.
        """
        try:
            with contextlib.suppress(EngineLost, EngineRefused):
                uninterrupted(
                    lambda: remove_lease(self.engine, self.lease.name, deadline_s=CLOSE_S)
                )
        finally:
            self.lease.release()


def start(
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    *,
    engine: Engine | None = None,
) -> EngineSandbox:
    """A sandbox on this machine's engine, with a lease of its own.

    Raises:
        CannotStart: no engine answers, or no lease can be taken.
    """
    environ = os.environ if environ is None else environ
    home = home or Path.home()
    engine = engine or connect(environ)
    return EngineSandbox(engine, Domain.at(folder(environ, home)).take())
