"""What is recorded is replayed: the same bytes, the same cost, the same failures, no network."""

import asyncio
import gzip
import json
import socket
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import AlteredReport, UsageError
from runner.gateway.cassette import (
    Cassette,
    Entry,
    difference,
    dump,
    key_of,
    load,
    models_of,
    save,
    written,
)
from runner.gateway.refusal import Refusal
from runner.model import Call, Usage
from tests.gateway._setup import KEY, MODEL, live, opened, raw, served
from tests.standin.upstream import How, Upstream

MIXED = Usage(input=300, output=40, cache_write_5m=20, cache_write_1h=30, cache_read=50)

Sent = dict[str, Any]


async def exchange(client: aiohttp.ClientSession, **sent: Any) -> tuple[Any, ...]:
    """What a client sees of a call, times and such left out."""
    async with client.post("/v1/messages", data=raw(**sent)) as reply:
        head = {name.lower(): value for name, value in reply.headers.items()}
        kept = {name: head.get(name) for name in ("content-type", "retry-after", "x-should-retry")}
        try:
            return reply.status, kept, await reply.read()
        except aiohttp.ClientPayloadError:
            return reply.status, kept, "broken"


async def recorded(
    folder: Path, calls: list[tuple[How, Sent]]
) -> tuple[list[Entry], list[tuple[Any, ...]], list[Call]]:
    """Make these calls of the stand-in and record them."""
    upstream = Upstream()
    upstream.then(*(how for how, _ in calls))
    (folder / "recorded").mkdir()
    async with live(folder / "recorded", upstream, arm="record", max_usd=Decimal(1)) as (it, door):
        seen = [await exchange(door, **sent) for _, sent in calls]
        async with asyncio.timeout(5):
            while len(it.recorded) < len(calls):
                await asyncio.sleep(0.01)
        return it.recorded, seen, it.lines()


def comparable(lines: list[Call]) -> list[dict[str, Any]]:
    """Lines without what a replay cannot repeat."""
    apart = {"latency_ms", "first_byte_ms", "source", "request_id"}
    return [line.model_dump(exclude=apart) for line in lines]


EVERYTHING: list[tuple[How, Sent]] = [
    (How(tokens=MIXED), {"task": "one"}),
    (How(tokens=MIXED, text="Grüße, 世界! " * 50), {"task": "one", "stream": True}),
    (How(status=529, kind="overloaded_error", headers=(("retry-after", "1"),)), {"task": "two"}),
    (How(), {"task": "two"}),
    (How(text="first"), {"task": "three"}),
    (How(text="second"), {"task": "three"}),
    (How(usage=False), {"task": "four"}),
    (How(cut_at=b"event: message_delta"), {"task": "five", "stream": True}),
    (How(cut_after=50), {"task": "six"}),
    (How(error_event="overloaded_error"), {"task": "seven", "stream": True}),
    (How(status=400, kind="invalid_request_error"), {"task": "eight", "stream": True}),
    (How(stop_reason="refusal"), {"task": "nine"}),
    (How(content_type="text/html"), {"task": "ten"}),
    (How(status=307, headers=(("location", "/"),)), {"task": "eleven"}),
]


async def test_everything_is_replayed_as_it_was(tmp_path: Path) -> None:
    entries, seen, lines = await recorded(tmp_path, EVERYTHING)
    upstream_gone = {"arm": "replay", "cassette": tuple(entries), "tables": ()}
    async with served(tmp_path, max_usd=Decimal(1), **upstream_gone) as (it, client):
        again = [await exchange(client, **sent) for _, sent in EVERYTHING]
        async with asyncio.timeout(5):
            while len(it.lines()) < len(lines):
                await asyncio.sleep(0.01)
        assert again == seen
        assert comparable(it.lines()) == comparable(lines)
        assert it.door.totals()["unused"] == []
        assert it.ending is None
        assert it.lines()[1].source == "cassette:1"


async def test_a_replay_opens_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries, _, _ = await recorded(tmp_path, [(How(), {"stream": True})])

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a replay went to the network")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    monkeypatch.setattr(socket.socket, "connect", never)
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", never)
    async with opened(tmp_path, arm="replay", cassette=tuple(entries), tables=()) as it:
        assert (await it.ask({}, raw(stream=True))).text == "as you wish"


async def test_a_stream_is_replayed_as_the_same_events(tmp_path: Path) -> None:
    how = How(text="x" * 1000)
    entries, seen, _ = await recorded(tmp_path, [(how, {"stream": True})])
    async with opened(tmp_path, arm="replay", cassette=tuple(entries), tables=()) as it:
        passage = await it.door.call("/v1/messages", {}, raw(stream=True))
        pieces = b"".join([piece async for piece in passage.pieces()])
    assert pieces == seen[0][2]
    assert pieces.count(b"content_block_delta\n") == 16


async def test_what_differs_from_call_to_call_does_not_matter_and_all_else_does(
    tmp_path: Path,
) -> None:
    entries, _, _ = await recorded(tmp_path, [(How(), {"task": "one", "system": "nonce-1a"})])
    replay: dict[str, Any] = {"arm": "replay", "cassette": tuple(entries), "tables": ()}
    async with opened(tmp_path, **replay) as it:
        assert (await it.ask({}, raw("one", system="nonce-2b"))).text == "as you wish"
    for changed in (
        {"system": "nonce-zz"},
        {"system": "nonce-1a "},
        {"system": "nonce-1a", "max_tokens": 999},
        {"system": "nonce-1a", "temperature": 0},
        {"system": "nonce-1a", "stream": True},
    ):
        async with opened(tmp_path, **replay) as it:
            with pytest.raises(Refusal, match="was never recorded; nearest is number 0"):
                await it.ask({}, raw("one", **changed))
        assert it.ending == ("invalid", "cassette_missing")


async def test_a_miss_shows_the_nearest_request_as_a_diff(tmp_path: Path) -> None:
    calls: list[tuple[How, Sent]] = [(How(), {"task": "far"}), (How(), {"task": "near by"})]
    entries, _, _ = await recorded(tmp_path, calls)
    async with opened(tmp_path, arm="replay", cassette=tuple(entries), tables=()) as it:
        with pytest.raises(Refusal) as caught:
            await it.ask({}, raw("near to"))
        with pytest.raises(Refusal, match="the run has ended"):
            await it.ask({}, raw("far"))
        first, _ = it.lines()
        unused = it.door.totals()["unused"]
    assert "nearest is number 1" in caught.value.message
    assert '-messages[0].content: {"task": "near by"}' in caught.value.message
    assert '+messages[0].content: {"task": "near to"}' in caught.value.message
    assert (first.outcome, first.error) == ("refused", "cassette_missing")
    assert [row["number"] for row in unused] == [0, 1]


async def test_one_time_more_than_was_recorded_is_a_miss(tmp_path: Path) -> None:
    entries, _, _ = await recorded(tmp_path, [(How(), {}), (How(), {})])
    async with opened(tmp_path, arm="replay", cassette=tuple(entries), tables=()) as it:
        for _ in range(2):
            await it.ask({}, raw())
        with pytest.raises(Refusal, match="recorded 2 times, and is asked once more"):
            await it.ask({}, raw())
    async with opened(tmp_path, arm="replay", cassette=(), tables=()) as it:
        with pytest.raises(Refusal, match="holds none of this run"):
            await it.ask({}, raw())


async def test_a_ceiling_can_be_tried_on_a_replay(tmp_path: Path) -> None:
    how = How(tokens=Usage(input=100, output=700), text="0123456789" * 10)
    entries, _, _ = await recorded(tmp_path, [(how, {"max_tokens": 9000}), (how, {"task": "b"})])
    replay: dict[str, Any] = {"arm": "replay", "cassette": tuple(entries), "tables": ()}
    async with opened(tmp_path, max_usd=Decimal("0.008"), **replay) as it:
        with pytest.raises(Refusal, match="the answer was cut at"):
            await it.ask({}, raw(max_tokens=9000))
    assert it.ending == ("incomplete", "ceiling")
    assert it.spent() <= Decimal("0.008")
    async with opened(tmp_path, max_usd=Decimal("0.02"), **replay) as it:
        assert len((await it.ask({}, raw(max_tokens=9000))).text) == 100
        assert it.lines()[-1].flags == ("lowered",)


async def test_tokens_counted_are_replayed_too(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(), arm="record") as (it, client):
        async with client.post("/v1/messages/count_tokens", data=raw()) as reply:
            seen = await reply.json()
        entries = tuple(it.recorded)
    assert [entry.path for entry in entries] == ["/v1/messages/count_tokens"]
    async with (
        served(tmp_path, arm="replay", cassette=entries, tables=()) as (it, client),
        client.post("/v1/messages/count_tokens", data=raw()) as reply,
    ):
        assert await reply.json() == seen


async def test_a_provider_that_was_not_there_is_replayed_as_such(tmp_path: Path) -> None:
    way_out = {"anthropic": "http://127.0.0.1:1"}
    async with live(tmp_path, Upstream(), arm="record", way_out=way_out) as (it, client):
        status, _, told = await exchange(client)
        entries = tuple(it.recorded)
    assert (status, entries[0].failed) == (502, "connect")
    async with served(tmp_path, arm="replay", cassette=entries, tables=()) as (it, client):
        again, _, told_again = await exchange(client)
        line = it.lines()[-1]
    assert again == status
    assert json.loads(told_again)["error"] == json.loads(told)["error"]
    assert (line.error, line.cost_usd) == ("connect", Decimal(0))


# ---------------------------------------------------------------- the file


def cassette(*entries: Entry, **changed: Any) -> Cassette:
    values: dict[str, Any] = {
        "bench": "0.1.0",
        "system": "engine",
        "suite": "trip-vs-move",
        "case": "reader",
        "recorded_from": datetime(2026, 9, 1, tzinfo=UTC),
        "recorded_to": datetime(2026, 9, 2, tzinfo=UTC),
        "models": models_of([entries]),
        "runs": {"reader-move-1": entries},
    }
    return Cassette(**(values | changed))


def entry(**changed: Any) -> Entry:
    values: dict[str, Any] = {
        "path": "/v1/messages",
        "step": "consolidate",
        "purpose": "update",
        "model": MODEL,
        "key": "0" * 64,
        "canonical": "{}",
        "status": 200,
        "body": "{}",
    }
    return Entry(**(values | changed))


async def test_a_cassette_holds_what_was_recorded_and_no_secret(tmp_path: Path) -> None:
    entries, _, _ = await recorded(tmp_path, EVERYTHING)
    path = tmp_path / "reader.cassette"
    digest = save(cassette(*entries), path)
    back = load(path)
    assert back.sha256() == digest
    assert back.runs["reader-move-1"] == tuple(entries)
    assert back.models == (MODEL,)
    plain = gzip.decompress(path.read_bytes())
    assert KEY.encode() not in plain
    for word in (b"x-api-key", b"authorization", b"ratelimit", b"set-cookie", b"organization"):
        assert word not in plain.lower()
    assert sorted(file.name for file in tmp_path.glob("*.cassette*")) == ["reader.cassette"]


async def test_no_step_of_a_recording_shows_the_key(tmp_path: Path) -> None:
    told = How(status=401, kind="authentication_error", message=f"{KEY} is not valid")
    async with live(tmp_path, Upstream(told), arm="record") as (it, client):
        await exchange(client)
        shown = it.path.read_text() + "".join(row.model_dump_json() for row in it.recorded)
    assert "is not valid" in shown
    assert KEY not in shown


def test_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    assert save(cassette(entry()), first) == save(cassette(entry()), second)
    assert first.read_bytes() == second.read_bytes() == dump(cassette(entry()))
    assert gzip.decompress(first.read_bytes()).startswith(b'{"sha256"')


def test_a_cassette_that_was_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save(cassette(entry(body="one")), path)
    plain = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(plain.replace(b'"one"', b'"two"'), mtime=0))
    with pytest.raises(AlteredReport, match="does not match its own digest"):
        load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"[]", mtime=0),
        gzip.compress(b"{}", mtime=0),
        gzip.compress(b'{"sha256": "", "cassette": {"cassette_version": 2}}', mtime=0),
        gzip.compress(b"{}", mtime=0)[:-6],
        gzip.compress(b"{}" * 1000, mtime=0)[:20],
    ],
    ids=range(8),
)
def test_what_is_no_cassette_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(AlteredReport, match="is no cassette"):
        load(tmp_path / "c")


def test_a_missing_cassette_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load(tmp_path / "none")


def test_a_cassette_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        save(cassette(), tmp_path / "nowhere" / "c")
    assert list(tmp_path.iterdir()) == []


@given(st.binary(max_size=200))
def test_any_body_is_kept_byte_for_byte(body: bytes) -> None:
    text, encoding = written(body)
    assert entry(body=text, encoding=encoding).content == body


@settings(max_examples=30)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_difference_is_shown_where_there_is_one(one: str, other: str) -> None:
    shown = difference(json.dumps({"a": one}), json.dumps({"a": other}))
    assert bool(shown) == (one != other)


def test_a_long_difference_is_cut() -> None:
    shown = difference(json.dumps(["a"] * 500), json.dumps(["b"] * 500))
    assert len(shown.splitlines()) == 41
    assert shown.endswith("more lines")
    assert "no json" in difference("no json", "none either")


def test_a_key_tells_paths_and_streams_apart() -> None:
    keys = {
        key_of(path, stream, b"{}") for path in ("/v1/messages", "/x") for stream in (True, False)
    }
    assert len(keys) == 4
