"""What the orchestrator says on standard input: the step, the day, how much, and goodbye."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from runner.gateway.clock import set_offset
from runner.gateway.door import Door
from runner.gateway.lines import Input, Output

CLOSE_PATIENCE_S = 20.0
"""How long calls in flight may take to settle once the orchestrator says ``close``."""


class Control:
    """Answers the orchestrator's lines.

    Args:
        door: what is controlled.
        output: where replies go.
        clock: the file libfaketime reads.
    """

    def __init__(self, door: Door, output: Output, clock: Path) -> None:
        self._door = door
        self._output = output
        self._clock = clock

    async def follow(self, source: Input) -> bool:
        """Answer until the end; true when told to close, false when the other side is gone."""
        async for line in source.lines():
            if await self._answer(line):
                return True
        return False

    async def _answer(self, line: bytes) -> bool:
        started = time.monotonic()
        reply: dict[str, Any] = {"id": None}
        verb = None
        try:
            request = orjson.loads(line)
            if not isinstance(request, dict):
                raise ValueError("a request is a JSON object")
            reply["id"] = request.get("id")
            verb = request.get("verb")
            reply |= {"ok": True, "result": await self._do(verb, request)}
        except (ValueError, TypeError, OSError) as problem:
            kind = "internal" if isinstance(problem, OSError) else "bad_request"
            reply |= {"ok": False, "error": {"type": kind, "message": str(problem)}}
        reply |= {
            "now": datetime.now(UTC).isoformat(),
            "ms": round((time.monotonic() - started) * 1000, 3),
        }
        self._output.say(reply)
        return verb == "close"

    async def _do(self, verb: Any, request: dict[str, Any]) -> dict[str, Any]:
        match verb:
            case "clock":
                offset = request.get("offset_s")
                if offset is not None and (
                    isinstance(offset, bool) or not isinstance(offset, int | float)
                ):
                    raise ValueError("offset_s: seconds, or null for the true time")
                set_offset(self._clock, offset)
                return {}
            case "step":
                name = request.get("name")
                if not isinstance(name, str):
                    raise ValueError("name: the step's name")
                self._door.step = name
                return {}
            case "totals":
                return self._door.totals()
            case "close":
                await self._door.close(CLOSE_PATIENCE_S)
                return self._door.totals()
            case _:
                raise ValueError(f"unknown verb {verb!r}")
