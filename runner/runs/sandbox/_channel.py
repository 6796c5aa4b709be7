"""A process in a container, spoken to over its attached streams, one JSON line each way."""

import contextlib
import itertools
import selectors
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from runner.errors import BenchError, DeadlineMissed, DriverError, SandboxError
from runner.runs.sandbox._frames import STDERR, Demux
from runner.runs.sandbox.protocol import EventCallback, Reply

NOISE_LINES = 1000
"""Lines that are no JSON object before the stream counts as broken; libraries do print a banner."""
TAIL_BYTES = 64 * 1024
EVENT_NAMES = 64
"""How many kinds of event are remembered for those who wait for one."""


class StreamChannel:
    """A :class:`~runner.runs.sandbox.protocol.Channel` over an engine's multiplexed stream.

    One thread owns the socket, reading and writing, so that a request is bounded by its deadline
    even when the process on the other side has stopped reading.
    """

    def __init__(
        self,
        name: str,
        sock: socket.socket,
        first: bytes,
        *,
        kill: Callable[[], None],
        why_ended: Callable[[], BenchError],
        on_event: EventCallback | None = None,
        log_file: Path | None = None,
    ) -> None:
        """Take over an attached stream.

        Args:
            name: for messages and thread names.
            sock: the stream.
            first: what was already read from it.
            kill: ends the container; called when a deadline passes or the stream is broken.
            why_ended: asked once the stream has ended and somebody wants to know.
            on_event: gets unsolicited lines.
            log_file: gets the whole log.
        """
        self.name = name
        self.noise = 0
        """How many lines came that were no JSON object."""
        self._sock = sock
        self._kill = kill
        self._why_ended = why_ended
        self._on_event = on_event
        self._log = log_file.open("ab") if log_file is not None else None
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._ids = itertools.count(1)
        self._lock = threading.Condition()
        self._waiting: dict[int, Future[Mapping[str, Any]]] = {}
        self._events: dict[str, Mapping[str, Any]] = {}
        self._out: deque[memoryview] = deque()
        self._ended = False
        self._broken: BenchError | None = None
        self._wake_read, self._wake_write = socket.socketpair()
        self._demux = Demux(first)
        sock.setblocking(False)
        self._wake_read.setblocking(False)
        self._thread = threading.Thread(target=self._serve, name=f"channel-{name}", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------ what a run calls

    def request(
        self, verb: str, payload: Mapping[str, Any] | None = None, *, deadline_s: float
    ) -> Reply:
        """See :meth:`runner.runs.sandbox.protocol.Channel.request`."""
        number = next(self._ids)
        future: Future[Mapping[str, Any]] = Future()
        with self._lock:
            if self._ended:
                raise self._ending()
            self._waiting[number] = future
        try:
            self.send({"id": number, "verb": verb, **(payload or {})})
            line = future.result(deadline_s)
        except TimeoutError:
            raise self._missed(f"answer {verb}", deadline_s) from None
        except CancelledError:
            raise self._ending() from None
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if line.get("ok") is not True:
            error = line.get("error")
            error = error if isinstance(error, Mapping) else {}
            raise DriverError(str(error.get("type", "internal")), str(error.get("message", line)))
        result = line.get("result")
        return Reply(
            result if isinstance(result, Mapping) else {}, _moment(line), _number(line, "ms")
        )

    def wait_for(self, event: str, *, deadline_s: float) -> Mapping[str, Any]:
        """See :meth:`runner.runs.sandbox.protocol.Channel.wait_for`."""
        with self._lock:
            self._lock.wait_for(lambda: self._ended or event in self._events, deadline_s)
            if event in self._events:
                return self._events[event]
            ended = self._ended
        if ended:
            raise self._ending()
        raise self._missed(f"say {event!r}", deadline_s)

    def tail(self) -> str:
        """The end of its log, noise on standard output included."""
        with self._lock:
            return b"".join(self._tail).decode(errors="replace")

    # ------------------------------------------------------------ what the sandbox calls

    def send(self, line: Mapping[str, Any] | bytes) -> None:
        """Queue one line; returns at once."""
        data = line if isinstance(line, bytes) else orjson.dumps(line)
        with self._lock:
            self._out.append(memoryview(data.rstrip(b"\n") + b"\n"))
        with contextlib.suppress(OSError):
            self._wake_write.send(b"\0")

    def ended(self, timeout_s: float) -> bool:
        """Whether the stream has ended, waiting up to ``timeout_s`` for it."""
        with self._lock:
            return self._lock.wait_for(lambda: self._ended, timeout_s)

    def close(self) -> None:
        """Let go of the stream, which closes the process's standard input. Twice is once."""
        with self._lock:
            self._ended = True
        with contextlib.suppress(OSError):
            self._wake_write.send(b"\0")
        if threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    # ------------------------------------------------------------ the thread

    def _serve(self) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._sock, selectors.EVENT_READ)
                selector.register(self._wake_read, selectors.EVENT_READ)
                self._take(b"")
                while not self._ended:
                    wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._out else 0)
                    selector.modify(self._sock, wanted)
                    selector.select()
                    with contextlib.suppress(BlockingIOError):
                        self._wake_read.recv(4096)
                    self._write()
                    if not self._read():
                        break
        except OSError:
            pass  # the stream is gone; who waits is told why by asking the engine
        except BenchError as error:
            self._broken = error
        except Exception as error:  # of the callback: it must not end as a silent thread
            self._broken = SandboxError(f"Following the {self.name} failed: {error!r}.")
        finally:
            with contextlib.suppress(OSError):
                self._sock.close()
            with self._lock:
                self._ended = True
                waiting = list(self._waiting.values())
                self._lock.notify_all()
            for future in waiting:
                future.cancel()
            if self._log is not None:
                self._log.close()
            if self._broken is not None:
                self._kill()
            self._wake_read.close()
            self._wake_write.close()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            while self._out:
                part = self._out[0]
                sent = self._sock.send(part)
                if sent == len(part):
                    self._out.popleft()
                else:
                    self._out[0] = part[sent:]

    def _read(self) -> bool:
        """Take in what is there; false at the end of the stream."""
        with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            while data := self._sock.recv(1024 * 1024):
                self._take(data)
                if not (isinstance(self._sock, ssl.SSLSocket) and self._sock.pending()):
                    return True
            return False
        return True

    def _take(self, data: bytes) -> None:
        for stream, piece in self._demux.feed(data):
            if stream == STDERR:
                self._note(piece)
            else:
                self._line(piece)

    def _line(self, raw: bytes) -> None:
        try:
            line = orjson.loads(raw)
        except orjson.JSONDecodeError:
            line = None
        if not isinstance(line, dict) or not ("event" in line or "id" in line):
            return self._noise(raw)
        if "event" in line:
            with self._lock:
                if len(self._events) < EVENT_NAMES:
                    self._events.setdefault(str(line["event"]), line)
                self._lock.notify_all()
            if self._on_event is not None:
                self._on_event(line)
            return None
        with self._lock:
            future = self._waiting.pop(line["id"], None) if isinstance(line["id"], int) else None
        if future is None:
            return self._noise(raw)  # late, or never asked for
        future.set_result(line)
        return None

    def _noise(self, raw: bytes) -> None:
        self.noise += 1
        self._note(b"[stdout] " + raw[:4096] + b"\n")
        if self.noise > NOISE_LINES:
            raise DriverError(
                "internal",
                f"{self.name} printed {self.noise} lines that are no reply: {raw[:200]!r}",
            )

    def _note(self, piece: bytes) -> None:
        try:
            if self._log is not None:
                self._log.write(piece)
                self._log.flush()
        except OSError as error:  # a full disk ends the log, not the run
            self._log = None
            piece += f"[the log file ends here: {error}]\n".encode()
        with self._lock:
            self._tail.append(piece[-TAIL_BYTES:])
            self._tail_bytes += len(self._tail[-1])
            while self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
                self._tail_bytes -= len(self._tail.popleft())

    # ------------------------------------------------------------ endings

    def _missed(self, what: str, deadline_s: float) -> DeadlineMissed:
        self._kill()
        return DeadlineMissed(
            f"The {self.name} did not {what} within {deadline_s:g} s; its container was killed."
        )

    def _ending(self) -> BenchError:
        return self._broken or self._why_ended()


def _moment(line: Mapping[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(line["now"])
    except (KeyError, TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


def _number(line: Mapping[str, Any], key: str) -> float:
    value = line.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
