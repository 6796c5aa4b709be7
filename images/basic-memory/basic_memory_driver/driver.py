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

from basic_memory_driver import LICENCE, NAME, lines, requests, settings
from basic_memory_driver.errors import BadRequest, Degraded, DriverError, Unsupported
from basic_memory_driver.search import Found, found
from basic_memory_driver.tool import Tool

VERBS = ("describe", "deposit", "consolidate", "index", "ask", "recall", "snapshot", "stop")
OTHER_VERBS = ("probe", "learn")
"""Verbs of the protocol that basic-memory has no use for."""
SLACK_S = 60.0
"""How far the time of a note may lie from when it was handed over: far less than a day."""


class Driver:
    """One basic-memory behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is started yet."""
        self._env = env
        self._exchange = Path(env.get("BASIC_MEMORY_EXCHANGE", "/run/exchange"))
        self._settings: settings.Settings | None = None
        self._tool: Tool | None = None
        self._wrong: DriverError | None = None
        self._is_open = False
        self._indexed: frozenset[str] | None = None
        self._noted: dict[str, datetime] = {}
        """When each note was handed over, by its file."""
        self._checking, self._opening = threading.Lock(), threading.Lock()
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
        """Get ready; meant for a thread beside the first verbs.

        What is wrong is no matter here: every verb that needs it says so.
        """
        try:
            self._opened()
        except DriverError:
            return

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request line. Never raises for what a request can bring about."""
        started = time.perf_counter()
        number: int | None = None
        try:
            request = lines.request(line)
            number = request["id"]
            reply = {"id": number, "ok": True, "result": self._result(request)}
        except DriverError as error:
            reply = lines.failure(number, error.type, str(error))
        except Exception as error:
            traceback.print_exc()
            reply = lines.failure(number, DriverError.type, f"{type(error).__name__}: {error}")
        reply["now"] = datetime.now(UTC).isoformat(timespec="microseconds")
        reply["ms"] = round((time.perf_counter() - started) * 1000, 3)
        return reply

    def _result(self, request: Mapping[str, Any]) -> dict[str, Any]:
        verb = request["verb"]
        if verb in OTHER_VERBS:
            raise Unsupported(f"{NAME} does not {verb}")
        if verb not in self._verbs:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        return self._verbs[verb](request)

    # ------------------------------------------------------------ verbs

    def _describe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        tool, chosen = self._checked(), self._configured()
        return {
            "name": NAME,
            "version": tool.version,
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": ["statements", "recall", "scores", "refuses"],
            "encoder": tool.embedder.identity if chosen.vectors else None,
            "settings": {
                "search": chosen.search,
                "min_similarity": chosen.min_similarity,
                "embedder": tool.embedder.model,
                "times": "a note's is the database's created_at; files have the kernel's own",
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _index(self, request: Mapping[str, Any]) -> dict[str, Any]:
        pages = requests.pages(request)
        if self._indexed is not None or self._noted:
            raise BadRequest("there are pages already: index is asked once, and before any deposit")
        if not pages:
            raise Degraded("there are no pages to look anything up in")
        tool = self._opened()
        # Whatever comes of it: half an index is not to be added to.
        self._indexed = frozenset()
        state = tool.index(pages)
        tool.serve()
        self._indexed = frozenset(page.name for page in pages)
        return {"pages": state.pages, "entities": state.pages}

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        question, top_k = requests.question(request)
        if not self._indexed:
            # Who holds nothing has found nothing, which must not pass for a refusal.
            raise Degraded("nothing is indexed: index comes before ask")
        answer = self._found(question, top_k)
        strange = [hit.file for hit in answer.hits if hit.file not in self._indexed]
        if strange and not self._noted:
            raise DriverError(f"it found a page that nobody handed over: {strange[0]}")
        return {
            "pages": [{"name": hit.file, "score": hit.score} for hit in answer.hits],
            "refused": not answer.hits,
            "receipt": {
                "search": self._configured().search,
                "scores": answer.scores,
                "score": answer.hits[0].score if answer.hits else None,
                "results": answer.results,
                "calls": answer.calls,
            },
        }

    def _deposit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        note = requests.note(request)
        tool = self._opened()
        tool.serve()
        self._noted[note.name] = datetime.now(UTC)
        answer = tool.write(note)
        taken = self._settled(tool)[note.name]
        return {"permalink": answer.get("permalink"), "taken": taken.isoformat()}

    def _consolidate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {"pages": len(self._settled(self._opened()))}

    def _recall(self, request: Mapping[str, Any]) -> dict[str, Any]:
        question, top_k = requests.question(request)
        tool = self._opened()
        taken = self._settled(tool)
        if not taken:
            return {"statements": []}
        tool.serve()
        return {
            "statements": [
                {
                    "text": hit.text,
                    "day": taken[hit.file].date().isoformat() if hit.file in taken else None,
                    "score": hit.score,
                    "source": hit.file,
                }
                for hit in self._found(question, top_k).hits
            ]
        }

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        tool = self._opened()
        self._settled(tool)
        return {"path": str(tool.store.snapshot(self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._tool is not None:
            self._tool.close()
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _found(self, question: str, top_k: int) -> Found:
        return found(self._opened().search, question, top_k)

    def _settled(self, tool: Tool) -> dict[str, datetime]:
        """Wait until all is indexed; when each page was taken in, by its file.

        Raises:
            Degraded: it does not come to an end, or a note is of another time than its own. What
                it does in the background may set a time anew, so that all are looked at.
        """
        tool.settle()
        taken = tool.store.taken()
        for name, handed in self._noted.items():
            if name in taken and abs((taken[name] - handed).total_seconds()) > SLACK_S:
                raise Degraded(
                    f"basic-memory {tool.version} says it took in {name} at"
                    f" {taken[name].isoformat()}; its clock said {handed.isoformat()}"
                )
        return taken

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.parse(self._env.get("BENCH_SETTINGS", ""))
        return self._settings

    def _checked(self) -> Tool:
        """The tool, once it is known to search as it should. Where it does not, it never will."""
        with self._checking:
            if self._wrong is not None:
                raise self._wrong
            if self._tool is None:
                tool = Tool(self._env, self._configured())
                try:
                    tool.check()
                except DriverError as error:
                    tool.close()
                    self._wrong = error
                    raise
                self._tool = tool
            return self._tool

    def _opened(self) -> Tool:
        """The tool with its project."""
        tool = self._checked()
        with self._opening:
            if not self._is_open:
                tool.open()
                self._is_open = True
        return tool


def serve(given: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when the requests do."""
    driver = Driver(env)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=lines.read, args=(given, waiting), name="requests", daemon=True).start()
    threading.Thread(target=driver.warm, name="warm", daemon=True).start()
    while not driver.stopped:
        reply = driver.answer(waiting.get())
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
