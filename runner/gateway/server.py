"""HTTP over the Unix socket: a few paths, and a refusal in the provider's shape for all else."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage

from runner.gateway import chat
from runner.gateway.arms import ProviderFailed
from runner.gateway.batches import Batches
from runner.gateway.door import Door
from runner.gateway.ledger import LedgerError
from runner.gateway.passage import Passage
from runner.gateway.refusal import Refusal, chat_error_body, error_body
from runner.gateway.request import BATCHES_PATH, MAX_BODY_BYTES

SOCKET_MODE = 0o666
"""Whoever sees the door may knock: the folder it lies in is mounted for one system only."""
BACKLOG = 1024
"""Connections that may wait to be taken: a Unix socket turns away whoever comes beyond."""
GOODBYE_S = 0.5
"""How long a reply that is being sent may take once the door is closed."""
QUERIES = frozenset({"", "beta=true"})
"""What may follow a path; nothing of it is the gateway's own."""


@contextlib.asynccontextmanager
async def listening(door: Door, batches: Batches, socket: Path) -> AsyncIterator[None]:
    """Serve ``door`` on the Unix socket at ``socket`` while the context lasts."""
    server = web.Server(_handler(door, batches), request_factory=_request, access_log=None)
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


def _handler(door: Door, batches: Batches) -> Callable[[web.BaseRequest], Any]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await _sent(request, await _routed(door, batches, request))
        except Refusal as refusal:
            headers = {"x-should-retry": "false", "request-id": refusal.request_id}
            return _error(request, refusal.status, refusal.message, headers)
        except ProviderFailed as failure:
            headers = {"request-id": failure.request_id, **failure.headers}
            if failure.body is None:
                return _error(request, failure.status, failure.message, headers)
            return web.Response(status=failure.status, headers=headers, body=failure.body)
        except LedgerError:
            # A call without a line gets no reply at all.
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)

    return handle


async def _routed(door: Door, batches: Batches, request: web.BaseRequest) -> Passage:
    # What the client wrote, not what a library made of it: no second slash, no dots, no other
    # server's name in front.
    path, _, query = request.raw_path.partition("?")
    match request.method, path:
        case "HEAD", "/":
            return Passage(200, {}, b"")
        case "POST", ("/v1/messages" | chat.PATH) if query in QUERIES:
            raw = await _body(door, request)
            return await door.call(
                path, _headers(request), raw, query=query, gone=lambda: _gone(request)
            )
        case "POST", "/v1/messages/count_tokens" if query in QUERIES:
            raw = await _body(door, request)
            return await door.count_tokens(_headers(request), raw, query)
        case ("POST" | "GET") as method, _ if path.startswith(BATCHES_PATH) and query in QUERIES:
            raw = await _body(door, request)
            answer = await batches.answer(method, path, _headers(request), raw, query)
            if answer is not None:
                return answer
            raise await door.refused(_unknown(request))
        case _:
            raise await door.refused(_unknown(request))


def _unknown(request: web.BaseRequest) -> Refusal:
    return Refusal("unknown_path", f"{request.method} {request.raw_path[:200]}", status=404)


async def _sent(request: web.BaseRequest, passage: Passage) -> web.StreamResponse:
    if passage.body is not None:
        return web.Response(status=passage.status, headers=passage.headers, body=passage.body)
    response = web.StreamResponse(status=passage.status, headers=passage.headers)
    try:
        await response.prepare(request)
        async for piece in passage.pieces():
            await response.write(piece)
        if not passage.broken:
            await response.write_eof()
    except ConnectionError:
        pass
    finally:
        # The call goes on to its end, and nobody takes what is still to come.
        passage.leave()
    if passage.broken and request.transport is not None:
        request.transport.close()  # without the body's end, so that what is missing looks missing
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


def _error(
    request: web.BaseRequest, status: int, message: str, headers: Mapping[str, str]
) -> web.Response:
    if request.path.endswith("/chat/completions"):
        document = chat_error_body(status, message)
    else:
        document = error_body(status, message, headers["request-id"])
    return web.Response(
        status=status,
        body=orjson.dumps(document),
        headers=headers,
        content_type="application/json",
    )
