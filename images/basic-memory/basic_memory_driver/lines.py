"""Lines in and out: what a request is, and what a failed one is answered with."""

import json
import os
import queue
from typing import Any, BinaryIO

from basic_memory_driver.errors import BadRequest

MAX_LINE = 16 * 2**20
"""Longest request, in bytes."""


def read(given: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    """Pass lines on until there are no more; then this process is at its end."""
    while line := given.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = given.readline(MAX_LINE)
            line = b""
        lines.put(line)
    os._exit(0)


def request(line: bytes) -> dict[str, Any]:
    """The request in a line.

    Raises:
        BadRequest: it is none.
    """
    if not line:
        raise BadRequest(f"the request is longer than {MAX_LINE} bytes")
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(asked, dict):
        raise BadRequest("the request is not a JSON object")
    if not isinstance(asked.get("id"), int) or isinstance(asked["id"], bool):
        raise BadRequest("the request has no whole number as its id")
    if not isinstance(asked.get("verb"), str):
        # The id is known by now; keep it in the reply.
        asked["verb"] = ""
    return asked


def failure(number: int | None, kind: str, message: str) -> dict[str, Any]:
    """The reply to a request that failed."""
    return {"id": number, "ok": False, "error": {"type": kind, "message": message}}
