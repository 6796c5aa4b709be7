"""A small model provider on a real socket: ``/v1/messages``, by a script of the test's own."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Answer:
    """A reply of the model."""

    text: str
    stop_reason: str = "end_turn"
    cut: bool = False
    """Whether the connection is closed before a streamed reply is whole."""
    counted: bool = True
    """Whether a streamed reply says what it used."""


@dataclass(frozen=True)
class Failure:
    """An answer that is no message."""

    status: int
    kind: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class StreamFailure:
    """An error event in a stream that began well."""

    kind: str = "overloaded_error"


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    purpose: str
    document: Mapping[str, Any]
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def task(self) -> str:
        return str(self.document["task"])


Reply = Answer | Failure | StreamFailure | str | list[Any] | dict[str, Any]
Script = Callable[[Asked], Reply]


class Provider:
    """Serves in a thread of its own until closed; ``script`` decides every reply."""

    def __init__(self, socket: Path | None = None) -> None:
        """Serve on a Unix socket where one is given, else on a port of the machine's choice."""
        self._socket = socket
        self.script: Script = lambda asked: Failure(500)
        self.asked: list[Asked] = []
        self.hold: Callable[[Asked], bool] = lambda asked: False
        """Requests this is true for are never answered."""
        self.held = threading.Event()
        self._released = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.url = ""
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def reset(self) -> None:
        self._release()
        self.script = lambda asked: Failure(500)
        self.hold = lambda asked: False
        self.asked = []
        self.held.clear()

    def close(self) -> None:
        self._release()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _release(self) -> None:
        """Let go of what is held; whoever asked may be gone."""
        held, self._released = self._released, asyncio.Event()
        self._loop.call_soon_threadsafe(held.set)

    def tasks(self) -> list[str]:
        return [asked.task for asked in self.asked]

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/messages", self._messages)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        if self._socket is not None:
            await web.UnixSite(self._runner, self._socket).start()
            return
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        document = json.loads(body["messages"][-1]["content"][-1]["text"])
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(headers.get("x-memory-purpose", ""), document, body, headers)
        self.asked.append(asked)
        if self.hold(asked):
            self.held.set()
            await self._released.wait()
            return web.Response(status=500)
        reply = self.script(asked)
        if isinstance(reply, Failure):
            error = {"type": "error", "error": {"type": reply.kind, "message": "as scripted"}}
            content = json.dumps(error).encode() if reply.body is None else reply.body
            return web.Response(
                status=reply.status,
                body=content,
                headers={"content-type": "application/json", **reply.headers},
            )
        if isinstance(reply, list | dict):
            reply = json.dumps(reply)
        if isinstance(reply, str):
            reply = Answer(reply)
        if body.get("stream"):
            return await self._stream(request, body["model"], reply)
        assert isinstance(reply, Answer)
        return web.json_response(message(body["model"], reply.text, reply.stop_reason))

    async def _stream(
        self, request: web.Request, model: str, reply: Answer | StreamFailure
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)

        async def send(event: str, **data: Any) -> None:
            line = json.dumps({"type": event, **data})
            await response.write(f"event: {event}\ndata: {line}\n\n".encode())

        start = message(model, "", None)
        await send("message_start", message={**start, "content": []})
        if isinstance(reply, StreamFailure):
            await send("error", error={"type": reply.kind, "message": "as scripted"})
            return response
        block = {"type": "text", "text": ""}
        await send("content_block_start", index=0, content_block=block)
        half = len(reply.text) // 2
        for piece in (reply.text[:half], reply.text[half:]):
            delta = {"type": "text_delta", "text": piece}
            await send("content_block_delta", index=0, delta=delta)
            if reply.cut:
                assert request.transport is not None
                request.transport.close()
                return response
        await send("content_block_stop", index=0)
        ended: dict[str, Any] = {"stop_reason": reply.stop_reason, "stop_sequence": None}
        used: dict[str, Any] = {"usage": {"output_tokens": 20}} if reply.counted else {}
        await send("message_delta", delta=ended, **used)
        await send("message_stop")
        return response


def message(model: str, text: str, stop_reason: str | None) -> dict[str, Any]:
    """A message as the provider writes it."""
    return {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
