"""The line protocol: one JSON request a line in, one JSON reply a line out, logs on standard error.

Standard input is the lifeline. When it ends, whoever started the driver is gone, and the process
stops at once, also in the middle of a verb.
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

from baselines_driver import LICENCE, NAME, __version__, methods, settings
from baselines_driver.asking import Method, asked
from baselines_driver.errors import BadRequest, Degraded, DriverError, Unsupported
from baselines_driver.pages import handed
from baselines_driver.store import Store

MAX_LINE = 16 * 2**20
"""Longest request, in bytes."""
VERBS = ("describe", "index", "ask", "snapshot", "stop")
OTHER_VERBS = ("deposit", "consolidate", "probe", "learn")
"""Verbs of the protocol that these systems have no use for."""


class Driver:
    """One system behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is opened and nothing imported yet."""
        self._env = env
        self._folder = Path(env.get("HOME", ".")) / ".baselines"
        self._exchange = Path(env.get("BASELINES_EXCHANGE", "/run/exchange"))
        self._settings: settings.Settings | None = None
        self._method: Method | None = None
        self._store: Store | None = None
        self._pages = 0
        self._lock = threading.Lock()
        self.stopped = False
        self._verbs: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "describe": self._describe,
            "index": self._index,
            "ask": self._ask,
            "snapshot": self._snapshot,
            "stop": self._stop,
        }

    def warm(self) -> None:
        """Load what the method needs; meant for a thread beside the first verbs.

        What is wrong with it is no matter here: every verb that needs it says so.
        """
        try:
            self._looking()
        except DriverError:
            return

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request line. Never raises for what a request can bring about."""
        started = time.perf_counter()
        number: int | None = None
        try:
            request = _request(line)
            number = request["id"]
            reply = {"id": number, "ok": True, "result": self._result(request)}
        except DriverError as error:
            reply = _failure(number, error.type, str(error))
        except Exception as error:
            traceback.print_exc()
            reply = _failure(number, DriverError.type, f"{type(error).__name__}: {error}")
        reply["now"] = datetime.now(UTC).isoformat(timespec="microseconds")
        reply["ms"] = round((time.perf_counter() - started) * 1000, 3)
        return reply

    def _result(self, request: Mapping[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        if verb in OTHER_VERBS:
            raise Unsupported(f"{NAME} do not {verb}")
        if verb not in self._verbs:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        return self._verbs[verb](request)

    # ------------------------------------------------------------ verbs

    def _describe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        method = self._looking()
        name = self._configured().method
        return {
            "name": name,
            "version": __version__,
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": list(methods.METHODS[name].capabilities),
            "encoder": method.encoder,
            "settings": {
                "method": name,
                **method.settings(),
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _index(self, request: Mapping[str, Any]) -> dict[str, Any]:
        method, store = self._looking(), self._opened()
        pages = handed(request)
        if self._pages:
            raise BadRequest("there are pages already: index is asked once")
        if not pages:
            raise Degraded("there are no pages to look anything up in")
        findable = method.index(pages)
        if not findable:
            raise Degraded(f"of {len(pages)} pages none can be found: all were replaced")
        self._pages = store.put(pages)
        return {"pages": self._pages, "findable": findable}

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        method = self._looking()
        question = asked(request, method.told)
        if not self._pages:
            # Who holds nothing has found nothing, which must not pass for a refusal.
            raise Degraded("nothing is indexed: index comes before ask")
        return method.ask(question).result()

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._configured()
        return {"path": str(self._opened().snapshot(self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._store is not None:
            self._store.close()
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            raw = self._env.get("BENCH_SETTINGS", "")
            self._settings = settings.parse(raw, tuple(methods.METHODS))
        return self._settings

    def _looking(self) -> Method:
        with self._lock:
            if self._method is None:
                self._method = methods.make(self._configured(), self._env)
            return self._method

    def _opened(self) -> Store:
        if self._store is None:
            self._store = Store(self._folder)
        return self._store


def serve(requests: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when ``requests`` does."""
    driver = Driver(env)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, lines), name="requests", daemon=True).start()
    threading.Thread(target=driver.warm, name="warm", daemon=True).start()
    while not driver.stopped:
        reply = driver.answer(lines.get())
        try:
            replies.write(json.dumps(reply).encode() + b"\n")
            replies.flush()
        except OSError:
            # Nobody reads any more.
            break
    return 0


def main() -> None:
    """Serve on standard input and output; does not return."""
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


def _failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}
