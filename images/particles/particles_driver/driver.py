"""The line protocol: one JSON request a line in, one JSON reply a line out, logs on stderr.

The engine is imported once, by the driver, and every verb that needs it runs in a process forked
from there. Between two verbs nothing of the engine lives on but its store, as between two of its
own commands. One thread: a fork takes only the thread that forks, so there is no other.

Standard input is the lifeline: when it ends, whoever started the driver is gone. The verb under
way is killed and the driver ends at once.
"""

import gc
import importlib.metadata
import json
import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from particles_driver import LICENCE, NAME, encoder, verbs
from particles_driver.asking import Server
from particles_driver.errors import BadRequest, DriverError, Unsupported
from particles_driver.settings import RETRY_TOKENS, Place, Settings

MAX_LINE = 16 * 2**20
"""Longest request, in bytes."""
VERBS = ("describe", *verbs.VERBS, "stop")
OTHER_VERBS = ("learn",)
"""Verbs of the protocol that are not driven here."""
CAPABILITIES = ("claims", "recall", "refuses", "probes")
"""Not ``scores``: it tells the rank of what it finds, and not by how much."""


class Driver:
    """The engine behind the line protocol."""

    def __init__(self, requests: int, replies: int) -> None:
        """Serve between two descriptors; nothing of the engine is imported yet."""
        self._requests = requests
        self._replies = replies
        self._unread = bytearray()
        self._ended = False
        self._settings: Settings | None = None
        self._encoder: str | None = None
        self._place = Place(Path(os.environ.get("HOME", ".")).resolve())
        self._wrong: DriverError | None = None
        self._server: Server | None = None

    def serve(self) -> int:
        """Answer until ``stop`` or the end of the requests."""
        self._warm()
        while (line := self._line()) is not None:
            if self._answered(line):
                break
        if self._server is not None:
            self._server.stop()
        return 0

    # ------------------------------------------------------------ the engine

    def _warm(self) -> None:
        """Import the engine and see that it is whole; what is wrong is told by every verb.

        Nothing of what is imported becomes garbage: it is not looked for meanwhile, nor ever
        again, so that the processes of verbs do not each go through all of it and copy it.
        """
        gc.disable()
        try:
            self._settings = Settings.parse(os.environ.get("BENCH_SETTINGS", ""))
            door = os.environ.get("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")
            self._place.prepare(self._settings.config(door))
            os.environ.update(self._place.environment())
            verbs.preload()
            self._encoder = encoder.checked()
        except DriverError as error:
            self._wrong = error
        except Exception as error:
            traceback.print_exc()
            self._wrong = DriverError(f"the engine does not start: {type(error).__name__}: {error}")
        gc.freeze()
        gc.enable()

    def _describe(self) -> dict[str, Any]:
        assert self._settings is not None
        template = os.environ.get(verbs.TEMPLATE)
        return {
            "name": NAME,
            "version": importlib.metadata.version("linkedparticles"),
            "licence": LICENCE,
            "verbs": list(VERBS),
            "capabilities": list(CAPABILITIES),
            "encoder": self._encoder,
            "settings": {
                "model": self._settings.model,
                "pins": dict(self._settings.pins),
                "options": dict(self._settings.options),
                "verify_retry_max_tokens": RETRY_TOKENS,
                "process": "forked for each verb from one that has imported the engine",
                "store": "migrated when built, copied"
                if template
                else "migrated at the first verb",
                "python": ".".join(map(str, sys.version_info[:3])),
            },
        }

    # ------------------------------------------------------------ verbs

    def _answered(self, line: bytes) -> bool:
        """Answer one request; whether it was the last."""
        started = time.perf_counter()
        number: int | None = None
        last = False
        try:
            request = _request(line)
            number, verb = request["id"], request["verb"]
            last = verb == "stop"
            reply = {"id": number, "ok": True, "result": self._result(verb, request)}
        except DriverError as error:
            reply = _failure(number, error)
        reply["now"] = datetime.now(UTC).isoformat(timespec="microseconds")
        reply["ms"] = round((time.perf_counter() - started) * 1000, 3)
        _write(self._replies, json.dumps(reply).encode() + b"\n")
        return last

    def _result(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb in OTHER_VERBS:
            raise Unsupported(f"particles does not {verb} here")
        if verb not in VERBS:
            raise BadRequest(f"unknown verb {verb!r}; known: {', '.join(VERBS)}")
        if verb == "stop":
            return {}
        if self._wrong is not None:
            raise self._wrong
        if verb == "describe":
            return self._describe()
        if verb == "ask":
            request = {**request, verbs.SERVER_PORT: self._listening().port}
        return self._forked(verb, request)

    def _listening(self) -> Server:
        """The engine's server, started where there is none."""
        if self._server is None:
            # In a process of its own too: the driver never runs the engine itself.
            self._forked(verbs.CREATE, {})
            self._server = Server.started(self._replies)
        elif (status := self._server.ended()) is not None:
            raise DriverError(f"the engine's server ended with status {status}")
        return self._server

    def _forked(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a verb in a process of its own and wait for what it says."""
        sys.stderr.flush()
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            _work(theirs, self._place, verb, request)
        os.close(theirs)
        said = self._said(ours, child)
        os.close(ours)
        _, status = os.waitpid(child, 0)
        if not said:
            raise DriverError(f"the process of {verb} ended with status {status} and said nothing")
        outcome: dict[str, Any] = json.loads(said)
        if "error" in outcome:
            error = DriverError(outcome["error"]["message"])
            error.type = outcome["error"]["type"]
            raise error
        result: dict[str, Any] = outcome["result"]
        return result

    def _said(self, pipe: int, child: int) -> bytes:
        """All a child writes, while watching that the requests do not end."""
        said = b""
        with selectors.DefaultSelector() as ready:
            ready.register(pipe, selectors.EVENT_READ)
            ready.register(self._requests, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    some = os.read(key.fd, 65536)
                    if key.fd == pipe:
                        if not some:
                            return said
                        said += some
                    elif some:
                        self._unread += some
                    else:
                        os.kill(child, signal.SIGKILL)
                        os._exit(0)

    # ------------------------------------------------------------ lines

    def _line(self) -> bytes | None:
        """The next request; none when there will be no more."""
        scanned = 0
        while (end := self._unread.find(b"\n", scanned)) < 0:
            if self._ended:
                return None
            # Of a line that is too long, no more is kept than shows it.
            del self._unread[MAX_LINE + 1 :]
            scanned = len(self._unread)
            some = os.read(self._requests, 65536)
            self._ended = not some
            self._unread += some
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line


def main() -> int:
    """Serve on standard input and output."""
    # Replies go out on a descriptor of their own: whatever the engine prints is a log.
    replies = os.dup(1)
    os.dup2(2, 1)
    code = Driver(0, replies).serve()
    sys.stderr.flush()
    os._exit(code)


def _work(pipe: int, place: Place, verb: str, request: Mapping[str, Any]) -> None:
    """The whole life of a verb's process; does not return."""
    try:
        outcome: dict[str, Any] = {"result": verbs.WORK[verb](place, request)}
    except DriverError as error:
        outcome = {"error": {"type": error.type, "message": str(error)}}
    except BaseException as error:
        traceback.print_exc()
        outcome = {"error": {"type": "internal", "message": f"{type(error).__name__}: {error}"}}
    sys.stdout.flush()
    sys.stderr.flush()
    _write(pipe, json.dumps(outcome).encode())
    os._exit(0)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _request(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE:
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
        request["verb"] = ""
    return request


def _failure(number: int | None, error: DriverError) -> dict[str, Any]:
    return {"id": number, "ok": False, "error": {"type": error.type, "message": str(error)}}
