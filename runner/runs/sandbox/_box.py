"""One run's two containers: bringing them up, looking in, taking them away."""

import base64
import contextlib
import json
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path, PurePosixPath
from typing import Any

from runner.errors import (
    BenchError,
    CannotStart,
    ContainerDied,
    DeadlineMissed,
    EngineLost,
    HostileSnapshot,
)
from runner.model import Escape, Limit
from runner.runs.sandbox import _spec, snapshot
from runner.runs.sandbox._channel import StreamChannel
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._gauge import Gauge
from runner.runs.sandbox._inside import Findings, describe, examine_and_stay, host_addresses
from runner.runs.sandbox._lease import Lease
from runner.runs.sandbox._reaper import remove_container, remove_volume
from runner.runs.sandbox._shield import each, uninterrupted
from runner.runs.sandbox.protocol import (
    MIB,
    EventCallback,
    GatewayBox,
    PeakMemory,
    Side,
    SystemBox,
)

CLOSE_S = 8.0
KILL_S = 5.0


class EngineBox:
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
        self.run_id = run_id
        self.names = _spec.Names.of(f"{lease.name[:8]}-{uuid.uuid4().hex[:8]}")
        self._engine = engine
        self._lease = lease
        self._system_box = system
        self._gateway_box = gateway
        self._on_event = on_event
        self._log_folder = log_folder
        self._channels: dict[Side, StreamChannel] = {}
        self._closing = threading.Event()
        self._closed = threading.Lock()
        self._killed: set[str] = set()
        self._workers: list[Future[None]] = []
        self._examining = threading.Lock()
        self._findings: Findings | None = None
        self._gauge: Gauge | None = None

    @property
    def system(self) -> StreamChannel:
        """See :class:`runner.runs.sandbox.protocol.Box`."""
        return self._channels["system"]

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

    def _gather(self, futures: list[Future[None]], end: float) -> None:
        self._workers += futures
        for future in futures:
            try:
                future.result(max(0.0, end - time.monotonic()))
            except TimeoutError:
                raise DeadlineMissed(
                    "The container engine was too slow to open a sandbox."
                ) from None

    def _bring_up(self, side: Side, name: str, body: dict[str, Any], end: float) -> None:
        image = body["Image"]
        try:
            self._call(end, "/containers/create", body, query={"name": name})
            sock, first = self._engine.hijack(
                f"/containers/{name}/attach",
                query={"stream": "1", "stdin": "1", "stdout": "1", "stderr": "1"},
                deadline_s=_left(end),
            )
            log = self._log_folder / f"{side}.log" if self._log_folder is not None else None
            channel = StreamChannel(
                side,
                sock,
                first,
                kill=lambda: self._kill(name),
                why_ended=lambda: self._why_ended(side, name),
                on_event=self._on_event if side == "gateway" else None,
                log_file=log,
            )
            self._channels[side] = channel
            if side == "gateway":
                channel.send(self._gateway_box.first_line)
            self._call(end, f"/containers/{name}/start", None)
        except EngineRefused as error:
            if self._closing.is_set():
                return
            hint = f"Is the image {image} there? `bench doctor` says what is missing."
            raise CannotStart(error.message, hint=hint if error.status == 404 else "") from error

    def _call(
        self, end: float, path: str, body: Any, query: Mapping[str, Any] | None = None
    ) -> None:
        if self._closing.is_set():
            raise ContainerDied("The box was closed while it opened.")
        self._engine.call("POST", path, query=query, body=body, deadline_s=_left(end))

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

    # ------------------------------------------------------------ endings

    def close(self) -> None:
        """See :meth:`runner.runs.sandbox.protocol.Box.close`."""
        self._closing.set()
        with self._closed:
            uninterrupted(self._remove)

    def _remove(self) -> None:
        end = time.monotonic() + CLOSE_S
        wait(self._workers, timeout=CLOSE_S / 2)  # so that nothing is created behind our back
        for channel in self._channels.values():
            channel.close()
        if self._gauge is not None:
            self._gauge.close()
        # An engine that is gone cannot be asked; what is left bears the lease and is reaped.
        with contextlib.suppress(EngineLost, EngineRefused, TimeoutError):
            each(self.names.containers, lambda name: remove_container(self._engine, name, end))
            each(self.names.volumes, lambda name: remove_volume(self._engine, name, end))

    def _kill(self, name: str) -> None:
        self._killed.add(name)
        with contextlib.suppress(EngineLost, EngineRefused):
            self._engine.call("POST", f"/containers/{name}/kill", deadline_s=KILL_S)

    def _why_ended(self, side: Side, name: str) -> BenchError:
        if self._closing.is_set():
            return ContainerDied(f"The {side}'s container was removed: its box was closed.")
        try:
            state = self._state(name)
            for _ in range(40):
                if state is None or not state["Running"]:
                    break
                time.sleep(0.05)
                state = self._state(name)
        except (EngineLost, EngineRefused) as error:
            return error
        if state is None:
            detail = "somebody removed it"
        elif state["Running"]:
            return EngineLost(f"The stream to the {side}'s container broke, but it still runs.")
        elif state.get("OOMKilled") or (state.get("ExitCode") == 137 and name not in self._killed):
            # The engine only notices when it hits the first process; the kernel takes the largest.
            detail = "it was killed, as happens to one that uses up its memory (exit code 137)"
        else:
            detail = f"exit code {state.get('ExitCode')}"
        tail = self._channels[side].tail().strip()[-2000:]
        return ContainerDied(
            f"The {side}'s container ended before it was told to: {detail}."
            + (f" The end of its log:\n{tail}" if tail else "")
        )

    def _state(self, name: str) -> dict[str, Any] | None:
        found = self._engine.call(
            "GET", f"/containers/{name}/json", deadline_s=KILL_S, missing_ok=True
        )
        return None if found is None else found["State"]


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise DeadlineMissed("The container engine was too slow to open a sandbox.")
    return left
