import asyncio
import json
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from runner.gateway.request import MAX_BODY_BYTES
from tests.gateway._setup import MODEL, OTHER, Opened, body, raw, served, table

pytestmark = pytest.mark.slow

LONG = f"""
schema = 1
[[answer]]
id = "flood"
match = {{ task = "flood" }}
text = "{"x" * 4_000_000}"
usage = {{ input = 10, output = 50 }}
[[answer]]
id = "hello"
match = {{ task = "hello" }}
text = "{"Grüße, 世界! " * 40}"
usage = {{ input = 559, output = 66 }}
"""
FLOODED: dict[str, Any] = {"tables": (table(LONG),)}


def sdk(it: Opened, **changed: Any) -> anthropic.AsyncAnthropic:
    transport = httpx2.AsyncHTTPTransport(uds=str(it.socket))
    return anthropic.AsyncAnthropic(
        api_key="none",
        base_url="http://127.0.0.1:8080",
        http_client=httpx2.AsyncClient(transport=transport),
        **changed,
    )


@asynccontextmanager
async def over_tcp(it: Opened) -> AsyncIterator[str]:
    """The same door on a TCP port, relayed byte by byte, as the system's container has it."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(it.socket)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while chunk := await source.read(65536):
                sink.write(chunk)
                await sink.drain()
            sink.close()

        await asyncio.gather(
            pump(reader, inner_writer), pump(inner_reader, writer), return_exceptions=True
        )

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def ask(task: str = "hello", **changed: Any) -> dict[str, Any]:
    return body(task, **changed)


# ---------------------------------------------------------------- the real client


async def test_the_sdk_gets_its_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, _):
        client = sdk(it)
        seen = await client.messages.with_raw_response.create(
            **ask(), extra_headers={"x-memory-purpose": "update"}
        )
        message = await seen.parse()
        (line,) = it.lines()
    assert message.content[0].type == "text"
    assert json.loads(message.content[0].text) == {"says": "good day"}
    assert (message.model, message.stop_reason, message.role) == (MODEL, "end_turn", "assistant")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (559, 66)
    assert seen.headers["request-id"] == line.request_id == "req_run-1_000001"
    assert line.purpose == "update"


async def test_the_sdk_streams(tmp_path: Path) -> None:
    async with served(tmp_path, **FLOODED) as (it, _):
        events: list[str] = []
        async with sdk(it).messages.stream(**ask()) as stream:
            async for event in stream:
                events.append(event.type)
            final = await stream.get_final_message()
        (line,) = it.lines()
    assert line.streamed
    assert final.content[0].type == "text"
    assert final.content[0].text == "Grüße, 世界! " * 40
    assert (final.usage.input_tokens, final.usage.output_tokens) == (559, 66)
    assert (final.stop_reason, final.model) == ("end_turn", MODEL)
    raw_events = [kind for kind in events if kind not in ("text",)]
    deltas = raw_events.count("content_block_delta")
    assert deltas > 3
    assert raw_events == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * deltas,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


async def test_a_stream_is_written_as_the_provider_writes_it(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as (it, client),
        client.post("/v1/messages", data=raw(stream=True)) as reply,
    ):
        assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
        blocks = (await reply.text()).removesuffix("\n\n").split("\n\n")
        assert reply.headers["request-id"] == it.lines()[0].request_id
    named = [block.split("\n") for block in blocks]
    data = [json.loads(line.removeprefix("data: ")) for _, line in named]
    kinds = [event.removeprefix("event: ") for event, _ in named]
    assert kinds == [event["type"] for event in data]
    assert kinds[:3] == ["message_start", "content_block_start", "ping"]
    assert data[0]["message"]["content"] == []
    assert data[0]["message"]["stop_reason"] is None
    assert data[0]["message"]["usage"]["input_tokens"] == 559
    assert data[-2]["usage"]["output_tokens"] == 66
    assert data[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}


async def test_the_sdk_counts_tokens_and_cached_usage_adds_up(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, _):
        client = sdk(it)
        counted = await client.messages.count_tokens(model=MODEL, messages=ask()["messages"])
        cached = await client.messages.create(**ask("cached"))
    assert counted.input_tokens > 0
    assert cached.usage.cache_creation_input_tokens == 50
    assert cached.usage.cache_read_input_tokens == 40
    assert cached.usage.cache_creation is not None
    assert cached.usage.cache_creation.ephemeral_1h_input_tokens == 30


async def test_the_sdk_over_tcp_in_its_own_thread(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, _), over_tcp(it) as url:

        def talk() -> tuple[str, str]:
            client = anthropic.Anthropic(api_key="none", base_url=url)
            with client.messages.stream(**ask()) as stream:
                streamed = "".join(stream.text_stream)
            plain = client.messages.create(**ask()).content[0]
            assert plain.type == "text"
            client.close()
            return streamed, plain.text

        streamed, plain = await asyncio.to_thread(talk)
    assert streamed == plain == '{"says": "good day"}'


@pytest.mark.parametrize(
    ("sent", "changed", "kind", "error"),
    [
        (ask("unheard"), {}, "permission_error", anthropic.PermissionDeniedError),
        (ask(model=OTHER), {}, "permission_error", anthropic.PermissionDeniedError),
        (ask(), {"max_usd": Decimal(0)}, "permission_error", anthropic.PermissionDeniedError),
        (ask(surprise=1), {}, "permission_error", anthropic.PermissionDeniedError),
        (ask(messages=[]), {}, "invalid_request_error", anthropic.BadRequestError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_sdk_is_told_and_does_not_try_again(
    tmp_path: Path, sent: Any, changed: Any, kind: str, error: Any, stream: bool
) -> None:
    surprise = {"extra_body": {"surprise": 1}} if "surprise" in sent else {}
    asked = {name: value for name, value in sent.items() if name != "surprise"} | surprise
    async with served(tmp_path, **changed) as (it, _):
        with pytest.raises(error) as caught:
            await sdk(it).messages.create(**asked, stream=stream)
        assert len(it.lines()) == 1, "the client tried again"
    assert caught.value.body["type"] == "error"
    assert caught.value.body["error"]["type"] == kind
    assert caught.value.body["request_id"] == caught.value.request_id == "req_run-1_000001"
    assert caught.value.response.headers["x-should-retry"] == "false"


async def test_the_sdk_tries_a_provider_failure_again(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, _):
        with pytest.raises(anthropic.InternalServerError, match="too busy") as caught:
            await sdk(it, max_retries=1).messages.create(**ask("overloaded"))
        assert [line.error for line in it.lines()] == ["http_529", "http_529"]
    assert caught.value.status_code == 529
    assert it.ending is None


# ---------------------------------------------------------------- other clients


async def test_anyone_may_see_that_the_door_is_there(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, client):
        assert stat.S_IMODE(it.socket.stat().st_mode) == 0o666
        async with client.head("/") as reply:
            assert reply.status == 200
        assert it.lines() == []
    assert not it.socket.exists()


@pytest.mark.parametrize(
    "line",
    [
        "GET /",
        "GET /v1/messages",
        "POST /",
        "POST /v1/complete",
        "GET /v1/models",
        "POST /v1/messages/",
        "POST //v1/messages",
        "POST /v1/../v1/messages",
        "POST /v1/%6dessages",
        "POST /v1/messages/batches",
        "POST http://api.anthropic.com/v1/messages",
        "CONNECT api.anthropic.com:443",
        "OPTIONS *",
    ],
)
async def test_every_other_path_is_refused_and_is_a_line(tmp_path: Path, line: str) -> None:
    async with served(tmp_path) as (it, _):
        reader, writer = await asyncio.open_unix_connection(it.socket)
        sent = raw()
        head = f"{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
        writer.write(head.encode() + sent)
        async with asyncio.timeout(5):
            head_seen = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        writer.close()
        (refused,) = it.lines()
    assert head_seen.startswith("http/1.1 404")
    assert "x-should-retry: false" in head_seen
    assert f"request-id: {refused.request_id}" in head_seen
    assert (refused.outcome, refused.error) == ("refused", "unknown_path")
    assert it.ending is None


async def test_a_query_does_not_change_the_path(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as (_, client),
        client.post("/v1/messages?beta=true", data=raw()) as reply,
    ):
        assert reply.status == 200


async def test_what_is_no_http_gets_no_answer_and_harms_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, client):
        reader, writer = await asyncio.open_unix_connection(it.socket)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        async with asyncio.timeout(5):
            assert b" 400 " in await reader.readline()
        writer.close()
        async with client.post("/v1/messages", data=raw()) as reply:
            assert reply.status == 200
        assert len(it.lines()) == 1


@pytest.mark.parametrize("said", [True, False])
async def test_a_body_that_is_too_large_is_refused(tmp_path: Path, said: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // (1 << 20) + 1):
            yield b" " * (1 << 20)

    async with served(tmp_path) as (it, client):
        data: Any = b" " * (MAX_BODY_BYTES + 1) if said else pieces()
        async with client.post("/v1/messages", data=data) as reply:
            assert reply.status == 413
            assert (await reply.json())["error"]["type"] == "request_too_large"
        (line,) = it.lines()
    assert line.error == "too_large"


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as (_, client),
        client.post("/v1/messages", data=raw(), expect100=True) as reply,
    ):
        assert reply.status == 200


async def test_a_client_that_leaves_in_the_middle_of_its_body_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, max_usd=Decimal(1)) as (it, client):
        _, writer = await asyncio.open_unix_connection(it.socket)
        writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        await writer.drain()
        writer.close()
        async with client.post("/v1/messages", data=raw()) as reply:
            assert reply.status == 200
        assert it.door.ceiling.reserved == 0
        assert it.ending is None


async def test_a_client_that_leaves_in_mid_stream_has_paid(tmp_path: Path) -> None:
    async with served(tmp_path, max_usd=Decimal(1), **FLOODED) as (it, client):
        async with client.post("/v1/messages", data=raw("flood", stream=True)) as reply:
            await reply.content.readany()
        (line,) = it.lines()
        assert (line.outcome, line.usage.output) == ("answered", 50)
        assert it.door.ceiling.reserved == 0
        async with client.post("/v1/messages", data=raw()) as other:
            assert other.status == 200


async def test_a_slow_client_holds_up_nobody(tmp_path: Path) -> None:
    async with served(tmp_path, max_usd=Decimal(1), **FLOODED) as (it, client):
        slow = socket.socket(socket.AF_UNIX)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await asyncio.to_thread(slow.connect, str(it.socket))
        sent = raw("flood", stream=True)
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
        slow.sendall(head.encode() + sent)
        async with asyncio.timeout(5):
            while not it.lines():
                await asyncio.sleep(0.01)
            async with client.post("/v1/messages", data=raw()) as reply:
                assert reply.status == 200
            await it.door.close(1)
        assert len(it.lines()) == 2
        slow.close()


async def test_a_call_without_a_line_gets_no_reply(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").symlink_to("/dev/full")
    async with served(tmp_path) as (it, _):
        reader, writer = await asyncio.open_unix_connection(it.socket)
        sent = raw()
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
        writer.write(head.encode() + sent)
        async with asyncio.timeout(5):
            assert await reader.read() == b""
    assert it.ending == ("errored", "ledger")


async def test_many_streams_at_once_stay_under_the_ceiling(tmp_path: Path) -> None:
    max_usd = Decimal("0.1")
    async with served(tmp_path, max_usd=max_usd) as (it, client):

        async def one(number: int) -> int:
            sent = raw(max_tokens=500 + number, stream=number % 2 == 0)
            async with client.post("/v1/messages", data=sent) as reply:
                await reply.read()
                assert it.door.ceiling.settled + it.door.ceiling.reserved <= max_usd
                return reply.status

        statuses = await asyncio.gather(*(one(number) for number in range(200)))
        lines = it.lines()
    assert set(statuses) == {200, 403}
    assert len(lines) == 200
    assert [line.seq for line in lines] == list(range(1, 201))
    assert it.spent() == it.door.ceiling.settled <= max_usd
    assert it.ending == ("incomplete", "ceiling")
