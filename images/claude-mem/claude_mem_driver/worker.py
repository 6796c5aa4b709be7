"""The worker: claude-mem's own long-lived process, a child of this one, and its HTTP endpoints."""

import ctypes
import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from claude_mem_driver.errors import Degraded
from claude_mem_driver.log import Line, Log
from claude_mem_driver.place import PORT, Place

READY_S = 60.0
"""How long it may take to listen."""
ANSWER_S = 120.0
"""How long one of its endpoints may take."""
LOOK_S = 0.02
"""Between two looks at its log."""
_PR_SET_PDEATHSIG = 1


class Worker:
    """A running worker.

    Args:
        place: where it lies.
        environment: all it is started with.
    """

    def __init__(self, place: Place, environment: Mapping[str, str]) -> None:
        self._place = place
        self.log = Log(place.data / "logs")
        script = place.plugin / "scripts/worker-service.cjs"
        self._process = subprocess.Popen(
            [place.installed / "bin/bun", script, "--daemon"],
            env=environment,
            cwd=place.home,
            stdin=subprocess.DEVNULL,
            stdout=2,
            start_new_session=True,
            preexec_fn=dying_with_us,
        )

    def wait_ready(self) -> None:
        """Wait until it answers.

        Raises:
            Degraded: it does not, or it lacks a part it needs.
        """
        self.until(self._ready, READY_S, "the worker does not come up")
        health = self.get("/api/health")
        if health.get("dependencies", {}).get("degraded"):
            raise Degraded(f"the worker lacks a part: {json.dumps(health['dependencies'])[:500]}")

    @property
    def version(self) -> str:
        """claude-mem's own."""
        return str(self.get("/api/health")["version"])

    def get(self, path: str, **query: Any) -> Any:
        """Ask one of its endpoints."""
        return self._call("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Hand something to one of its endpoints, as the plugin's hooks do."""
        return self._call("POST", path, json.dumps(body).encode())

    def lines(self) -> list[Line]:
        """What it wrote into its log since it was last asked.

        Raises:
            Degraded: it has ended.
        """
        self._see_alive()
        return self.log.new()

    def until(self, met: Callable[[], bool], seconds: float, late: str) -> None:
        """Wait for something it does.

        Raises:
            Degraded: it ended, or the time is over.
        """
        deadline = time.monotonic() + seconds
        while not met():
            self._see_alive()
            if time.monotonic() > deadline:
                raise Degraded(f"{late} within {seconds:g} s")
            time.sleep(LOOK_S)

    def stop(self) -> None:
        """End it at once. What it started are groups of their own, which end with the container."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _see_alive(self) -> None:
        if (code := self._process.poll()) is not None:
            raise Degraded(f"the worker has ended with status {code}")

    def _ready(self) -> bool:
        try:
            return bool(self.get("/api/readiness").get("status") == "ready")
        except (OSError, Degraded):
            self._see_alive()
            return False

    def _call(self, method: str, path: str, body: bytes | None = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=ANSWER_S)
        try:
            connection.request(method, path, body, {"content-type": "application/json"})
            reply = connection.getresponse()
            said = reply.read()
        except TimeoutError as error:
            raise Degraded(f"{path.partition('?')[0]} did not answer in {ANSWER_S:g} s") from error
        finally:
            connection.close()
        if reply.status != 200:
            raise Degraded(f"{path.partition('?')[0]} answered {reply.status}: {said[:300]!r}")
        try:
            return json.loads(said)
        except ValueError as error:
            raise Degraded(f"{path.partition('?')[0]} answered no JSON: {said[:300]!r}") from error


def dying_with_us() -> None:
    """Between fork and exec: however the driver ends, what it started ends too."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
