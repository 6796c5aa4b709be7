"""Pages put into the engine, and questions asked of its own HTTP engine.

The server is the engine's ``engine serve``, on loopback and within the same store, started when
first asked and kept: a command of its own for each question would take seconds. It is forked from
the driver like a verb, dies with it, and reads the run's clock at every look, so that it sees the
day of each step.
"""

import ctypes
import http.client
import json
import os
import select
import signal
import socket
import sqlite3
import sys
import traceback
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from particles_driver.errors import (
    BadRequest,
    Degraded,
    DriverError,
    ProviderFailed,
    UnparseableReply,
)
from particles_driver.settings import Place

HOST = "127.0.0.1"
MOST_CHARACTERS = 8192
"""Longest question the engine takes."""
MOST_CLAIMS = 200
"""Most claims the engine gives to one question."""
START_S = 60.0
"""How long its server may take to listen."""
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Server:
    """The engine's server: a process, and where it listens or soon will."""

    pid: int
    port: int

    @classmethod
    def started(cls, door: int) -> "Server":
        """Fork it from this process, which has imported the engine; ``door`` is not its to hold."""
        with socket.socket() as free:
            free.bind((HOST, 0))
            port = free.getsockname()[1]
        sys.stderr.flush()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            _serve(parent, door, port)
        return cls(pid, port)

    def ended(self) -> int | None:
        """How it ended; none while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None

    def stop(self) -> None:
        """End it and wait until it has."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def _serve(parent: int, door: int, port: int) -> None:
    """The whole life of the server's process; does not return."""
    try:
        # However the driver ends, its server ends with it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        os.close(door)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        from particles.api.cli import app

        app(["engine", "serve", f"{HOST}:{port}"], standalone_mode=False)
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def asked(place: Place, port: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask one question; the pages are those its claims come from, best first.

    Raises:
        BadRequest: it is no question.
        Degraded: it was answered without the encoder.
        ProviderFailed: the answer's model call failed.
        UnparseableReply: the model said nothing.
    """
    wanted, top_k = question(request, "ask")
    said = _post(port, {"question": wanted, "top_k": top_k})
    if said.get("ranking_degraded"):
        raise Degraded(str(said["ranking_degraded"]))
    if wrong := said.get("answer_generation_error"):
        # The engine then lists what it found and goes on.
        budget = "budget" in str(said.get("answer_generation_error_cause")).lower()
        raise (UnparseableReply if budget else ProviderFailed)(f"answer: {wrong}")
    claims, relevance = said["particles"], said.get("relevance") or {}
    known = names(place)
    found = list(dict.fromkeys(name for claim in claims for name in pages(claim, known)))
    return {
        # The engine ranks and does not tell by what: a page's score is its rank's reciprocal.
        "pages": [{"name": name, "score": 1 / rank} for rank, name in enumerate(found, start=1)],
        "refused": bool(said["answer_refused"] or relevance.get("below_floor")),
        "receipt": {
            "relevance": relevance or None,
            "claims": [claim["id"] for claim in claims],
            "answer": said.get("answer"),
        },
    }


def question(request: Mapping[str, Any], verb: str) -> tuple[str, int]:
    """The question of a request, and how many claims it may bring up.

    Raises:
        BadRequest: it holds no question, or no such number.
    """
    wanted, top_k = request.get("question"), request.get("top_k", 10)
    if not isinstance(wanted, str) or not 0 < len(wanted) <= MOST_CHARACTERS:
        raise BadRequest(f"{verb} needs a question of 1 to {MOST_CHARACTERS} characters")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= MOST_CLAIMS:
        raise BadRequest(f"{verb} needs a top_k from 1 to {MOST_CLAIMS}")
    return wanted, top_k


def _post(port: int, body: Mapping[str, Any]) -> dict[str, Any]:
    _wait(port)
    # No deadline here: the step has one.
    connection = http.client.HTTPConnection(HOST, port)
    with closing(connection):
        connection.request("POST", "/query", json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        raw = response.read()
    if response.status != 200:
        raise DriverError(f"the engine's server answered {response.status}: {raw[:300]!r}")
    document: dict[str, Any] = json.loads(raw)
    return document


def _wait(port: int) -> None:
    """Until the server listens.

    Raises:
        DriverError: it does not.
    """
    for _ in range(int(START_S / 0.02)):
        with socket.socket() as knock:
            if knock.connect_ex((HOST, port)) == 0:
                return
        # Not time.sleep, which older versions of libfaketime break.
        select.select([], [], [], 0.02)
    raise DriverError(f"the engine's server does not listen after {START_S:g} s")


def names(place: Place) -> dict[str, str]:
    """The names of pages by the entry the engine keeps them as."""
    with closing(sqlite3.connect(place.store)) as store:
        rows = store.execute("SELECT entry_id, uri_r FROM corpus_entries").fetchall()
    return {entry: Path(unquote(urlsplit(address).path)).name for entry, address in rows}


def pages(claim: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """The names of the pages a claim comes from."""
    entries = [given.get("corpus_entry_id") for given in claim.get("provenance") or ()]
    return [names[entry] for entry in entries if entry in names]
