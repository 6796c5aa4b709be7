"""The line protocol: one JSON request a line in, one JSON reply a line out, logs on standard error.

Standard input is the lifeline. When it ends, whoever started the driver is gone, and the process
stops at once, also in the middle of a verb; what it started dies with it.
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

from claude_mem_driver import LICENCE, NAME, agent, memory, requests, settings
from claude_mem_driver.errors import BadRequest, Degraded, DriverError, Unsupported
from claude_mem_driver.identity import encoder, versions
from claude_mem_driver.memory import Memory
from claude_mem_driver.place import INSTALLED, Place
from claude_mem_driver.snapshot import snapshot

VERBS = ("describe", "deposit", "consolidate", "index", "ask", "recall", "snapshot", "stop")
CAPABILITIES = ("statements", "recall", "refuses")
"""Not ``scores``: its search says in what order, and not by how much."""
OTHER_VERBS = ("probe", "learn")
"""Verbs of the protocol that claude-mem has nothing for."""


class Driver:
    """One memory behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is started yet."""
        self._env = env
        installed = Path(env.get("CLAUDE_MEM_INSTALLED", INSTALLED))
        self._place = Place(Path(env.get("HOME", ".")).resolve(), installed)
        self._exchange = Path(env.get("BENCH_EXCHANGE", "/run/exchange"))
        self._settings: settings.Settings | None = None
        self._memory: Memory | None = None
        self._wrong: DriverError | None = None
        self._ready = False
        self._indexed = False
        self.stopped = False
        self._verbs: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "describe": self._describe,
            "deposit": self._deposit,
            "consolidate": self._consolidate,
            "index": self._index,
            "ask": self._ask,
            "recall": self._recall,
            "snapshot": self._snapshot,
            "stop": self._stop,
        }

    def warm(self) -> None:
        """Start the worker. What is wrong with that is no matter here: every verb says so."""
        try:
            self._started()
        except DriverError as error:
            self._wrong = error
            print(f"claude-mem does not start: {error}", file=sys.stderr, flush=True)

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request line. Never raises for what a request can bring about."""
        started = time.perf_counter()
        number: int | None = None
        try:
            request = requests.read(line)
            number = request["id"]
            reply = {"id": number, "ok": True, "result": self._result(request)}
        except DriverError as error:
            reply = _failure(number, error.type, str(error))
        except sqlite3.Error as error:
            traceback.print_exc()
            reply = _failure(number, Degraded.type, f"the store failed: {error}")
        except Exception as error:
            traceback.print_exc()
            reply = _failure(number, DriverError.type, f"{type(error).__name__}: {error}")
        reply["now"] = datetime.now(UTC).isoformat(timespec="microseconds")
        reply["ms"] = round((time.perf_counter() - started) * 1000, 3)
        return reply

    def close(self) -> None:
        """End the worker."""
        if self._memory is not None:
            self._memory.worker.stop()

    def _result(self, request: Mapping[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        if verb in OTHER_VERBS:
            raise Unsupported(f"claude-mem does not {verb}")
        if verb not in self._verbs:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        return self._verbs[verb](request)

    # ------------------------------------------------------------ verbs

    def _describe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        opened = self._opened()
        configured = self._configured()
        return {
            "name": NAME,
            "version": opened.worker.version,
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": list(CAPABILITIES),
            "encoder": encoder(self._place),
            "settings": {
                **configured.as_json(),
                "claude_mem": self._place.settings(configured.observer),
                "prompts": {
                    "index": memory.READ_PAGES,
                    "deposit": memory.READ_NOTE,
                    "session": agent.PROMPT,
                },
                **versions(self._place),
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _deposit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._opened().deposit(*requests.note(request))

    def _consolidate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        opened = self._opened()
        opened.settle()
        return opened.count()

    def _index(self, request: Mapping[str, Any]) -> dict[str, Any]:
        pages = requests.pages(request)
        if self._indexed:
            raise BadRequest("there are pages already: index is asked once")
        self._indexed = True
        return self._opened().index(pages)

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        limit = self._configured().options.limit
        question, most = requests.question(request), requests.top_k(request, limit)
        opened = self._filled()
        found = opened.search(question, max(limit, most))
        of = {one.id: opened.pages_of(one) for one in found}
        pages = list(dict.fromkeys(name for names in of.values() for name in names))
        first = found[0] if found else None
        return {
            # The search says in what order, and nothing of how well each fits.
            "pages": [{"name": name, "score": None} for name in pages[:most]],
            "refused": not found,
            "receipt": {
                "observations": [one.id for one in found],
                "of_several_files": sum(len(opened.files_of(one)) > 1 for one in found),
                **({"first": first.title, "files": list(opened.files_of(first))} if first else {}),
            },
        }

    def _recall(self, request: Mapping[str, Any]) -> dict[str, Any]:
        limit = self._configured().options.limit
        question, most = requests.question(request), requests.top_k(request, limit)
        opened = self._filled()
        return {
            "statements": [
                {
                    "text": one.text,
                    "day": one.day.isoformat(),
                    "score": None,
                    "source": next(iter(opened.files_of(one)), None),
                }
                for one in opened.search(question, most)
            ]
        }

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._opened().settle()
        return {"path": str(snapshot(self._place.data, self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.parse(self._env.get("BENCH_SETTINGS", ""))
        return self._settings

    def _started(self) -> Memory:
        if self._memory is None:
            self._memory = Memory(self._place, self._env, self._configured())
        return self._memory

    def _opened(self) -> Memory:
        if self._wrong is not None:
            raise self._wrong
        started = self._started()
        if not self._ready:
            started.worker.wait_ready()
            self._ready = True
        return started

    def _filled(self) -> Memory:
        opened = self._opened()
        if not opened.holds:
            # Who holds nothing has found nothing, which must not pass for a refusal.
            raise Degraded("there is nothing to ask: something has to be put in first, and whole")
        return opened


def serve(source: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when ``source`` does."""
    driver = Driver(env)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # The worker is started by this thread, which lives as long as the process: a child dies with
    # the thread that started it.
    driver.warm()
    threading.Thread(
        target=_read, args=(source, lines, driver), name="requests", daemon=True
    ).start()
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


def _read(source: BinaryIO, lines: "queue.SimpleQueue[bytes]", driver: Driver) -> None:
    while line := source.readline(requests.MAX_LINE + 1):
        if len(line) > requests.MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = source.readline(requests.MAX_LINE)
            line = b""
        lines.put(line)
    driver.close()
    os._exit(0)


def _failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}
