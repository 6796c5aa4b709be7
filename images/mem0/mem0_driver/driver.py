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

from mem0_driver import LICENCE, NAME, requests, settings
from mem0_driver.errors import BadRequest, Degraded, DriverError, Unsupported
from mem0_driver.memory import Added, Memories, encoder
from mem0_driver.snapshot import snapshot

VERBS = ("describe", "deposit", "consolidate", "index", "ask", "recall", "snapshot", "stop")
CAPABILITIES = ("statements", "recall", "scores", "refuses")
OTHER_VERBS = ("probe", "learn")
"""Verbs of the protocol that mem0 has nothing for."""
SHOWN = 5
"""Texts that a warning names."""


class Driver:
    """One memory behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is imported yet."""
        self._env = env
        self._folder = Path(env.get("HOME", ".")).resolve() / ".mem0"
        self._exchange = Path(env.get("BENCH_EXCHANGE", "/run/exchange"))
        self._settings: settings.Settings | None = None
        self._memories: Memories | None = None
        self._indexed = False
        self._given = 0
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
        """Import and open mem0. What is wrong with it is no matter here: every verb says so."""
        try:
            self._opened()
        except Exception as error:
            print(f"mem0 does not open: {error}", file=sys.stderr, flush=True)

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

    def _result(self, request: Mapping[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        if verb in OTHER_VERBS:
            raise Unsupported(f"mem0 does not {verb}")
        if verb not in self._verbs:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        return self._verbs[verb](request)

    # ------------------------------------------------------------ verbs

    def _describe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memories = self._opened()
        return {
            "name": NAME,
            "version": memories.version,
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": list(CAPABILITIES),
            "encoder": encoder(),
            "settings": {
                **self._configured().as_json(),
                **memories.parts(),
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _deposit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        name, text = requests.note(request)
        return _told({name: self._add(name, text)})

    def _consolidate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._opened()
        return {"done": "nothing: mem0 has nothing to do between two notes"}

    def _index(self, request: Mapping[str, Any]) -> dict[str, Any]:
        pages = requests.pages(request)
        if self._indexed:
            raise BadRequest("there are pages already: index is asked once")
        self._indexed = True
        added = {name: self._add(name, text) for name, text in pages}
        remembered = sum(not each.nothing for each in added.values())
        # A page of which the model said that there is nothing to remember was taken too.
        return {"pages": len(added), "remembered": remembered, **_told(added)}

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        limit = self._configured().options.limit
        question, most = requests.question(request), requests.top_k(request, limit)
        if not self._given:
            # Who holds nothing has found nothing, which must not pass for a refusal.
            raise Degraded("there is nothing to ask: index comes before ask")
        found = self._opened().search(question, max(limit, most))
        best: dict[str, float] = {}
        for each in found:
            best.setdefault(each.source, each.score)
        first = found[0] if found else None
        return {
            "pages": [{"name": name, "score": score} for name, score in [*best.items()][:most]],
            "refused": not found,
            "receipt": {
                "memories": len(found),
                **({"memory": first.text, **first.parts} if first else {}),
            },
        }

    def _recall(self, request: Mapping[str, Any]) -> dict[str, Any]:
        limit = self._configured().options.limit
        question, most = requests.question(request), requests.top_k(request, limit)
        return {
            "statements": [
                {
                    "text": each.text,
                    "day": each.day.isoformat(),
                    "score": each.score,
                    "source": each.source,
                }
                for each in self._opened().search(question, most)
            ]
        }

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._opened()
        return {"path": str(snapshot(self._folder, self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _add(self, name: str, text: str) -> Added:
        added = self._opened().add(name, text)
        self._given += 1
        return added

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.parse(self._env.get("BENCH_SETTINGS", ""))
        return self._settings

    def _opened(self) -> Memories:
        if self._memories is None:
            self._memories = Memories(self._configured(), self._folder)
        return self._memories


def serve(source: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when ``source`` does."""
    driver = Driver(env)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(source, lines), name="requests", daemon=True).start()
    # In this thread, which uses it: a connection of SQLite belongs to who made it.
    driver.warm()
    while not driver.stopped:
        reply = driver.answer(lines.get())
        try:
            replies.write(json.dumps(reply, ensure_ascii=True).encode() + b"\n")
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


def _read(source: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    while line := source.readline(requests.MAX_LINE + 1):
        if len(line) > requests.MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = source.readline(requests.MAX_LINE)
            line = b""
        lines.put(line)
    os._exit(0)


def _told(added: Mapping[str, Added]) -> dict[str, Any]:
    """What became of texts, by their names."""
    every = added.values()
    return {
        "memories": sum(each.memories for each in every),
        "said": sum(each.said for each in every),
        "duplicates": sum(each.duplicates for each in every),
        "warnings": _warnings([name for name, each in added.items() if each.nothing], len(added)),
    }


def _warnings(nothing: list[str], of: int) -> list[str]:
    if not nothing:
        return []
    more = f" and {len(nothing) - SHOWN} more" if len(nothing) > SHOWN else ""
    return [
        f"The model said that there is nothing to remember of {len(nothing)} of {of} texts, which"
        f" left no memory: {', '.join(nothing[:SHOWN])}{more}."
    ]


def _failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}
