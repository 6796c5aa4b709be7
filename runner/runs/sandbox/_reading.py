"""A store read by its own system: a container beside a snapshot, which it cannot change."""

import time
import uuid

from runner.errors import CannotStart, ContainerDied
from runner.runs.sandbox import _spec
from runner.runs.sandbox._containers import Containers, time_left
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._lease import Lease
from runner.runs.sandbox._reaper import remove_container
from runner.runs.sandbox.protocol import SystemBox
from runner.runs.sandbox.snapshot import Snapshot

ROLE = "reading"


class EngineReading(Containers):
    """A :class:`~runner.runs.sandbox.protocol.Reading` on a container engine.

    The snapshot goes into a volume through a container that is never started: the one that reads
    has the volume read-only from its first moment on.
    """

    def __init__(self, engine: Engine, lease: Lease, run_id: str, system: SystemBox) -> None:
        self.names = _spec.ReadingNames.of(f"{lease.name[:8]}-{uuid.uuid4().hex[:8]}")
        super().__init__(engine, lease, run_id, self.names)
        self._system_box = system

    @property
    def store(self) -> str:
        """See :class:`runner.runs.sandbox.protocol.Reading`."""
        return _spec.STORE

    def start(self, store: Snapshot, deadline_s: float) -> None:
        """Put the snapshot there, and start. What a failure leaves is for :meth:`close`."""
        end = time.monotonic() + deadline_s
        labels = self._lease.labels(self.run_id, ROLE)
        try:
            self._call(end, "/volumes/create", _spec.disk_volume(self.names.store, labels))
            self._put(store, end)
        except EngineRefused as error:
            raise CannotStart(error.message) from error
        body = _spec.reading(self._system_box, self.names, labels)
        self._bring_up("system", self.names.system, body, end)

    def _put(self, store: Snapshot, end: float) -> None:
        name = self.names.putting
        body = _spec.putting(self._system_box, self.names, self._lease.labels(self.run_id, ROLE))
        self._call(end, "/containers/create", body, query={"name": name})
        if self._closing.is_set():
            raise ContainerDied("The reading was closed while it opened.")
        self._engine.download(
            "PUT",
            f"/containers/{name}/archive",
            query={"path": _spec.STORE},
            archive=store.archive,
            deadline_s=time_left(end),
        )
        remove_container(self._engine, name, end)
