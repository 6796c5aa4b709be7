"""One ``basic-memory mcp`` of one's own, spoken to as an agent's client does: JSON-RPC by the line.

Only what a client needs that calls tools and offers nothing: no library, so that starting the
driver costs nothing.
"""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from basic_memory_driver.errors import DriverError

PROTOCOL = "2025-06-18"
"""The revision of the protocol that is offered; what is used of it is in every later one."""
CLIENT = {"name": "memory-bench", "version": "1"}
NO_SUCH_METHOD = -32601
GOODBYE_S = 3.0
"""How long the server may take to end once its input has; what it wrote is safe without."""


class ToolFailed(DriverError):
    """A tool said that it failed, in its own words."""


class Server:
    """The server, from its start to its end. One call at a time."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], folder: Path, deadline_s: float
    ) -> None:
        """Start it and wait until it takes calls.

        Raises:
            DriverError: it does not start within the deadline.
        """
        self._process = subprocess.Popen(
            command, env=dict(env), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._number = 0
        threading.Thread(target=self._read, name="mcp", daemon=True).start()
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
        self._ask("initialize", hello, deadline_s)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, arguments: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        """What a tool answers, as the JSON object it is asked for.

        Raises:
            ToolFailed: it answered in prose instead, which is how it tells of failures.
            DriverError: the server is gone, or silent beyond the deadline.
        """
        asked = {"name": tool, "arguments": {**arguments, "output_format": "json"}}
        result = self._ask("tools/call", asked, deadline_s)
        said = "".join(
            part["text"] for part in result.get("content", ()) if part.get("type") == "text"
        )
        try:
            answer = json.loads(said)
        except ValueError:
            answer = None
        if result.get("isError") or not isinstance(answer, dict):
            raise ToolFailed(f"{tool} failed: {' '.join(said.split())[:500] or 'it said nothing'}")
        return answer

    def close(self) -> None:
        """End its input, and it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(GOODBYE_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def _ask(self, method: str, params: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        end = time.monotonic() + deadline_s
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise DriverError(
                    f"basic-memory's server did not answer {method} within {deadline_s:g} s"
                ) from None
            if not line:
                raise DriverError(f"basic-memory's server ended, with {self._process.wait()}")
            said = _parsed(line)
            if "method" in said:
                self._decline(said)
            elif said.get("id") == self._number:
                if "error" in said:
                    raise ToolFailed(f"{method} failed: {said['error']}"[:500])
                result = said.get("result")
                return result if isinstance(result, dict) else {}

    def _decline(self, asked: Mapping[str, Any]) -> None:
        """Answer what the server asks of its client, which offers nothing; notices need none."""
        if "id" not in asked:
            return
        answer: dict[str, Any] = {"error": {"code": NO_SUCH_METHOD, "message": "not offered"}}
        if asked["method"] == "ping":
            answer = {"result": {}}
        self._send({"id": asked["id"], **answer})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise DriverError(f"basic-memory's server takes nothing: {error}") from error

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    # A stray print of a library is no message.
    return said if isinstance(said, dict) else {}
