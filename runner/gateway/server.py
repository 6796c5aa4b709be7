"""HTTP over the Unix socket: three paths, and a refusal in the provider's shape for all else."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage

from runner.gateway import sse
from runner.gateway.arms import ProviderFailed
from runner.gateway.door import Door
from runner.gateway.ledger import LedgerError
from runner.gateway.refusal import Refusal, error_body
from runner.gateway.request import MAX_BODY_BYTES

SOCKET_MODE = 0o666
"""Whoever sees the door may knock: the folder it lies in is mounted for one system only."""
BACKLOG = 1024
"""Connections that may wait to be taken: a Unix socket turns away whoever comes beyond."""
GOODBYE_S = 0.5
"""How long a reply that is being sent may take once the door is closed."""


@contextlib.asynccontextmanager
async def listening(door: Door, socket: Path) -> AsyncIterator[None]:
    """Serve ``door`` on the Unix socket at ``socket`` while the context lasts."""
    server = web.Server(_handler(door), request_factory=_request, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=GOODBYE_S)
    await runner.setup()
    try:
        socket.unlink(missing_ok=True)
        await web.UnixSite(runner, str(socket), backlog=BACKLOG).start()
        socket.chmod(SOCKET_MODE)
        yield
    finally:
        await runner.cleanup()
        socket.unlink(missing_ok=True)


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(
        message, payload, protocol, writer, task, loop, client_max_size=MAX_BODY_BYTES
    )


def _handler(door: Door) -> Callable[[web.BaseRequest], Any]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        try:
            # What the client wrote, not what a library made of it: no second slash, no dots, no
            # other server's name in front.
            match request.method, request.raw_path.partition("?")[0]:
                case "HEAD", "/":
                    return web.Response()
                case "POST", "/v1/messages":
                    return await _messages(door, request)
                case "POST", "/v1/messages/count_tokens":
                    raw = await _body(door, request)
                    tokens = await door.count_tokens(_headers(request), raw)
                    return _json(200, {"input_tokens": tokens})
                case method, path:
                    unknown = Refusal("unknown_path", f"{method} {path[:200]}", status=404)
                    raise await door.refused(unknown)
        except Refusal as refusal:
            body = error_body(refusal.status, refusal.message, refusal.request_id)
            return _json(refusal.status, body, {"x-should-retry": "false"})
        except ProviderFailed as failure:
            body = error_body(failure.status, failure.message, failure.request_id, failure.type)
            return _json(failure.status, body)
        except LedgerError:
            # A call without a line gets no reply at all.
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)

    return handle


async def _messages(door: Door, request: web.BaseRequest) -> web.StreamResponse:
    raw = await _body(door, request)
    asked, answer, request_id = await door.messages(
        _headers(request), raw, gone=lambda: _gone(request)
    )
    whole = sse.message(answer, f"msg_{request_id.removeprefix('req_')}")
    if not asked.stream:
        return _json(200, whole, {"request-id": request_id})
    # The call is settled and written: a client that reads slowly, or leaves, holds up no money.
    response = web.StreamResponse(
        headers={
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "request-id": request_id,
        }
    )
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
        for event in sse.events(whole):
            await response.write(event)
        await response.write_eof()
    return response


async def _body(door: Door, request: web.BaseRequest) -> bytes:
    if request.headers.get("expect", "").lower() == "100-continue" and request.transport:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as problem:
        message = f"a request may have {MAX_BODY_BYTES} bytes"
        raise await door.refused(Refusal("too_large", message, status=413)) from problem
    except (web.RequestPayloadError, ConnectionError) as problem:
        message = "the request's body did not arrive whole"
        raise await door.refused(Refusal("broken_request", message, status=400)) from problem


def _headers(request: web.BaseRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _gone(request: web.BaseRequest) -> bool:
    return request.transport is None or request.transport.is_closing()


def _json(status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
    headers = dict(headers or {})
    if "request_id" in body:
        headers["request-id"] = body["request_id"]
    return web.Response(
        status=status,
        body=orjson.dumps(body),
        headers=headers,
        content_type="application/json",
    )
