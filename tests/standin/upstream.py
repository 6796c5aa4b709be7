"""A model provider of the tests' own: a real server on the real wire, with switches to break it.

What it does with a call is a :class:`How`: the next one planned, else its usual one. It answers
out of scripted tables where it is given some, else with a fixed text, and keeps what it was sent.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage

from runner.gateway import chat, sse
from runner.gateway.answer import Answer
from runner.gateway.tables import Tables
from runner.gateway.wire import UNATTRIBUTED, ToolUse, Wire
from runner.model import Usage

MESSAGES = "/v1/messages"
BATCHES = "/v1/messages/batches"


@dataclass(frozen=True, slots=True)
class How:
    """How a call is answered."""

    status: int = 200
    kind: str = "api_error"
    """Type of the error, for a status that is one."""
    message: str = "as the test wants it"
    headers: tuple[tuple[str, str], ...] = ()
    first_byte_s: float = 0.0
    """Before the head of the reply."""
    pause_s: float = 0.0
    """Between the events of a stream."""
    cut_after: int | None = None
    """Bytes of the body after which the connection is broken off."""
    cut_at: bytes = b""
    """The same, just before these bytes of it."""
    usage: bool = True
    content_type: str = ""
    """In place of the right one."""
    model: str = ""
    """Who says to have answered; the asked one when empty."""
    text: str = ""
    """The answer, where no table has one."""
    tokens: Usage | None = None
    stop_reason: str = "end_turn"
    error_event: str = ""
    """Type of a failure told in the middle of a stream."""
    body: bytes | None = None
    """These very bytes as the reply's body."""
    batch_s: float = 0.0
    """How long a batch takes; a cancelled one ends at once."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as it came."""

    method: str
    target: str
    """Path and query, or whatever stood in their place."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)


@dataclass(slots=True)
class _Batch:
    requests: list[dict[str, Any]]
    done: float
    how: How
    cancelled: bool = False


@dataclass
class Upstream:
    """The server's affairs; :func:`serving` makes it one."""

    usual: How = How()
    plan: deque[How] = field(default_factory=deque)
    """How the next calls are answered, one each."""
    tables: Tables | None = None
    wire: Wire | None = None
    seen: list[Seen] = field(default_factory=list)
    streams: int = 0
    """How many streams are being written."""
    deaf: bool = False
    """Whether it takes requests and says nothing to them."""

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._batches: dict[str, _Batch] = {}

    def then(self, *hows: How) -> None:
        """Plan the next calls."""
        self.plan.extend(hows)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.method, request.raw_path, headers, body))
        path = request.path
        if self.deaf:
            await asyncio.sleep(60)
        if path.startswith("/_standin/"):
            self.seen.pop()
            return self._told(path, body)
        match request.method, path:
            case "POST", "/v1/messages" | "/v1/chat/completions":
                return await self._call(request, path, orjson.loads(body))
            case "POST", "/v1/messages/count_tokens":
                return _json({"input_tokens": max(1, len(body) // 4)})
            case _ if path.startswith(BATCHES):
                return await self._batch(request, path, body)
        return _error(404, "not_found_error", "no such path")

    # ------------------------------------------------------------ single calls

    def _next(self) -> How:
        return self.plan.popleft() if self.plan else self.usual

    async def _call(
        self, request: web.BaseRequest, path: str, asked: dict[str, Any]
    ) -> web.StreamResponse:
        how = self._next()
        await asyncio.sleep(how.first_byte_s)
        extra = {"request-id": f"req_up_{next(self._numbers)}", **dict(how.headers)}
        if how.status != 200:
            if how.body is not None:
                return web.Response(status=how.status, body=how.body, headers=extra)
            return _error(how.status, how.kind, how.message, extra)
        answer = self._answer(asked, how)
        number = f"{next(self._numbers):06d}"
        whole = (
            chat.completion(answer, number) if path == chat.PATH else sse.message(answer, number)
        )
        if not how.usage:
            del whole["usage"]
        if not asked.get("stream"):
            body = how.body if how.body is not None else orjson.dumps(whole)
            return await self._written(request, how, extra, "application/json", [body])
        return await self._written(
            request, how, extra, "text/event-stream; charset=utf-8", self._events(path, whole, how)
        )

    def _answer(self, asked: dict[str, Any], how: How) -> Answer:
        limit = asked.get("max_completion_tokens") or asked.get("max_tokens") or 10**9
        model = how.model or asked["model"]
        if self.tables is not None and self.wire is not None and not how.text:
            entry = None
            purpose = self.wire.purpose({}, asked)
            fields = self.wire.fields(purpose, asked)
            for name in dict.fromkeys((purpose, fields.get("task", UNATTRIBUTED))):
                entry = entry or self.tables.find(str(name), fields)
            if entry is None:
                raise web.HTTPBadRequest(text=f"no answer: {self.tables.nearest(purpose, fields)}")
            said = entry.text if entry.text is not None else self.wire.reply(purpose, entry.answer)
            usage = entry.usage or Usage(input=100, output=20)
            if isinstance(said, ToolUse):
                return Answer("", usage, model, "tool_use", (said,))
            return Answer(said, usage, model, entry.stop_reason)
        usage = how.tokens or Usage(input=100, output=min(20, limit))
        stop = "max_tokens" if usage.output >= limit else how.stop_reason
        return Answer(how.text or "as you wish", usage, model, stop)

    def _events(self, path: str, whole: dict[str, Any], how: How) -> list[bytes]:
        if how.body is not None:
            return [how.body]
        bare = "usage" not in whole
        if bare:
            empty = Answer("", Usage(), "", "end_turn")
            blank = chat.completion if path == chat.PATH else sse.message
            whole = {**whole, "usage": blank(empty, "0")["usage"]}
        events = list(chat.events(whole) if path == chat.PATH else sse.events(whole))
        if bare:
            events = [_without_usage(event) for event in events]
        if how.error_event:
            error = {"type": how.error_event, "message": how.message}
            events = [
                *events[: len(events) // 2],
                sse.error_event({"type": "error", "error": error}),
            ]
        return events

    async def _written(
        self,
        request: web.BaseRequest,
        how: How,
        headers: dict[str, str],
        kind: str,
        pieces: list[bytes],
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={**headers, "content-type": how.content_type or kind})
        await response.prepare(request)
        cut = how.cut_after
        if how.cut_at:
            cut = b"".join(pieces).index(how.cut_at)
        self.streams += 1
        try:
            for piece in pieces:
                if cut is not None:
                    piece, cut = piece[:cut], cut - len(piece)
                if piece:
                    await response.write(piece)
                if cut is not None and cut <= 0:
                    assert request.transport is not None
                    request.transport.close()
                    return response
                if how.pause_s:
                    await asyncio.sleep(how.pause_s)
            await response.write_eof()
        except ConnectionError:
            pass
        finally:
            self.streams -= 1
        return response

    # ------------------------------------------------------------ batches

    async def _batch(self, request: web.BaseRequest, path: str, body: bytes) -> web.StreamResponse:
        now = asyncio.get_running_loop().time()
        if (request.method, path) == ("POST", BATCHES):
            how = self._next()
            await asyncio.sleep(how.first_byte_s)
            if how.status != 200:
                return _error(how.status, how.kind, how.message)
            batch_id = f"msgbatch_{next(self._numbers):06d}"
            self._batches[batch_id] = _Batch(orjson.loads(body)["requests"], now + how.batch_s, how)
            return _json(self._state(request, batch_id))
        batch_id, _, what = path.removeprefix(f"{BATCHES}/").partition("/")
        batch = self._batches.get(batch_id)
        if batch is None:
            return _error(404, "not_found_error", "no such batch")
        match request.method, what:
            case "GET", "":
                return _json(self._state(request, batch_id))
            case "POST", "cancel":
                if now < batch.done:
                    batch.cancelled, batch.done = True, now
                return _json(self._state(request, batch_id))
            case "GET", "results" if now >= batch.done:
                lines = [orjson.dumps(line) + b"\n" for line in self._results(batch)]
                return web.Response(body=b"".join(lines), content_type="application/x-jsonl")
        return _error(404, "not_found_error", "no results yet")

    def _state(self, request: web.BaseRequest, batch_id: str) -> dict[str, Any]:
        batch = self._batches[batch_id]
        ended = asyncio.get_running_loop().time() >= batch.done
        results = f"{request.scheme}://{request.host}{BATCHES}/{batch_id}/results"
        count = len(batch.requests)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["canceled" if batch.cancelled else "succeeded" if ended else "processing"] = count
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": "2026-09-01T12:00:00Z",
            "expires_at": "2026-09-02T12:00:00Z",
            "ended_at": "2026-09-01T12:00:01Z" if ended else None,
            "archived_at": None,
            "cancel_initiated_at": "2026-09-01T12:00:01Z" if batch.cancelled else None,
            "results_url": results if ended else None,
        }

    def _results(self, batch: _Batch) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for number, row in enumerate(batch.requests):
            if batch.cancelled:
                result: dict[str, Any] = {"type": "canceled"}
            else:
                answer = self._answer(row["params"], batch.how)
                message = sse.message(answer, f"{next(self._numbers):06d}")
                if not batch.how.usage:
                    del message["usage"]
                result = {"type": "succeeded", "message": message}
                if batch.how.error_event and number == 0:
                    error = {"type": batch.how.error_event, "message": "no"}
                    result = {"type": "errored", "error": {"type": "error", "error": error}}
            lines.append({"custom_id": row["custom_id"], "result": result})
        return lines

    # ------------------------------------------------------------ told from another process

    def _told(self, path: str, body: bytes) -> web.Response:
        """``usual`` and ``plan`` set how calls are answered, as JSON; ``forget`` unsets both;
        ``seen`` lists them."""
        match path.removeprefix("/_standin/"):
            case "usual":
                self.usual = replace(self.usual, **_how(orjson.loads(body)))
            case "plan":
                self.then(*(How(**_how(row)) for row in orjson.loads(body)))
            case "forget":
                self.plan.clear()
                self.usual = How()
            case "seen":
                rows = [
                    {"method": row.method, "target": row.target, "headers": dict(row.headers)}
                    for row in self.seen
                ]
                return _json(rows)
            case _:
                return _error(404, "not_found_error", "no such switch")
        return _json({})


def _how(row: dict[str, Any]) -> dict[str, Any]:
    if "headers" in row:
        row["headers"] = tuple((name, value) for name, value in row["headers"])
    if row.get("tokens") is not None:
        row["tokens"] = Usage(**row["tokens"])
    for name in ("cut_at", "body"):
        if isinstance(row.get(name), str):
            row[name] = row[name].encode()
    return row


def _without_usage(event: bytes) -> bytes:
    name, data, document = b"", b"", None
    for line in event.splitlines():
        if line.startswith(b"event:"):
            name = line + b"\n"
        elif line.startswith(b"data:"):
            data = line.removeprefix(b"data: ")
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return event
    document.pop("usage", None)
    document.get("message", {}).pop("usage", None)
    return name + b"data: " + orjson.dumps(document) + b"\n\n"


def _json(
    document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        status=status,
        body=orjson.dumps(document),
        content_type="application/json",
        headers=headers,
    )


def _error(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    error = {"type": kind, "message": message}
    return _json({"type": "error", "error": error}, status, headers)


class Running:
    """A stand-in that listens."""

    def __init__(self, upstream: Upstream, runner: web.ServerRunner, scheme: str) -> None:
        self.upstream = upstream
        self._runner = runner
        self._scheme = scheme
        self.port = int(runner.addresses[0][1])

    def url(self, host: str = "127.0.0.1") -> str:
        """Its address."""
        return f"{self._scheme}://{host}:{self.port}"

    async def close(self) -> None:
        """Stop at once."""
        await self._runner.cleanup()


async def serve(
    upstream: Upstream, host: str = "127.0.0.1", port: int = 0, tls: Any = None
) -> Running:
    """Listen; ``tls`` is a server's context."""

    def request(
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)

    server = web.Server(upstream.handle, request_factory=request, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, host, port, ssl_context=tls, backlog=4096).start()
    return Running(upstream, runner, "https" if tls else "http")
