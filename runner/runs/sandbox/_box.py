"""One run's two containers: bringing them up, looking in, taking them away."""

import base64
import json
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

from runner.errors import (
    DeadlineMissed,
    HostileSnapshot,
)
from runner.model import Escape, Limit
from runner.runs.sandbox import _spec, snapshot
from runner.runs.sandbox._channel import StreamChannel
from runner.runs.sandbox._containers import Containers
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._gauge import Gauge
from runner.runs.sandbox._inside import Findings, describe, examine_and_stay, host_addresses
from runner.runs.sandbox._lease import Lease
from runner.runs.sandbox.protocol import (
    MIB,
    EventCallback,
    GatewayBox,
    PeakMemory,
    Side,
    SystemBox,
)


class EngineBox(Containers):
    """A :class:`~runner.runs.sandbox.protocol.Box` of two containers."""

    def __init__(
        self,
        engine: Engine,
        lease: Lease,
        run_id: str,
        system: SystemBox,
        gateway: GatewayBox,
        on_event: EventCallback | None,
        log_folder: Path | None,
    ) -> None:
        self.names = _spec.Names.of(f"{lease.name[:8]}-{uuid.uuid4().hex[:8]}")
        super().__init__(
            engine,
            lease,
            run_id,
            self.names,
            first_line=gateway.first_line,
            on_event=on_event,
            log_folder=log_folder,
        )
        self._system_box = system
        self._gateway_box = gateway
        self._examining = threading.Lock()
        self._findings: Findings | None = None
        self._gauge: Gauge | None = None

    @property
    def gateway(self) -> StreamChannel:
        """See :class:`runner.runs.sandbox.protocol.Box`."""
        return self._channels["gateway"]

    # ------------------------------------------------------------ opening

    def start(self, deadline_s: float) -> None:
        """Create, attach and start both sides. What a failure leaves is for :meth:`close`."""
        end = time.monotonic() + deadline_s
        labels = {side: self._lease.labels(self.run_id, side) for side in ("system", "gateway")}
        volumes = (
            _spec.volume(self.names.door, _spec.DOOR_BYTES, labels["gateway"]),
            _spec.disk_volume(self.names.ledger, labels["gateway"]),
            _spec.volume(self.names.exchange, self._system_box.exchange_bytes, labels["system"]),
        )
        pool = ThreadPoolExecutor(max_workers=3, thread_name_prefix="open")
        try:
            self._gather(
                [pool.submit(self._call, end, "/volumes/create", body) for body in volumes], end
            )
            system = _spec.system(self._system_box, self.names, labels["system"])
            gateway = _spec.gateway(self._gateway_box, self.names, labels["gateway"])
            self._gather(
                [
                    pool.submit(self._bring_up, "gateway", self.names.gateway, gateway, end),
                    pool.submit(self._bring_up, "system", self.names.system, system, end),
                ],
                end,
            )
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------ looking in

    def get(
        self, path: str, *, max_bytes: int, max_files: int = 4096, deadline_s: float = 60.0
    ) -> snapshot.Snapshot:
        """See :meth:`runner.runs.sandbox.protocol.Box.get`."""
        limit = snapshot.transport_limit(max_bytes, max_files)
        stat, archive = self._archive(self.names.system, path, limit, deadline_s)
        if archive is None:
            raise HostileSnapshot(f"There is no {path} in the system's container.")
        if len(archive) > limit:
            raise HostileSnapshot(f"The snapshot at {path} holds more than {max_bytes} bytes.")
        top = str(stat.get("name", PurePosixPath(path).name))
        return snapshot.from_tar(archive, top=top, max_bytes=max_bytes, max_files=max_files)

    def read_file(
        self, path: str, *, max_bytes: int = 16 * MIB, side: Side = "system"
    ) -> bytes | None:
        """See :meth:`runner.runs.sandbox.protocol.Box.read_file`; either side's files."""
        name = getattr(self.names, side)
        limit = snapshot.transport_limit(max_bytes, 1)
        _, archive = self._archive(name, path, limit, 30.0)
        if archive is None:
            return None
        if len(archive) > limit:
            raise HostileSnapshot(f"{path} holds more than {max_bytes} bytes.")
        return snapshot.single_file(archive, max_bytes=max_bytes)

    def _archive(
        self, name: str, path: str, limit: int, deadline_s: float
    ) -> tuple[Mapping[str, Any], bytes | None]:
        headers, archive = self._engine.download(
            "GET",
            f"/containers/{name}/archive",
            query={"path": path},
            deadline_s=deadline_s,
            max_bytes=limit,
            missing_ok=True,
        )
        stat = next(
            (v for k, v in headers.items() if k.lower() == "x-docker-container-path-stat"), ""
        )
        return json.loads(base64.b64decode(stat)) if stat else {}, archive

    def escapes(self, *, deadline_s: float = 20.0) -> tuple[Escape, ...]:
        """See :meth:`runner.runs.sandbox.protocol.Box.escapes`."""
        return self._examine(deadline_s).escapes

    def limits(self, *, deadline_s: float = 20.0) -> tuple[Limit, ...]:
        """See :meth:`runner.runs.sandbox.protocol.Box.limits`."""
        return self._examine(deadline_s).limits

    def _examine(self, deadline_s: float) -> Findings:
        with self._examining:
            if self._findings is None:
                config = describe(self._system_box, host_addresses(self._engine))
                try:
                    self._findings, self._gauge = examine_and_stay(
                        self._engine, self.names.system, config, deadline_s=deadline_s
                    )
                    self._gauge.watch()
                except DeadlineMissed:
                    self._kill(self.names.system)
                    raise
                except EngineRefused as error:
                    if self.system.ended(1.0):
                        raise self._why_ended("system", self.names.system) from error
                    raise
            return self._findings

    def peak_memory(self) -> PeakMemory | None:
        """See :meth:`runner.runs.sandbox.protocol.Box.peak_memory`."""
        return None if self._gauge is None else self._gauge.peak()

    def _let_go(self) -> None:
        if self._gauge is not None:
            self._gauge.close()
