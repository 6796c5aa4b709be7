"""The line protocol: one JSON request a line in, one JSON reply a line out, logs on standard error.

Standard input is the lifeline. When it ends, whoever started the router is gone, and the process
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

from page_router import LICENCE, NAME, __version__, learn, requests, settings
from page_router.errors import (
    BadRequest,
    NothingIndexed,
    RouterError,
    StoreUnusable,
    Unsupported,
)
from page_router.model import Model
from page_router.pages import parse
from page_router.rank import Index
from page_router.snapshot import snapshot
from page_router.store import Store, digest

VERBS = ("describe", "index", "ask", "learn", "snapshot", "stop")
CAPABILITIES = ("recall", "scores", "refuses")
OTHER_VERBS = ("deposit", "consolidate", "probe")
"""Verbs of the protocol that a router of pages has no use for."""


def now() -> datetime:
    """The time as this process sees it."""
    return datetime.now(UTC)


class Driver:
    """One router behind the line protocol."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Read where things lie; nothing is opened yet."""
        home = Path(env.get("HOME", "."))
        self._env = env
        self._folder = Path(env.get("PAGE_ROUTER_HOME", home / ".page-router"))
        self._exchange = Path(env.get("PAGE_ROUTER_EXCHANGE", "/run/exchange"))
        self._settings: settings.Settings | None = None
        self._store: Store | None = None
        self._index: Index | None = None
        self.stopped = False
        self._verbs: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "describe": self._describe,
            "index": self._take,
            "ask": self._ask,
            "learn": self._learn,
            "snapshot": self._snapshot,
            "stop": self._stop,
        }

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request line. Never raises for what a request can bring about."""
        started = time.perf_counter()
        number: int | None = None
        try:
            request = requests.read(line)
            number = request["id"]
            reply = {"id": number, "ok": True, "result": self._dispatch(request)}
        except RouterError as error:
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
            raise Unsupported(f"the router does not {verb}")
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
                "prompts": {learn.PURPOSE: digest(learn.SYSTEM)},
                "python": ".".join(map(str, sys.version_info[:3])),
                "sqlite": sqlite3.sqlite_version,
            },
        }

    def _take(self, request: Mapping[str, Any]) -> dict[str, Any]:
        pages = requests.pages(request)
        parameters = self._configured().parameters
        store = self._opened()
        index = Index((parse(*page) for page in pages), store.triggers(), parameters)
        store.fill(pages, index.replaced)
        self._index = index
        return {"pages": len(index.pages), "replaced": len(index.replaced)}

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        question = requests.question(request)
        top_k = requests.top_k(request)
        index = self._indexed()
        ranked = index.rank(question)
        score = ranked[0].score if ranked else 0.0
        answered = bool(ranked) and score >= index.parameters.floor
        self._opened().log(question, answered=answered, score=score)
        named = ranked[:top_k] if answered else ()
        return {
            "pages": [{"name": scored.name, "score": scored.score} for scored in named],
            "refused": not answered,
            "receipt": index.receipt(question, ranked, top_k),
        }

    def _learn(self, request: Mapping[str, Any]) -> dict[str, Any]:
        given = requests.log(request)
        index, store = self._indexed(), self._opened()
        questions = store.asked() if given is None else given
        configured = self._configured()
        model = Model(configured, self._env)
        proof = configured.options.proof
        done = learn.night(index, questions, model.ask, proof=proof)
        store.learn(done.learned, now().isoformat(timespec="microseconds"))
        if given is None:
            store.forget()
        self._index = Index(index.pages.values(), store.triggers(), index.parameters)
        return {
            "looked_at": done.looked_at,
            "asked": done.asked,
            "declined": done.declined,
            "learned": [
                {"question": t.question, "page": t.page, "quote": t.quote} for t in done.learned
            ],
            "unproved": done.unproved,
            "proof": proof,
            "calls": {learn.PURPOSE: model.calls} if model.calls else {},
        }

    def _snapshot(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {"path": str(snapshot(self._opened(), self._exchange))}

    def _stop(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.close()
        self.stopped = True
        return {}

    # ------------------------------------------------------------ what verbs need

    def _configured(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.parse(self._env.get("BENCH_SETTINGS", ""))
        return self._settings

    def _opened(self) -> Store:
        if self._store is None:
            self._store = Store(self._folder)
        return self._store

    def _indexed(self) -> Index:
        """The pages as they are ranked; after a start, worked out of the store."""
        parameters = self._configured().parameters
        if self._index is None:
            store = self._opened()
            pages = store.pages()
            if not pages:
                raise NothingIndexed("no pages are indexed: there is nothing to ask")
            self._index = Index((parse(*page) for page in pages), store.triggers(), parameters)
        return self._index


def serve(source: BinaryIO, replies: BinaryIO, env: Mapping[str, str]) -> int:
    """Answer requests until ``stop``; the process ends by itself when ``source`` does."""
    driver = Driver(env)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(source, lines), name="requests", daemon=True).start()
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


def _read(source: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    while line := source.readline(requests.MAX_LINE + 1):
        if len(line) > requests.MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = source.readline(requests.MAX_LINE)
            line = b""
        lines.put(line)
    os._exit(0)


def _failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}
