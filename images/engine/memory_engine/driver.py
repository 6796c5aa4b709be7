"""The line protocol: one JSON request a line in, one JSON reply a line out, logs on standard error.

Standard input is the lifeline. When it ends, whoever started the engine is gone, and the process
stops at once, also in the middle of a verb: everything a verb writes is one transaction, so there
is nothing to finish.
"""

import json
import os
import queue
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from memory_engine import LICENCE, NAME, __version__, prompts, settings
from memory_engine.consolidate import consolidate
from memory_engine.days import parse_day
from memory_engine.deposit import deposit
from memory_engine.errors import BadRequest, EngineError, StoreUnusable, Unsupported
from memory_engine.judge import Judge
from memory_engine.model import Model
from memory_engine.probe import probe, stated
from memory_engine.recall import asked, recall
from memory_engine.snapshot import snapshot
from memory_engine.store import Note, Store, digest

MAX_LINE = 16 * 2**20
"""Longest request, in bytes."""

VERBS = ("describe", "deposit", "consolidate", "recall", "probe", "snapshot", "stop")
CAPABILITIES = ("claims", "probes")
OTHER_VERBS = ("index", "ask", "learn")
"""Verbs of the protocol that this engine has no use for."""


def now() -> datetime:
    """The time as this process sees it."""
    return datetime.now(UTC)


class Driver:
    """One engine behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is opened and nothing imported yet."""
        home = Path(env.get("HOME", "."))
        self._folder = Path(env.get("MEMORY_ENGINE_HOME", home / ".memory-engine"))
        self._exchange = Path(env.get("MEMORY_ENGINE_EXCHANGE", "/run/exchange"))
        self._raw_settings = env.get("BENCH_SETTINGS", "")
        self._settings: settings.Settings | None = None
        self._judge: Judge | None = None
        self._model: Model | None = None
        self._store: Store | None = None
        self._lock = threading.Lock()
        self.stopped = False
        self._verbs: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "describe": self._describe,
            "deposit": self._deposit,
            "consolidate": self._consolidate,
            "recall": self._recall,
            "probe": self._probe,
            "snapshot": self._snapshot,
            "stop": self._stop,
        }

    def warm(self) -> None:
        """Import the model's SDK; meant for a thread beside the first verbs.

        Settings that are wrong are no matter here: the first verb says so.
        """
        try:
            self._open_model().warm()
        except EngineError:
            return

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request line. Never raises for what a request can bring about."""
        started = time.perf_counter()
        number: int | None = None
        try:
            request = _request(line)
            number = request["id"]
            reply = {"id": number, "ok": True, "result": self._dispatch(request)}
        except EngineError as error:
            reply = _failure(number, error.type, str(error))
        except sqlite3.Error as error:
            traceback.print_exc()
            reply = _failure(number, StoreUnusable.type, f"the store failed: {error}")
        except Exception as error:
            traceback.print_exc()
            reply = _failure(number, "internal", f"{type(error).__name__}: {error}")
        reply["now"] = now().isoformat(timespec="microseconds")
        reply["ms"] = round((time.perf_counter() - started) * 1000, 3)
        return reply

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _dispatch(self, request: Mapping[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        if verb in OTHER_VERBS:
            raise Unsupported(f"the engine does not {verb}")
        if verb not in self._verbs:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        return self._verbs[verb](request)

    # ------------------------------------------------------------ verbs

    def _describe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "name": NAME,
            "version": __version__,
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": list(CAPABILITIES),
            "encoder": None,
            "settings": {
                **self._configured().as_json(),
                "prompts": prompts.digests(),
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _deposit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        note = _note(request)
        judge, store = self._opened()
        before = judge.calls
        result = deposit(store, judge, self._configured().options, now, note)
        return {**result, "calls": _since(before, judge.calls)}

    def _consolidate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        judge, store = self._opened()
        before = judge.calls
        result = consolidate(store, judge, self._configured().options, now)
        return {**result, "calls": _since(before, judge.calls)}

    def _recall(self, request: Mapping[str, Any]) -> dict[str, Any]:
        _, store = self._opened()
        return recall(store, *asked(request))

    def _probe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        older, newer = (stated(request, side) for side in ("older", "newer"))
        # The store is not opened: a probe is of two claims and of nothing else.
        return probe(self._asked(), older, newer)

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        _, store = self._opened()
        return {"path": str(snapshot(store, self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.close()
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.parse(self._raw_settings)
        return self._settings

    def _open_model(self) -> Model:
        with self._lock:
            if self._model is None:
                self._model = Model(self._configured())
            return self._model

    def _asked(self) -> Judge:
        if self._judge is None:
            self._judge = Judge(self._open_model())
        return self._judge

    def _opened(self) -> tuple[Judge, Store]:
        judge = self._asked()
        if self._store is None:
            self._store = Store(self._folder)
        return judge, self._store


def serve(requests: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when ``requests`` does."""
    driver = Driver(env)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, lines), name="requests", daemon=True).start()
    threading.Thread(target=driver.warm, name="warm", daemon=True).start()
    while not driver.stopped:
        reply = driver.answer(lines.get())
        try:
            replies.write(json.dumps(reply, ensure_ascii=True).encode() + b"\n")
            replies.flush()
        except OSError:
            # Nobody reads any more.
            break
    driver.close()
    return 0


def main() -> int:
    """Serve on standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Replies go out on a descriptor of their own: a stray print must not look like one.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    code = serve(sys.stdin.buffer, replies, os.environ)
    # Not sys.exit: the thread that waits on standard input would be waited for.
    sys.stderr.flush()
    os._exit(code)


def _read(requests: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    while line := requests.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = requests.readline(MAX_LINE)
            line = b""
        lines.put(line)
    os._exit(0)


def _request(line: bytes) -> dict[str, Any]:
    if not line:
        raise BadRequest(f"the request is longer than {MAX_LINE} bytes")
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise BadRequest("the request is not a JSON object")
    if not isinstance(request.get("id"), int) or isinstance(request["id"], bool):
        raise BadRequest("the request has no whole number as its id")
    if not isinstance(request.get("verb"), str):
        # The id is known by now; keep it in the reply.
        request["verb"] = ""
    return request


def _note(request: Mapping[str, Any]) -> Note:
    name, text, day = (request.get(field) for field in ("name", "text", "day"))
    if not isinstance(name, str) or not name.strip() or len(name) > 500:
        raise BadRequest("deposit needs a name of 1 to 500 characters")
    if not isinstance(text, str):
        raise BadRequest("deposit needs a text")
    if not isinstance(day, str):
        raise BadRequest("deposit needs a day as YYYY-MM-DD")
    try:
        parse_day(day)
    except ValueError as error:
        raise BadRequest(f"deposit needs a day: {error}") from error
    try:
        return Note(name, text, day, digest(text))
    except UnicodeEncodeError as error:
        raise BadRequest(f"the text is not Unicode text: {error}") from error


def _failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}


def _since(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {
        purpose: count - before.get(purpose, 0)
        for purpose, count in sorted(after.items())
        if count > before.get(purpose, 0)
    }
