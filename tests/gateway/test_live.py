"""The door in front of a provider: what passes, what is kept back, what every ending costs."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from runner.model import Call, Usage
from runner.prices import load_prices
from tests.gateway._setup import KEY, MODEL, Opened, body, live, raw
from tests.standin.upstream import How, Upstream

pytestmark = pytest.mark.slow

PRICE = load_prices().models[MODEL]
MIXED = Usage(input=300, output=40, cache_write_5m=20, cache_write_1h=30, cache_read=50)
SLOW = How(pause_s=0.05, text="x" * 640)


async def post(client: aiohttp.ClientSession, **changed: Any) -> tuple[int, bytes]:
    async with client.post("/v1/messages", data=raw(**changed)) as reply:
        return reply.status, await reply.read()


async def lines_of(it: Opened, count: int) -> list[Call]:
    """The ledger once it has ``count`` lines."""
    async with asyncio.timeout(5):
        while len(it.lines()) < count:
            await asyncio.sleep(0.01)
    return it.lines()


# ---------------------------------------------------------------- what passes


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_passes_byte_for_byte_and_is_metered_from_itself(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Upstream(How(tokens=MIXED, text="Grüße, 世界! " * 100))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        status, seen = await post(client, stream=stream)
        (line,) = it.lines()
    assert status == 200
    assert (line.outcome, line.error, line.flags) == ("answered", None, ())
    assert line.usage == MIXED
    assert line.cost_usd == PRICE.cost(MIXED) == it.door.ceiling.settled
    assert (line.served_model, line.stop_reason, line.streamed) == (MODEL, "end_turn", stream)
    assert line.request_id == "req_up_1"
    assert line.first_byte_ms is not None
    assert 0 < line.first_byte_ms <= line.latency_ms
    document = json.loads(seen) if not stream else None
    assert document is None or document["usage"]["cache_read_input_tokens"] == 50
    assert not stream or seen.endswith(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')


async def test_a_stream_passes_as_it_comes(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with (
        live(tmp_path, Upstream(SLOW)) as (it, client),
        client.post("/v1/messages", data=raw(stream=True)) as reply,
    ):
        came = []
        async for _ in reply.content.iter_any():
            came.append(loop.time())
            if len(came) == 3:
                assert it.lines() == []
        assert len(came) > 8
        assert came[-1] - came[0] > 0.4
        assert it.lines()[0].latency_ms > 400


async def test_half_an_event_that_ends_nothing_passes_at_once(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        writer.write(head + b"event: content_block_delta\ndata: {")
        await writer.drain()
        await release.wait()
        writer.close()

    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with (
        live(tmp_path, Upstream(), way_out={"anthropic": url}) as (_, client),
        client.post("/v1/messages", data=raw(stream=True)) as reply,
    ):
        async with asyncio.timeout(5):
            assert await reply.content.readany() == b"event: content_block_delta\ndata: {"
        release.set()
        with pytest.raises(aiohttp.ClientPayloadError):
            await reply.read()
    server.close()


async def test_no_client_holds_an_answer_the_ledger_does_not_know(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream()) as (it, client):
        for _ in range(20):
            async with client.post("/v1/messages", data=raw(stream=True)) as reply:
                async for chunk in reply.content.iter_any():
                    if b"message_delta" in chunk or b"message_stop" in chunk:
                        break
                seen = len(it.lines())
                await reply.read()
            assert seen == len(it.lines())
    assert [line.outcome for line in it.lines()] == ["answered"] * 20


async def test_what_reaches_the_provider(tmp_path: Path) -> None:
    upstream = Upstream()
    sent = {
        "anthropic-beta": "prompt-caching-2024-07-31",
        "anthropic-version": "2023-06-01",
        "user-agent": "a client",
        "x-stainless-lang": "python",
        "x-app": "cli",
        "x-memory-purpose": "update",
        "x-api-key": "none",
        "authorization": "Bearer none",
        "cookie": "a=b",
        "x-forwarded-for": "1.2.3.4",
        "proxy-authorization": "Basic x",
    }
    async with live(tmp_path, upstream) as (it, client):
        url = "/v1/messages?beta=true"
        async with client.post(url, data=raw(stream=False), headers=sent) as reply:
            assert reply.status == 200
        (line,) = it.lines()
    (seen,) = upstream.seen
    kept = {name: value for name, value in sent.items() if name.startswith(("anthropic", "user"))}
    kept |= {"x-stainless-lang": "python", "x-app": "cli", "x-api-key": KEY}
    fixed = {"host", "content-length", "content-type", "accept-encoding", "accept"}
    assert {name: seen.headers[name] for name in seen.headers if name not in fixed} == kept
    assert seen.target == url
    assert seen.document == body(stream=False)
    assert line.purpose == "update"


async def test_a_key_may_be_a_bearers(tmp_path: Path) -> None:
    upstream = Upstream()
    async with live(tmp_path, upstream, key_as="bearer") as (_, client):
        await post(client)
    assert upstream.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in upstream.seen[0].headers


async def test_what_stands_twice_reaches_the_provider_once(tmp_path: Path) -> None:
    upstream = Upstream()
    twice = raw().replace(b'"max_tokens": 1000', b'"max_tokens": 9, "max_tokens": 1000')
    async with live(tmp_path, upstream) as (it, client):
        async with client.post("/v1/messages", data=twice) as reply:
            assert reply.status == 200
        assert it.lines()[0].max_tokens_sent == 1000
    assert upstream.seen[0].body.count(b"max_tokens") == 1


async def test_only_known_headers_of_a_provider_reach_the_client(tmp_path: Path) -> None:
    headers = (
        ("retry-after", "7"),
        ("x-should-retry", "true"),
        ("anthropic-ratelimit-requests-remaining", "3"),
        ("set-cookie", "a=b"),
        ("anthropic-organization-id", "org"),
        ("location", "http://elsewhere"),
    )
    upstream = Upstream(How(status=429, kind="rate_limit_error", headers=headers))
    async with (
        live(tmp_path, upstream) as (_, client),
        client.post("/v1/messages", data=raw()) as reply,
    ):
        assert reply.status == 429
        assert {name.lower() for name in reply.headers} == {
            "retry-after",
            "x-should-retry",
            "anthropic-ratelimit-requests-remaining",
            "request-id",
            "content-type",
            "content-length",
            "date",
            "server",
        }


@pytest.mark.slow
async def test_ten_megabytes_pass(tmp_path: Path) -> None:
    upstream = Upstream(How(text="x" * 10_000_000))
    async with live(tmp_path, upstream) as (it, client):
        status, seen = await post(client)
        assert (status, len(json.loads(seen)["content"][0]["text"])) == (200, 10_000_000)
        status, seen = await post(client, stream=True)
        assert seen.count(b"xxxx") >= 10_000_000 // 64
        assert [line.outcome for line in it.lines()] == ["answered"] * 2


async def test_tokens_are_counted_by_the_provider(tmp_path: Path) -> None:
    upstream = Upstream()
    async with (
        live(tmp_path, upstream) as (it, client),
        client.post("/v1/messages/count_tokens", data=raw()) as reply,
    ):
        assert reply.status == 200
        assert (await reply.json())["input_tokens"] > 1
        assert it.lines() == []
    assert upstream.seen[0].target == "/v1/messages/count_tokens"


# ---------------------------------------------------------------- what fails, and what it costs


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 502, 503, 529])
async def test_a_providers_refusal_passes_as_it_came_and_costs_nothing(
    tmp_path: Path, status: int
) -> None:
    upstream = Upstream(How(status=status, kind="some_error", message=f"not with {KEY}"))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        seen, told = await post(client)
        await post(client, stream=True)
        first, second = it.lines()
    assert seen == status
    assert json.loads(told)["error"] == {"type": "some_error", "message": "not with [the key]"}
    assert (first.outcome, first.error) == ("failed", f"http_{status}")
    assert first.cost_usd == 0
    assert KEY not in first.detail
    assert (first.retries, second.retries) == (0, 0), "the streams differ, so do the requests"
    assert it.door.ceiling.settled == it.door.ceiling.reserved == 0
    assert it.ending is None


async def test_tries_of_the_same_request_are_counted(tmp_path: Path) -> None:
    upstream = Upstream()
    upstream.then(How(status=529), How(status=500), How(), How(status=529))
    async with live(tmp_path, upstream) as (it, client):
        for _ in range(5):
            await post(client)
        lines = it.lines()
    assert [line.error for line in lines] == ["http_529", "http_500", None, "http_529", None]
    assert [line.retries for line in lines] == [0, 1, 2, 0, 1]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_never_followed_and_never_passed_on(
    tmp_path: Path, status: int
) -> None:
    upstream = Upstream(How(status=status, headers=(("location", "/v1/messages"),)))
    async with live(tmp_path, upstream) as (it, client):
        async with client.post("/v1/messages", data=raw(), allow_redirects=False) as reply:
            assert reply.status == 502
            assert "location" not in reply.headers
        assert len(upstream.seen) == 1
        assert it.lines()[0].error == f"http_{status}"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ceiling", ["reserved", "measured"])
async def test_an_answer_without_usage_counts_as_its_worst_case(
    tmp_path: Path, stream: bool, ceiling: str
) -> None:
    upstream = Upstream(How(usage=False))
    async with live(tmp_path, upstream, max_usd=Decimal(1), ceiling=ceiling) as (it, client):
        status, _ = await post(client, stream=stream)
        (line,) = it.lines()
    assert status == 200
    assert (line.outcome, line.flags) == ("answered", ("no_usage",))
    assert line.cost_usd == it.door.ceiling.settled > 1000 * PRICE.output / 1_000_000
    assert ceiling == "measured" or line.cost_usd == line.reserved_usd


CUTS: list[tuple[How, str, str]] = [
    # how, the kind of failure, what is known of the cost
    (How(cut_after=30), "cut", "nothing"),
    (How(cut_after=1), "cut", "nothing"),
    (How(cut_at=b"event: content_block_stop"), "cut", "input"),
    (How(cut_at=b"\n\nevent: content_block_stop"), "cut", "input"),
    (How(cut_at=b"event: message_delta"), "cut", "input"),
    (How(cut_at=b'stop","index'), "cut", "input"),
    (How(cut_at=b"event: message_stop"), "cut", "all"),
    (How(cut_at=b'"type":"message_stop"'), "cut", "all"),
    (How(error_event="overloaded_error"), "stream_overloaded_error", "input"),
    (How(body=b""), "cut", "nothing"),
    (How(body=b"event: message_start\ndata: {]\n\n"), "bad_reply", "nothing"),
    (How(body=b"data: 1\n\n"), "bad_reply", "nothing"),
]


@pytest.mark.parametrize(("how", "kind", "known"), CUTS)
async def test_a_broken_stream_is_failed_and_paid_as_far_as_it_may_have_gone(
    tmp_path: Path, how: How, kind: str, known: str
) -> None:
    async with live(tmp_path, Upstream(how), max_usd=Decimal(1)) as (it, client):
        async with client.post("/v1/messages", data=raw(stream=True)) as reply:
            assert reply.status == 200
            try:
                seen = await reply.read()
                whole = True
            except aiohttp.ClientPayloadError:
                whole = False
        (line,) = await lines_of(it, 1)
        assert it.door.ceiling.reserved == 0
    assert (line.outcome, line.error) == ("failed", kind)
    assert whole == (how.error_event != "")
    if whole:
        assert seen.rstrip().endswith(b'"message":"as the test wants it"}}')
    most = PRICE.cost(Usage(input=100, output=1000))
    costs = {
        "nothing": (line.reserved_usd, ("no_usage",)),
        "input": (most, ("broken",)),
        "all": (PRICE.cost(Usage(input=100, output=20)), ()),
    }
    assert (line.cost_usd, line.flags) == costs[known]
    assert it.door.ceiling.settled == line.cost_usd <= line.reserved_usd
    assert it.ending is None


@pytest.mark.parametrize(
    ("how", "status", "kind", "charged"),
    [
        (How(cut_after=30), 502, "cut", True),
        (How(content_type="text/html"), 502, "bad_reply", True),
        (How(content_type="application/x-unknown"), 502, "bad_reply", True),
        (How(body=b"no json"), 502, "bad_reply", True),
        (How(body=b"[1]"), 502, "bad_reply", True),
        (How(body=b'{"type": "other"}'), 502, "bad_reply", True),
        (How(status=500, body=b"<html>no</html>"), 500, "http_500", False),
        (How(first_byte_s=5), 504, "timeout", True),
    ],
)
async def test_a_document_that_is_no_answer_is_failed(
    tmp_path: Path, how: How, status: int, kind: str, charged: bool
) -> None:
    way_out = {"silence_timeout_s": 0.3}
    async with live(tmp_path, Upstream(how), max_usd=Decimal(1), way_out=way_out) as (it, client):
        seen, told = await post(client)
        (line,) = it.lines()
    assert seen == status
    assert kind == "http_500" or json.loads(told)["type"] == "error"
    assert (line.outcome, line.error) == ("failed", kind)
    assert line.cost_usd == (line.reserved_usd if charged else 0)
    assert ("no_usage" in line.flags) is charged


async def test_a_provider_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    way_out = {"anthropic": "http://127.0.0.1:1"}
    async with live(tmp_path, Upstream(), max_usd=Decimal(1), way_out=way_out) as (it, client):
        status, told = await post(client)
        (line,) = it.lines()
    assert (status, line.error) == (502, "connect")
    assert line.cost_usd == 0
    assert "127.0.0.1" in json.loads(told)["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
async def test_another_model_that_serves_ends_the_run_and_is_paid(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Upstream(How(model="claude-haiku-4-5", text="secret" * 100))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        status, told = await post(client, stream=stream)
        (line,) = it.lines()
        assert (await post(client))[0] == 403
    assert status == (200 if stream else 403)
    assert b"served by claude-haiku-4-5" in told
    assert told.count(b"secret") == 0
    assert (line.outcome, line.error) == ("refused", "wrong_model")
    assert line.cost_usd == PRICE.cost(Usage(input=100, output=20))
    assert it.ending == ("invalid", "wrong_model")


async def test_another_model_whose_stream_breaks_ends_the_run_too(tmp_path: Path) -> None:
    upstream = Upstream(How(model="claude-haiku-4-5", cut_at=b"event: message_delta"))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        with pytest.raises(aiohttp.ClientPayloadError):
            await post(client, stream=True)
        (line,) = await lines_of(it, 1)
    assert (line.error, line.served_model) == ("cut", "claude-haiku-4-5")
    assert it.ending == ("invalid", "wrong_model")


async def test_a_dated_model_is_the_one_asked_for(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(How(model=f"{MODEL}-20260901"))) as (it, client):
        assert (await post(client))[0] == 200
        assert it.lines()[0].served_model == f"{MODEL}-20260901"
    assert it.ending is None


# ---------------------------------------------------------------- money


@pytest.mark.parametrize("stream", [False, True])
async def test_what_the_money_buys_is_what_is_asked_of_the_provider(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Upstream()
    async with live(tmp_path, upstream, max_usd=Decimal("0.02")) as (it, client):
        status, _ = await post(client, max_tokens=32_000, stream=stream)
        (line,) = it.lines()
    assert status == 200
    assert upstream.seen[0].document["max_tokens"] == line.max_tokens_sent < 2000  # type: ignore[operator]
    assert line.flags == ("lowered",)
    assert it.ending is None


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_cut_by_the_money_is_kept_back_and_ends_the_run(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Upstream(How(tokens=Usage(input=100, output=700), stop_reason="max_tokens"))
    async with live(tmp_path, upstream, max_usd=Decimal("0.01")) as (it, client):
        status, told = await post(client, max_tokens=32_000, stream=stream)
        (line,) = it.lines()
    assert (status, line.error) == (200 if stream else 403, "ceiling")
    assert b"permission_error" in told
    assert b"message_delta" not in told
    assert b"message_stop" not in told
    assert it.spent() <= Decimal("0.01")
    assert it.ending == ("incomplete", "ceiling")


async def test_a_first_call_that_cannot_be_paid_says_what_would_do(tmp_path: Path) -> None:
    upstream = Upstream()
    async with live(tmp_path, upstream, max_usd=Decimal("0.0001")) as (it, client):
        status, told = await post(client)
        least = Decimal(told.decode().split("needs US$")[1].split(" ")[0])
    assert status == 403
    assert "no lower ceiling than that works" in told.decode()
    assert upstream.seen == []
    async with live(tmp_path / "..", upstream, max_usd=least) as (it, client):
        assert (await post(client))[0] == 200
        assert it.spent() <= least


# ---------------------------------------------------------------- clients that leave


async def test_a_client_that_leaves_in_mid_stream_pays_what_it_asked_for(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(SLOW), max_usd=Decimal(1)) as (it, client):
        async with client.post("/v1/messages", data=raw(stream=True)) as reply:
            await reply.content.readany()
        (line,) = await lines_of(it, 1)
    assert (line.outcome, line.usage) == ("answered", Usage(input=100, output=20))
    assert it.door.ceiling.reserved == 0


@pytest.mark.slow
async def test_a_client_that_does_not_read_holds_up_no_money(tmp_path: Path) -> None:
    upstream = Upstream(How(text="x" * 3_000_000))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, _):
        reader, writer = await asyncio.open_unix_connection(it.socket, limit=1024)
        sent = raw(stream=True)
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
        writer.write(head.encode() + sent)
        await reader.readline()
        (line,) = await lines_of(it, 1)
        assert line.outcome == "answered"
        writer.close()


async def test_closing_breaks_off_what_does_not_end_and_charges_it(tmp_path: Path) -> None:
    upstream = Upstream()
    upstream.then(How(pause_s=0.3, text="x" * 6400), How(first_byte_s=0.05))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        async with client.post("/v1/messages", data=raw(stream=True)) as reply:
            await reply.content.readany()
            waiting = asyncio.create_task(post(client, max_tokens=10))
            async with asyncio.timeout(5):
                while len(upstream.seen) < 2:
                    await asyncio.sleep(0.01)
            await it.door.close(0.2)
            with pytest.raises(aiohttp.ClientPayloadError):
                await reply.read()
        assert (await waiting)[0] == 200
        streamed = next(line for line in it.lines() if line.streamed)
        async with asyncio.timeout(5):
            while upstream.streams:
                await asyncio.sleep(0.05)
    assert (streamed.outcome, streamed.error, streamed.flags) == (
        "failed",
        "cancelled",
        ("broken",),
    )
    assert streamed.cost_usd == PRICE.cost(Usage(input=100, output=1000))
    assert it.door.ceiling.reserved == 0
