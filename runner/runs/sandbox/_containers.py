"""Containers that belong together: bringing them up, and taking them away on every way out."""

import contextlib
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Protocol

from runner.errors import BenchError, CannotStart, ContainerDied, DeadlineMissed, EngineLost
from runner.runs.sandbox._channel import StreamChannel
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._lease import Lease
from runner.runs.sandbox._reaper import remove_container, remove_volume
from runner.runs.sandbox._shield import each, uninterrupted
from runner.runs.sandbox.protocol import EventCallback, Side

CLOSE_S = 8.0
KILL_S = 5.0


class Named(Protocol):
    """What the objects on an engine are called."""

    @property
    def containers(self) -> tuple[str, ...]:
        """All containers."""
        ...

    @property
    def volumes(self) -> tuple[str, ...]:
        """All volumes."""
        ...


class Containers:
    """What one box, or one reading, has on the engine."""

    def __init__(
        self,
        engine: Engine,
        lease: Lease,
        run_id: str,
        named: Named,
        *,
        first_line: bytes = b"",
        on_event: EventCallback | None = None,
        log_folder: Path | None = None,
    ) -> None:
        """Set what all of them have; nothing is made yet.

        Args:
            engine: the engine.
            lease: whose they are.
            run_id: goes into labels.
            named: what they are called.
            first_line: what a gateway is told first.
            on_event: gets a gateway's unsolicited lines.
            log_folder: where full logs are kept; none keeps only their ends.
        """
        self.run_id = run_id
        self._first_line = first_line
        self._on_event = on_event
        self._log_folder = log_folder
        self._named = named
        self._engine = engine
        self._lease = lease
        self._channels: dict[Side, StreamChannel] = {}
        self._closing = threading.Event()
        self._closed = threading.Lock()
        self._killed: set[str] = set()
        self._workers: list[Future[None]] = []

    @property
    def system(self) -> StreamChannel:
        """See :class:`runner.runs.sandbox.protocol.Box`."""
        return self._channels["system"]

    # ------------------------------------------------------------ opening

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
                deadline_s=time_left(end),
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
                channel.send(self._first_line)
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
        self._engine.call("POST", path, query=query, body=body, deadline_s=time_left(end))

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
        self._let_go()
        # An engine that is gone cannot be asked; what is left bears the lease and is reaped.
        with contextlib.suppress(EngineLost, EngineRefused, TimeoutError):
            each(self._named.containers, lambda name: remove_container(self._engine, name, end))
            each(self._named.volumes, lambda name: remove_volume(self._engine, name, end))

    def _let_go(self) -> None:
        """Let go of what else is held of the containers."""

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


def time_left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise DeadlineMissed("The container engine was too slow to open a sandbox.")
    return left
