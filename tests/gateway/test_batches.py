"""Batches: held when they are handed in, followed to their end, settled at the batch price."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import httpx2
import pytest

from runner.model import Usage
from runner.prices import load_prices
from tests.gateway._setup import KEY, MODEL, OTHER, Opened, body, live, raw, served
from tests.standin.upstream import How, Upstream

pytestmark = pytest.mark.slow

PRICE = load_prices().models[MODEL]
PATH = "/v1/messages/batches"
TOKENS = Usage(input=100, output=20)
QUICK = How(tokens=TOKENS)


def batch(*tasks: str, **changed: Any) -> dict[str, Any]:
    return {
        "requests": [
            {"custom_id": f"id-{number}", "params": body(task, **changed)}
            for number, task in enumerate(tasks)
        ]
    }


@asynccontextmanager
async def sdk(it: Opened) -> AsyncIterator[anthropic.AsyncAnthropic]:
    transport = httpx2.AsyncHTTPTransport(uds=str(it.socket))
    async with httpx2.AsyncClient(transport=transport) as http:
        yield anthropic.AsyncAnthropic(
            api_key="none", base_url="http://127.0.0.1:8080", http_client=http, max_retries=0
        )


async def post(client: aiohttp.ClientSession, document: Any) -> tuple[int, dict[str, Any]]:
    async with client.post(PATH, json=document) as reply:
        return reply.status, await reply.json()


async def lines_come(it: Opened, count: int) -> None:
    async with asyncio.timeout(10):
        while len(it.lines()) < count:
            await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_the_sdk_hands_one_in_and_takes_its_results(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=0.4))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, _), sdk(it) as client:
        it.door.step = "consolidate"
        made = await client.messages.batches.create(
            requests=batch("a", "b", "c")["requests"], extra_headers={"x-memory-purpose": "update"}
        )
        assert made.processing_status == "in_progress"
        assert made.results_url is None
        held = it.door.ceiling.reserved
        assert held > 0
        assert it.lines() == []
        it.door.step = "another"
        while (seen := await client.messages.batches.retrieve(made.id)).ended_at is None:
            assert it.door.ceiling.reserved == held
            await asyncio.sleep(0.1)
        assert len(it.lines()) == 3
        assert seen.results_url == f"http://127.0.0.1:8080{PATH}/{made.id}/results"
        results = [row async for row in await client.messages.batches.results(made.id)]
        lines = it.lines()
    assert [row.custom_id for row in results] == ["id-0", "id-1", "id-2"]
    assert all(row.result.type == "succeeded" for row in results)
    for line in lines:
        assert (line.outcome, line.purpose, line.step) == ("answered", "update", "consolidate")
        assert (line.batch, line.served_model, line.usage) == (made.id, MODEL, TOKENS)
        assert line.cost_usd == PRICE.cost(TOKENS) / 2 == PRICE.cost(TOKENS, batch=True)
    assert sum(line.reserved_usd for line in lines) == held
    assert it.door.ceiling.settled == it.spent()
    assert it.door.ceiling.reserved == 0
    assert {seen.headers["x-api-key"] for seen in upstream.seen} == {KEY}


async def test_it_is_settled_although_nobody_asks_for_it(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(QUICK), max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a", "b"))
        await lines_come(it, 2)
        assert it.door.ceiling.reserved == 0


async def test_the_whole_batch_is_held_and_one_that_is_too_dear_never_leaves(
    tmp_path: Path,
) -> None:
    upstream = Upstream(QUICK)
    async with live(tmp_path, upstream, max_usd=Decimal("0.02")) as (it, client):
        status, told = await post(client, batch(*"abcdefgh"))
        (line,) = it.lines()
    assert status == 403
    assert "of the ceiling of US$0.02" in told["error"]["message"]
    assert (line.outcome, line.error) == ("refused", "ceiling")
    assert line.cost_usd == it.spent() == 0
    assert upstream.seen == []
    assert it.ending == ("incomplete", "ceiling")


async def test_a_call_waits_for_the_money_a_batch_holds(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=60))
    async with live(tmp_path, upstream, max_usd=Decimal("0.02")) as (it, client):
        _, made = await post(client, batch("a", "b"))
        waiting = asyncio.create_task(client.post("/v1/messages", data=raw(max_tokens=1000)))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        async with client.post(f"{PATH}/{made['id']}/cancel") as cancelled:
            assert cancelled.status == 200
        reply = await waiting
        assert reply.status == 200
        await lines_come(it, 3)
        reply.close()
    assert it.spent() <= Decimal("0.02")


@pytest.mark.slow
async def test_a_cancelled_batch_costs_what_it_took(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=60))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, _), sdk(it) as client:
        made = await client.messages.batches.create(requests=batch("a", "b")["requests"])
        await client.messages.batches.cancel(made.id)
        await lines_come(it, 2)
    assert {(line.outcome, line.error) for line in it.lines()} == {("failed", "batch_canceled")}
    assert it.spent() == it.door.ceiling.reserved == 0


async def test_closing_cancels_follows_and_settles(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=60))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a", "b"))
        async with asyncio.timeout(3):
            await it.door.close(2)
        assert [seen.target.rpartition("/")[2] for seen in upstream.seen].count("cancel") == 1
        assert [line.error for line in it.lines()] == ["batch_canceled"] * 2
        assert it.spent() == it.door.ceiling.reserved == 0
        assert (await post(client, batch("a")))[0] == 403


async def test_what_is_not_known_at_the_close_counts_at_its_worst(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=60))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a", "b"))
        held = it.door.ceiling.reserved
        upstream._batches.clear()  # the provider has forgotten it
        await it.door.close(0.3)
        lines = it.lines()
    assert [(line.error, line.flags) for line in lines] == [("batch_unknown", ("no_usage",))] * 2
    assert it.spent() == held == it.door.ceiling.settled


async def test_a_provider_that_says_nothing_holds_up_no_close(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=60))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a"))
        upstream.deaf = True
        waiting = asyncio.create_task(post(client, batch("b", "c")))
        async with asyncio.timeout(5):
            while len(upstream.seen) < 2 or it.door.ceiling.reserved == 0:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            held = it.door.ceiling.reserved
            await it.door.close(0.3)
        assert it.door.ceiling.reserved == 0
        assert it.spent() == it.door.ceiling.settled == held
        assert {line.error for line in it.lines()} == {"batch_unknown", "cancelled"}
        assert (await waiting)[0] == 502


async def test_every_ending_of_a_call_in_it_is_a_line(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, error_event="invalid_request_error"))
    async with live(tmp_path, upstream, max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a", "b"))
        await lines_come(it, 2)
        first, second = it.lines()
    assert (first.outcome, first.error, first.cost_usd) == ("failed", "batch_errored", Decimal(0))
    assert "invalid_request_error" in first.detail
    assert second.outcome == "answered"


async def test_answers_without_usage_count_at_their_worst(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(How(usage=False)), max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a"))
        await lines_come(it, 1)
        (line,) = it.lines()
    assert (line.outcome, line.flags) == ("answered", ("no_usage",))
    assert line.cost_usd == line.reserved_usd > 0


async def test_another_model_in_it_ends_the_run(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(How(model=OTHER)), max_usd=Decimal(1)) as (it, client):
        await post(client, batch("a"))
        await lines_come(it, 1)
    assert it.ending == ("invalid", "wrong_model")


@pytest.mark.parametrize(
    ("how", "status", "kind", "charged"),
    [
        (How(status=404, kind="not_found_error"), 404, "http_404", False),
        (How(status=529, kind="overloaded_error"), 529, "http_529", False),
        (How(first_byte_s=5), 504, "timeout", True),
    ],
)
async def test_one_that_is_not_taken_is_one_line(
    tmp_path: Path, how: How, status: int, kind: str, charged: bool
) -> None:
    way_out = {"silence_timeout_s": 0.3}
    async with live(tmp_path, Upstream(how), max_usd=Decimal(1), way_out=way_out) as (it, client):
        seen, _ = await post(client, batch("a", "b"))
        (line,) = it.lines()
    assert (seen, line.outcome, line.error) == (status, "failed", kind)
    assert line.cost_usd == (line.reserved_usd if charged else 0)
    assert it.door.ceiling.reserved == 0


@pytest.mark.parametrize(
    ("document", "status", "error"),
    [
        ({}, 400, "invalid_request"),
        ({"requests": []}, 400, "invalid_request"),
        ({"requests": [{}]}, 400, "invalid_request"),
        ({"requests": batch("a")["requests"] * 2}, 400, "invalid_request"),
        ({**batch("a"), "surprise": 1}, 400, "invalid_request"),
        (batch("a", stream=True), 400, "invalid_request"),
        (batch("a", surprise=1), 403, "unknown_field"),
        (batch("a", model=OTHER), 403, "wrong_model"),
        (batch("a", tools=[{"type": "web_search_20250305"}]), 403, "provider_tool"),
    ],
)
async def test_the_rules_hold_within_a_batch(
    tmp_path: Path, document: Any, status: int, error: str
) -> None:
    upstream = Upstream(QUICK)
    async with live(tmp_path, upstream) as (it, client):
        assert (await post(client, document))[0] == status
        (line,) = it.lines()
    assert line.error == error
    assert upstream.seen == []
    assert it.ending == (("invalid", "wrong_model") if error == "wrong_model" else None)


async def test_other_batches_of_the_account_are_not_to_be_seen(tmp_path: Path) -> None:
    upstream = Upstream(QUICK)
    async with live(tmp_path, upstream) as (it, client):
        for method, path in (
            ("GET", f"{PATH}/msgbatch_of_another_run"),
            ("GET", f"{PATH}/msgbatch_of_another_run/results"),
            ("POST", f"{PATH}/msgbatch_of_another_run/cancel"),
            ("GET", PATH),
        ):
            async with client.request(method, path) as reply:
                assert reply.status == 404
        assert {line.error for line in it.lines()} == {"unknown_batch", "unknown_path"}
    assert upstream.seen == []


@pytest.mark.slow
async def test_one_is_recorded_whole_and_replayed_under_other_ids(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS, batch_s=0.3))
    document = batch("a", "b")
    async with live(tmp_path, upstream, arm="record", max_usd=Decimal(1)) as (it, client):
        _, made = await post(client, document)
        await lines_come(it, 2)
        async with asyncio.timeout(5):
            while not it.recorded:
                await asyncio.sleep(0.02)
        entries, lines = tuple(it.recorded), it.lines()
    assert [entry.path for entry in entries] == [PATH]
    for row in document["requests"]:
        row["custom_id"] = f"new-{row['custom_id']}"
    (tmp_path / "again").mkdir()
    async with (
        served(tmp_path / "again", arm="replay", cassette=entries, tables=()) as (it, _),
        sdk(it) as client,
    ):
        again = await client.messages.batches.create(requests=document["requests"])
        assert again.id == made["id"]
        assert (await client.messages.batches.retrieve(again.id)).processing_status == "ended"
        rows = [row async for row in await client.messages.batches.results(again.id)]
        replayed = it.lines()
        assert it.door.totals()["unused"] == []
    assert [row.custom_id for row in rows] == ["new-id-0", "new-id-1"]
    assert [line.usage for line in replayed] == [line.usage for line in lines]
    assert [line.cost_usd for line in replayed] == [line.cost_usd for line in lines]


async def test_scripted_tables_know_no_batches(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, client):
        status, told = await post(client, batch("hello"))
        assert (status, told["error"]["type"]) == (404, "not_found_error")
        assert it.lines()[0].error == "unknown_path"
    assert it.ending is None
