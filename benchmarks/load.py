"""A stand-in provider and a client that cost as little as they can, both in one event loop.

Neither knows more of HTTP than the other end needs: what is measured stands between them.
"""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson

MODEL = "claude-sonnet-5-5"
REQUEST_BYTES = 2000
"""Of a request's body."""
PAUSE_S = 0.005
"""Between the first token of a streamed answer and the rest: who waits for the end shows it."""
CALL_S = 60.0
"""No call takes longer."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_STREAM = re.compile(rb'"stream": *true')
_TOKEN = b"content_block_delta"
_END = b"\r\n0\r\n\r\n"
_COUNTER = b"00000000"


class Spoiled(RuntimeError):
    """What came back is no answer, so there is nothing to measure."""


def body(*, stream: bool) -> bytes:
    """A call's body of ``REQUEST_BYTES`` bytes, with a counter in it."""
    asked: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 1000,
        "system": "You are told two statements of a user and say whether one retires the other.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "number 00000000 "}]}],
    }
    if stream:
        asked["stream"] = True
    missing = REQUEST_BYTES - len(orjson.dumps(asked))
    asked["messages"][0]["content"][0]["text"] += ("The user lives in the town. " * 80)[:missing]
    return orjson.dumps(asked)


class Requests:
    """Calls as bytes, no two alike: a cache on the way must not answer them."""

    def __init__(self, *, stream: bool) -> None:
        content = body(stream=stream)
        head = (
            "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            "anthropic-version: 2023-06-01\r\nx-api-key: none\r\naccept: */*\r\n"
            f"x-memory-purpose: contradiction\r\ncontent-length: {len(content)}\r\n\r\n"
        )
        self._before, self._after = (head.encode() + content).split(_COUNTER)
        self._number = 0

    def next(self) -> bytes:
        """The next one."""
        self._number += 1
        return b"%b%08d%b" % (self._before, self._number, self._after)


@dataclass(frozen=True, slots=True)
class Took:
    """One call, in seconds from its sending: until it was whole, and until its first token where
    it was a stream."""

    whole: float
    token: float | None


class Client(asyncio.Protocol):
    """One connection, one call at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._came = bytearray()
        self._begun = 0.0
        self._token: float | None = None
        self._waiting: asyncio.Future[Took] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side went away."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(Spoiled(f"the connection broke: {exc}"))

    async def call(self, request: bytes) -> Took:
        """Send ``request`` and wait for the end of its reply.

        Raises:
            Spoiled: it is not 200, or there is none.
        """
        assert self._transport is not None
        waiting: asyncio.Future[Took] = asyncio.get_running_loop().create_future()
        self._waiting = waiting
        self._came.clear()
        self._token = None
        self._begun = time.perf_counter()
        self._transport.write(request)
        return await waiting

    def data_received(self, data: bytes) -> None:
        """Take a piece of the reply in."""
        came, waiting = self._came, self._waiting
        came += data
        if self._token is None and _TOKEN in came:
            self._token = time.perf_counter()
        if waiting is None or waiting.done() or not replied(came):
            return
        whole = time.perf_counter()
        if not came.startswith(b"HTTP/1.1 200"):
            waiting.set_exception(Spoiled(bytes(came[:2000]).decode("utf-8", "replace")))
            return
        token = None if self._token is None else self._token - self._begun
        waiting.set_result(Took(whole - self._begun, token))

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


def replied(came: bytearray | bytes) -> bool:
    """Whether a reply, or a request, is whole."""
    end = came.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(came[: end + 2])
    if length := _LENGTH.search(head):
        return len(came) >= end + 4 + int(length[1])
    return came.endswith(_END) if _CHUNKED.search(head) else True


class Provider(asyncio.Protocol):
    """One connection to the stand-in: every call gets the same answer, whole or as a stream."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._came = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        self._came += data
        if not replied(self._came):
            return
        streamed = _STREAM.search(self._came) is not None
        self._came.clear()
        assert self._transport is not None
        if not streamed:
            self._transport.write(WHOLE)
            return
        self._transport.write(STREAM_BEGINS)
        asyncio.get_running_loop().call_later(PAUSE_S, self._transport.write, STREAM_ENDS)


async def provider() -> tuple[asyncio.Server, int]:
    """Listen on a free port of this machine."""
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", 0, backlog=1024)
    return server, int(server.sockets[0].getsockname()[1])


async def one_by_one(client: Client, requests: Requests, count: int) -> list[Took]:
    """``count`` calls, each when the one before it has its answer."""
    async with asyncio.timeout(CALL_S):
        return [await client.call(requests.next()) for _ in range(count)]


async def at_once(clients: list[Client], requests: Requests, seconds: float) -> tuple[int, float]:
    """As many calls as all ``clients`` get answered; how many, and in how many seconds."""
    begun = time.perf_counter()
    until = begun + seconds

    async def go(client: Client) -> int:
        done = 0
        while time.perf_counter() < until:
            await client.call(requests.next())
            done += 1
        return done

    async with asyncio.timeout(seconds + CALL_S):
        counts = await asyncio.gather(*(go(client) for client in clients))
    return sum(counts), time.perf_counter() - begun


def _message(content: list[dict[str, str]], stop: str | None, output: int) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 500, "output_tokens": output},
    }


def _event(name: str, **data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps({"type": name, **data}))


def _delta(text: str) -> bytes:
    delta: Mapping[str, str] = {"type": "text_delta", "text": text}
    return _event("content_block_delta", index=0, delta=delta)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _whole() -> bytes:
    text = '{"reason": "The newer statement names another town.", "verdict": "YES"}'
    content = orjson.dumps(_message([{"type": "text", "text": text}], "end_turn", 20))
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_up_1\r\n"
        b"content-length: %d\r\n\r\n%b" % (len(content), content)
    )


WHOLE = _whole()
STREAM_BEGINS = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"request-id: req_up_1\r\ntransfer-encoding: chunked\r\n\r\n"
) + _chunk(
    _event("message_start", message=_message([], None, 1))
    + _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    + _delta("The ")
)
STREAM_ENDS = (
    _chunk(b"".join(_delta(word) for word in ("newer ", "statement ", "names ", "another.")))
    + _chunk(
        _event("content_block_stop", index=0)
        + _event(
            "message_delta",
            delta={"stop_reason": "end_turn", "stop_sequence": None},
            usage={"output_tokens": 20},
        )
        + _event("message_stop")
    )
    + b"0\r\n\r\n"
)
