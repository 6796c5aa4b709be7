"""A sandbox without containers: the sandbox protocol over threads of this process.

The system is the memory engine's own code on its own store file, the gateway answers out of the
scripted tables it is configured with, and snapshots are read by the sandbox's own hostile reader.
So a run in it is a real run in all but its walls, in a few milliseconds.
"""

import atexit
import io
import itertools
import os
import queue
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
from memory_engine import consolidate as consolidation
from memory_engine import deposit as taking_in
from memory_engine import recall as recalling
from memory_engine import store as engine_store
from memory_engine.judge import Judge
from memory_engine.settings import Options

from runner.errors import BenchError, ContainerDied, DeadlineMissed, DriverError
from runner.gateway.config import GatewayConfig
from runner.gateway.tables import Tables
from runner.model import Call, Ending, Escape, Limit, Outcome, Usage
from runner.runs.sandbox.protocol import (
    MIB,
    Box,
    EventCallback,
    GatewayBox,
    PeakMemory,
    Reading,
    Reply,
    Side,
    SystemBox,
)
from runner.runs.sandbox.snapshot import Snapshot, from_tar
from runner.systems.engine.reader import FILE, read
from runner.systems.engine.wire import EngineWire

Verb = Callable[[Mapping[str, Any]], Any]
Habit = Callable[["MemoryBox", Mapping[str, Any], Verb], Any]
"""What a system does in place of a verb: given its box, the request, and the verb itself."""


class LineChannel:
    """A thread that answers one JSON line at a time."""

    def __init__(self, name: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.name = name
        self._answer = answer
        self._ids = itertools.count(1)
        self._inbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._ended: BenchError | None = None
        self.closed = threading.Event()
        threading.Thread(target=self._serve, name=f"memory-{name}", daemon=True).start()

    def request(
        self, verb: str, payload: Mapping[str, Any] | None = None, *, deadline_s: float
    ) -> Reply:
        number, future = next(self._ids), Future[dict[str, Any]]()
        with self._lock:
            if self._ended is not None:
                raise self._ended
            self._waiting[number] = future
        self._inbox.put(orjson.dumps({"id": number, "verb": verb, **(payload or {})}))
        try:
            line = future.result(deadline_s)
        except TimeoutError:
            self.end(DeadlineMissed(f"The {self.name} did not answer {verb} in {deadline_s:g} s."))
            assert self._ended is not None
            raise self._ended from None
        except CancelledError:
            assert self._ended is not None
            raise self._ended from None
        if not line["ok"]:
            raise DriverError(line["error"]["type"], line["error"]["message"])
        now = line.get("now")
        return Reply(line["result"], datetime.fromisoformat(now) if now else None, 0.0)

    def wait_for(self, event: str, *, deadline_s: float) -> Mapping[str, Any]:
        if self._ended is not None:
            raise self._ended
        return {"event": event}

    def tail(self) -> str:
        return f"the log of the {self.name}\n"

    def end(self, why: BenchError) -> None:
        with self._lock:
            self._ended = self._ended or why
            waiting = list(self._waiting.values())
        self.closed.set()
        self._inbox.put(None)
        for future in waiting:
            future.cancel()

    def _serve(self) -> None:
        while (raw := self._inbox.get()) is not None:
            request = orjson.loads(raw)
            # Through bytes and back, so that nothing passes that a line could not carry.
            line = orjson.loads(orjson.dumps(self._answer(request)))
            with self._lock:
                future = self._waiting.pop(request["id"], None)
            if future is not None and future.set_running_or_notify_cancel():
                future.set_result(line)


class MemoryGateway:
    """Answers out of the tables of its first line, and prices what it answers."""

    def __init__(self, box: GatewayBox, on_event: EventCallback | None) -> None:
        self.config = GatewayConfig.model_validate_json(box.first_line)
        tables = [(table.name, table.content) for table in self.config.tables]
        self._tables = Tables.load(tables, self.config.names)
        self._on_event = on_event or (lambda event: None)
        self.offset_s: float | None = None
        self.offsets: list[float | None] = []
        self.late: list[Mapping[str, Any]] = []
        """What it says only when it is closed, as a real one's line may lag behind a reply."""
        self._step = ""
        self._calls = 0
        self._settled = Decimal(0)
        self.channel = LineChannel("gateway", self._reply)

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["verb"]:
            case "clock":
                self.offset_s = request["offset_s"]
                self.offsets.append(self.offset_s)
                result: dict[str, Any] = {}
            case "step":
                self._step, result = request["name"], {}
            case _:
                while request["verb"] == "close" and self.late:
                    self.emit(self.late.pop(0))
                result = {"settled_usd": str(self._settled), "calls": self._calls}
        return {"id": request["id"], "ok": True, "result": result}

    def emit(self, event: Mapping[str, Any]) -> None:
        """What a gateway says without being asked."""
        self._on_event(orjson.loads(orjson.dumps(event)))

    def call(
        self,
        purpose: str,
        *,
        usage: Usage | None = None,
        source: str | None = None,
        stop_reason: str | None = None,
    ) -> Call:
        """One more answered call, priced and counted."""
        usage = usage or Usage(input=1, output=1)
        model = self.config.pins.get(purpose, self.config.model)
        cost = self.config.prices[model].cost(usage)
        self._calls += 1
        self._settled += cost
        return Call(
            seq=self._calls,
            step=self._step,
            purpose=purpose,
            requested_model=model,
            served_model=model,
            outcome="answered",
            usage=usage,
            cost_usd=cost,
            prompt_sha256="0" * 64,
            source=source,
            stop_reason=stop_reason,
        )

    def ask(self, purpose: str, _system: str, document: str) -> str:
        """A model call of the system."""
        fields = orjson.loads(document)
        entry = self._tables.find(purpose, fields)
        if entry is None:
            near = str(self._tables.nearest(purpose, fields))
            ending = Ending(outcome=Outcome.INVALID, kind="script_missing", detail=near)
            self.emit({"event": "ended", "ending": ending.model_dump(mode="json")})
            raise DriverError("gateway_refused", near)
        call = self.call(purpose, usage=entry.usage, source=entry.source)
        self.emit({"event": "call", "call": call.model_dump(mode="json")})
        return entry.text if entry.text is not None else EngineWire().reply(purpose, entry.answer)


class MemoryBox:
    """One run's system and gateway."""

    def __init__(
        self,
        owner: "MemorySandbox",
        run_id: str,
        system: SystemBox,
        gateway: GatewayBox,
        on_event: EventCallback | None,
    ) -> None:
        self.run_id = run_id
        self.door = MemoryGateway(gateway, on_event)
        self._owner = owner
        self._folder = owner.folder / run_id
        self._folder.mkdir(parents=True)
        settings = orjson.loads(system.env["BENCH_SETTINGS"])
        self._options = Options(**settings["options"])
        self._store: engine_store.Store | None = None
        self._snapshots = 0
        self._system = LineChannel("system", self._reply)

    @property
    def system(self) -> LineChannel:
        return self._system

    @property
    def gateway(self) -> LineChannel:
        return self.door.channel

    def now(self) -> datetime:
        """What the system reads off its clock."""
        return datetime.now(UTC) + timedelta(seconds=self.door.offset_s or 0.0)

    def get(
        self, path: str, *, max_bytes: int, max_files: int = 4096, deadline_s: float = 60.0
    ) -> Snapshot:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            tar.add(path, arcname="snapshot")
        return from_tar(out.getvalue(), top="snapshot", max_bytes=max_bytes, max_files=max_files)

    def read_file(
        self, path: str, *, max_bytes: int = 16 * MIB, side: Side = "system"
    ) -> bytes | None:
        return None

    def escapes(self, *, deadline_s: float = 20.0) -> tuple[Escape, ...]:
        return self._owner.escapes

    def limits(self, *, deadline_s: float = 20.0) -> tuple[Limit, ...]:
        return self._owner.limits

    def peak_memory(self) -> PeakMemory | None:
        return self._owner.peak

    def close(self) -> None:
        for channel in (self.system, self.gateway):
            channel.end(ContainerDied("The container was removed: its box was closed."))
        self._owner.opened.discard(self.run_id)

    # ------------------------------------------------------------ the system

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        own: Verb = getattr(self, f"_{verb}")
        habit = self._owner.habits.get(verb)
        head = {"id": request["id"]}
        try:
            result = habit(self, request, own) if habit is not None else own(request)
        except DriverError as error:
            failure = {"type": error.kind, "message": error.message}
            return {**head, "ok": False, "error": failure, "now": self.now().isoformat()}
        now = None if self._owner.mute_clock else self.now().isoformat()
        return {**head, "ok": True, "result": result, "now": now}

    def _describe(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "name": "engine",
            "version": "0.1.0",
            "licence": "Apache-2.0",
            "encoder": None,
            "settings": {"same_slot_admits": self._options.same_slot_admits},
        }

    def _deposit(self, said: Mapping[str, Any]) -> dict[str, Any]:
        digest = engine_store.digest(said["text"])
        note = engine_store.Note(said["name"], said["text"], said["day"], digest)
        taking_in.deposit(self._engine(), self._judge(), self._options, self.now, note)
        return {}

    def _consolidate(self, _: Mapping[str, Any]) -> dict[str, Any]:
        consolidation.consolidate(self._engine(), self._judge(), self._options, self.now)
        return {}

    def _recall(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return recalling.recall(self._engine(), *recalling.asked(said))

    def _snapshot(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._snapshots += 1
        folder = self._folder / f"snapshot-{self._snapshots}"
        folder.mkdir()
        self._engine().backup(folder / FILE)
        return {"path": str(folder)}

    def _engine(self) -> engine_store.Store:
        self._store = self._store or engine_store.Store(self._folder / "store")
        return self._store

    def _judge(self) -> Judge:
        return Judge(self.door)  # type: ignore[arg-type]


def _in_memory() -> Path | None:
    """A folder that no disk has to be waited for; none where there is no such place."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        return None
    folder = tempfile.TemporaryDirectory(prefix="memory-bench-", dir=shared)
    atexit.register(folder.cleanup)
    return Path(folder.name)


class MemorySandbox:
    """Opens boxes of threads.

    Attributes:
        habits: what systems do in place of a verb, by verb.
        escapes: what every box says it tried.
        limits: what every box says it is held to.
        peak: what every box says its system used of memory.
        mute_clock: whether systems keep to themselves what day they see.
        gate: boxes wait for it while they open, as a slow engine makes them.
        opened: ids of the runs whose boxes are open.
        readings: every store that a system was asked to read itself.
    """

    def __init__(self, folder: Path, **habits: Habit) -> None:
        self.folder = _in_memory() or folder
        self.habits = habits
        self.escapes: tuple[Escape, ...] = ()
        self.limits: tuple[Limit, ...] = ()
        self.peak: PeakMemory | None = None
        self.mute_clock = False
        self.gate = threading.Event()
        self.gate.set()
        self.opened: set[str] = set()
        self.boxes: dict[str, MemoryBox] = {}
        self.readings: list[MemoryReading] = []

    @contextmanager
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
    ) -> Iterator[Box]:
        self.opened.add(run_id)
        box = self.boxes[run_id] = MemoryBox(self, run_id, system, gateway, on_event)
        try:
            if on_opening is not None:
                on_opening(box)
            end = time.monotonic() + deadline_s
            while not self.gate.wait(0.005):
                assert time.monotonic() < end
                if box.system.closed.is_set():
                    raise ContainerDied("The box was closed while it opened.")
            yield box
        finally:
            box.close()

    @contextmanager
    def read(
        self,
        run_id: str,
        system: SystemBox,
        store: Snapshot,
        *,
        deadline_s: float,
        on_opening: Callable[[Reading], None] | None = None,
    ) -> Iterator[Reading]:
        reading = MemoryReading(self, system, store)
        self.readings.append(reading)
        try:
            if on_opening is not None:
                on_opening(reading)
            yield reading
        finally:
            reading.close()

    def close(self) -> None:
        for box in self.boxes.values():
            box.close()


class MemoryReading:
    """A store, read by the engine's own reader in a thread of its own."""

    def __init__(self, owner: "MemorySandbox", system: SystemBox, store: Snapshot) -> None:
        self.box = system
        self._owner = owner
        self._folder = tempfile.TemporaryDirectory(prefix="memory-bench-", dir=owner.folder)
        store.write(Path(self._folder.name))
        self._system = LineChannel("system", self._reply)
        self.closed = 0

    @property
    def system(self) -> LineChannel:
        return self._system

    @property
    def store(self) -> str:
        return self._folder.name

    def close(self) -> None:
        self.closed += 1
        self._system.end(ContainerDied("The container was removed: its box was closed."))
        self._folder.cleanup()

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        habit = self._owner.habits.get(request["verb"])
        assert request["verb"] == "export"
        assert request["path"] == self.store
        try:
            own = self._export(request) if habit is None else habit(self, request, self._export)  # type: ignore[arg-type]
        except DriverError as error:
            failure = {"type": error.kind, "message": error.message}
            return {"id": request["id"], "ok": False, "error": failure}
        return {"id": request["id"], "ok": True, "result": own}

    def _export(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return read(Path(request["path"])).model_dump(mode="json")


def hang(box: MemoryBox, _request: Mapping[str, Any], _verb: Verb) -> Any:
    """A system that never answers, until its container is killed."""
    box.system.closed.wait()
    return {}


def die(box: MemoryBox, _request: Mapping[str, Any], _verb: Verb) -> Any:
    """A system whose container ends under a request."""
    box.system.end(ContainerDied("The system's container ended before it was told to: exit 1."))
    return {}


def fail(kind: str, message: str = "of a test") -> Habit:
    """A system that answers with a typed error."""

    def habit(_box: MemoryBox, _request: Mapping[str, Any], _verb: Verb) -> Any:
        raise DriverError(kind, message)

    return habit


def says(result: Any) -> Habit:
    """A system that answers with this whatever it is asked."""
    return lambda _box, _request, _verb: result
