"""Where a run's time goes: a sandbox that notes when each of its verbs began and ended."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from runner.model import Escape, Limit
from runner.runs.sandbox.protocol import (
    Box,
    Channel,
    EventCallback,
    GatewayBox,
    PeakMemory,
    Reading,
    Reply,
    Sandbox,
    SystemBox,
)
from runner.runs.sandbox.snapshot import Snapshot


@dataclass(slots=True)
class Spans:
    """What was done in one run, by name: ``(began, ended)`` in seconds since it was made."""

    origin: float = field(default_factory=time.perf_counter)
    done: dict[str, tuple[float, float]] = field(default_factory=dict)

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Note what happens under this name; one that is used twice gets a number."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.done[self._free(name)] = (
                began - self.origin,
                time.perf_counter() - self.origin,
            )

    def _free(self, name: str) -> str:
        if name not in self.done:
            return name
        number = 2
        while f"{name} {number}" in self.done:
            number += 1
        return f"{name} {number}"


@dataclass(frozen=True, slots=True)
class TimedChannel:
    """A :class:`~runner.runs.sandbox.protocol.Channel` that notes its requests."""

    inner: Channel
    side: str
    spans: Spans

    def request(
        self, verb: str, payload: Mapping[str, Any] | None = None, *, deadline_s: float
    ) -> Reply:
        """Ask, and note how long the answer took."""
        with self.spans.span(f"{self.side}: {verb}"):
            return self.inner.request(verb, payload, deadline_s=deadline_s)

    def wait_for(self, event: str, *, deadline_s: float) -> Mapping[str, Any]:
        """Wait, and note how long."""
        with self.spans.span(f"{self.side}: {event}"):
            return self.inner.wait_for(event, deadline_s=deadline_s)

    def tail(self) -> str:
        """The end of its log."""
        return self.inner.tail()


@dataclass(frozen=True, slots=True)
class TimedBox:
    """A :class:`~runner.runs.sandbox.protocol.Box` that notes what is asked of it."""

    inner: Box
    spans: Spans

    @property
    def system(self) -> TimedChannel:
        """The system's channel, timed."""
        return TimedChannel(self.inner.system, "system", self.spans)

    @property
    def gateway(self) -> TimedChannel:
        """The gateway's channel, timed."""
        return TimedChannel(self.inner.gateway, "gateway", self.spans)

    def get(
        self, path: str, *, max_bytes: int, max_files: int = 4096, deadline_s: float = 60.0
    ) -> Snapshot:
        """A folder of the system's container, timed."""
        with self.spans.span("fetch the snapshot"):
            return self.inner.get(
                path, max_bytes=max_bytes, max_files=max_files, deadline_s=deadline_s
            )

    def read_file(
        self,
        path: str,
        *,
        max_bytes: int = 16 << 20,
        side: Literal["system", "gateway"] = "system",
    ) -> bytes | None:
        """One file of either side's container."""
        return self.inner.read_file(path, max_bytes=max_bytes, side=side)

    def escapes(self, *, deadline_s: float = 20.0) -> tuple[Escape, ...]:
        """Every known way out, timed."""
        with self.spans.span("escapes and limits"):
            return self.inner.escapes(deadline_s=deadline_s)

    def limits(self, *, deadline_s: float = 20.0) -> tuple[Limit, ...]:
        """Part of the same look as :meth:`escapes`."""
        return self.inner.limits(deadline_s=deadline_s)

    def peak_memory(self) -> PeakMemory | None:
        """The most memory there was, timed."""
        with self.spans.span("read the memory"):
            return self.inner.peak_memory()

    def close(self) -> None:
        """Remove everything."""
        self.inner.close()


@dataclass(frozen=True, slots=True)
class TimedSandbox:
    """A :class:`~runner.runs.sandbox.protocol.Sandbox` whose boxes note what is asked of them."""

    inner: Sandbox
    spans: Spans

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
        """Open a box; opening and closing are noted too."""
        return self._open(run_id, system, gateway, deadline_s, on_event, on_opening, log_folder)

    def read(
        self,
        run_id: str,
        system: SystemBox,
        store: Snapshot,
        *,
        deadline_s: float,
        on_opening: Callable[[Reading], None] | None = None,
    ) -> AbstractContextManager[Reading]:
        """As the sandbox itself does: no system that is measured here reads its own store."""
        return self.inner.read(run_id, system, store, deadline_s=deadline_s, on_opening=on_opening)

    @contextlib.contextmanager
    def _open(
        self,
        run_id: str,
        system: SystemBox,
        gateway: GatewayBox,
        deadline_s: float,
        on_event: EventCallback | None,
        on_opening: Callable[[Box], None] | None,
        log_folder: Path | None,
    ) -> Iterator[Box]:
        with contextlib.ExitStack() as stack:
            with self.spans.span("open"):
                box = stack.enter_context(
                    self.inner.open(
                        run_id,
                        system,
                        gateway,
                        deadline_s=deadline_s,
                        on_event=on_event,
                        on_opening=on_opening,
                        log_folder=log_folder,
                    )
                )
            try:
                yield TimedBox(box, self.spans)
            finally:
                with self.spans.span("close"):
                    stack.close()

    def close(self) -> None:
        """Close what is under it."""
        self.inner.close()
