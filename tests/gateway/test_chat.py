"""Systems that speak only ``/v1/chat/completions``, to an endpoint of the user's own."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx2
import pytest

from runner.gateway.chat import UNSAID_MAX_TOKENS, read_chat
from runner.gateway.reach import Allowed
from runner.gateway.refusal import Refusal
from runner.model import Usage
from runner.prices import load_prices
from tests.gateway._setup import KEY, MODEL, Opened, body, live, served
from tests.standin.upstream import How, Upstream

if TYPE_CHECKING:
    import openai

PRICE = load_prices().models[MODEL]
PATH = "/v1/chat/completions"
TOKENS = Usage(input=70, output=20, cache_read=30)
OTHER_KEY = "sk-openai-canary-987"


def ask(task: str = "hello", **changed: Any) -> dict[str, Any]:
    return body(task, **changed)


@asynccontextmanager
async def sdk(it: Opened) -> "AsyncIterator[openai.AsyncOpenAI]":
    import openai  # takes seconds

    transport = httpx2.AsyncHTTPTransport(uds=str(it.socket))
    async with httpx2.AsyncClient(transport=transport) as http:
        yield openai.AsyncOpenAI(
            api_key="none", base_url="http://127.0.0.1:8080/v1", http_client=http, max_retries=0
        )


@pytest.mark.slow
async def test_the_sdk_gets_its_answer(tmp_path: Path) -> None:
    upstream = Upstream(How(tokens=TOKENS))
    async with live(tmp_path, upstream, openai_key=OTHER_KEY) as (it, _), sdk(it) as client:
        said = await client.chat.completions.create(**ask())
        (line,) = it.lines()
    assert said.choices[0].message.content == "as you wish"
    assert said.usage is not None
    assert said.usage.prompt_tokens == 100
    assert (line.usage, line.cost_usd) == (TOKENS, PRICE.cost(TOKENS))
    assert (line.served_model, line.stop_reason, line.flags) == (MODEL, "stop", ())
    (seen,) = upstream.seen
    assert seen.headers["authorization"] == f"Bearer {OTHER_KEY}"
    assert KEY not in json.dumps(dict(seen.headers))
    assert seen.document == ask()


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [None, True, False])
async def test_a_stream_is_metered_whether_or_not_its_usage_was_asked_for(
    tmp_path: Path, wanted: bool | None
) -> None:
    upstream = Upstream(How(tokens=TOKENS, text="x" * 200))
    options: dict[str, Any] = (
        {} if wanted is None else {"stream_options": {"include_usage": wanted}}
    )
    async with live(tmp_path, upstream) as (it, _), sdk(it) as client:
        asked = ask(**options)
        stream: Any = await client.chat.completions.create(**asked, stream=True)
        chunks = [chunk async for chunk in stream]
        (line,) = it.lines()
    assert upstream.seen[0].document["stream_options"] == {"include_usage": True}
    assert "authorization" not in upstream.seen[0].headers
    told = [chunk.usage for chunk in chunks if chunk.usage is not None]
    assert len(told) == (1 if wanted else 0)
    assert wanted or all(chunk.choices for chunk in chunks)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "x" * 200
    assert (line.outcome, line.usage, line.streamed) == ("answered", TOKENS, True)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_tables_answer_a_chat(tmp_path: Path, stream: bool) -> None:
    async with served(tmp_path) as (it, _), sdk(it) as client:
        if stream:
            parts: Any = await client.chat.completions.create(**ask(), stream=True)
            text = "".join([part.choices[0].delta.content or "" async for part in parts])
        else:
            text = (await client.chat.completions.create(**ask())).choices[0].message.content or ""
        assert json.loads(text) == {"says": "good day"}
        assert it.lines()[0].usage == Usage(input=559, output=66)


@pytest.mark.slow
async def test_a_refusal_has_the_form_such_a_client_reads(tmp_path: Path) -> None:
    async with served(tmp_path) as (it, _), sdk(it) as client:
        from openai import PermissionDeniedError

        with pytest.raises(PermissionDeniedError) as caught:
            await client.chat.completions.create(**ask("unheard"))
    assert caught.value.type == "permission_error"
    assert "no scripted answer" in caught.value.message


async def test_without_an_endpoint_such_a_call_is_refused(tmp_path: Path) -> None:
    upstream = Upstream()
    async with (
        live(tmp_path, upstream, way_out={"openai": None}) as (it, client),
        client.post(PATH, json=ask()) as reply,
    ):
        assert reply.status == 404
        assert it.lines()[0].error == "unknown_path"
    assert upstream.seen == []


# ---------------------------------------------------------------- money


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
async def test_what_the_money_buys_is_put_where_the_client_put_it(
    tmp_path: Path, limit: str
) -> None:
    changed: dict[str, Any] = {limit: 32_000}
    sent = ask(**changed)
    if limit != "max_tokens":
        del sent["max_tokens"]
    upstream = Upstream(How(tokens=TOKENS))
    async with (
        live(tmp_path, upstream, max_usd=Decimal("0.02")) as (it, client),
        client.post(PATH, json=sent) as reply,
    ):
        assert reply.status == 200
        (line,) = it.lines()
    assert line.max_tokens_sent is not None
    assert line.max_tokens_sent < 2000
    assert upstream.seen[0].document == sent | {limit: line.max_tokens_sent}


@pytest.mark.parametrize("max_usd", [Decimal(1), None])
async def test_a_call_without_a_limit_gets_one_where_a_ceiling_has_to_hold(
    tmp_path: Path, max_usd: Decimal | None
) -> None:
    sent = ask()
    del sent["max_tokens"]
    upstream = Upstream(How(tokens=TOKENS))
    async with (
        live(tmp_path, upstream, max_usd=max_usd) as (it, client),
        client.post(PATH, json=sent) as reply,
    ):
        assert reply.status == 200
        assert it.lines()[0].max_tokens_sent == UNSAID_MAX_TOKENS
    added = {"max_tokens": UNSAID_MAX_TOKENS} if max_usd else {}
    assert upstream.seen[0].document == sent | added


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_cut_by_the_money_is_kept_back(tmp_path: Path, stream: bool) -> None:
    how = How(tokens=Usage(input=100, output=700), stop_reason="max_tokens")
    async with (
        live(tmp_path, Upstream(how), max_usd=Decimal("0.01")) as (it, client),
        client.post(PATH, json=ask(max_tokens=32_000, stream=stream)) as reply,
    ):
        told = await reply.read()
    assert b"permission_error" in told
    assert b'"length"' not in told
    assert b"[DONE]" not in told
    assert it.ending == ("incomplete", "ceiling")


@pytest.mark.parametrize(
    ("how", "error", "flags"),
    [
        (How(usage=False), None, ("no_usage",)),
        (How(cut_at=b"data: [DONE]"), "cut", ()),
        (How(cut_at=b'"finish_reason":"stop"'), "cut", ("no_usage",)),
        (How(error_event="overloaded_error"), "stream_overloaded_error", ("no_usage",)),
    ],
)
async def test_broken_streams_are_paid(
    tmp_path: Path, how: How, error: str | None, flags: tuple[str, ...]
) -> None:
    async with live(tmp_path, Upstream(how), max_usd=Decimal(1)) as (it, client):
        async with client.post(PATH, json=ask(stream=True)) as reply:
            try:
                await reply.read()
            except aiohttp.ClientPayloadError:
                assert error == "cut"
        (line,) = it.lines()
    assert (line.error, line.flags) == (error, flags)
    assert it.door.ceiling.reserved == 0
    if flags:
        assert line.cost_usd == line.reserved_usd
    else:
        assert line.cost_usd == PRICE.cost(Usage(input=100, output=20))


async def test_a_chat_is_recorded_and_replayed(tmp_path: Path) -> None:
    async with live(tmp_path, Upstream(How(tokens=TOKENS)), arm="record") as (it, client):
        async with client.post(PATH, json=ask(stream=True)) as reply:
            seen = await reply.read()
        async with client.post(PATH, json=ask()) as reply:
            seen += await reply.read()
        entries = tuple(it.recorded)
    assert OTHER_KEY not in "".join(entry.model_dump_json() for entry in entries)
    async with served(tmp_path, arm="replay", cassette=entries, tables=()) as (it, client):
        async with client.post(PATH, json=ask(stream=True)) as reply:
            again = await reply.read()
        async with client.post(PATH, json=ask()) as reply:
            again += await reply.read()
    assert again == seen


# ---------------------------------------------------------------- what may be asked


def refused(document: Any, allowed: Allowed | None = None) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read_chat({}, json.dumps(document).encode(), allowed=allowed or Allowed())
    return caught.value


def content(*parts: Any) -> dict[str, Any]:
    return ask(messages=[{"role": "user", "content": list(parts)}])


def picture(url: Any) -> dict[str, Any]:
    return content({"type": "image_url", "image_url": {"url": url}})


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ([], "invalid_request"),
        ({}, "invalid_request"),
        (ask(messages=[]), "invalid_request"),
        (ask(messages=[{"role": "root", "content": "x"}]), "invalid_request"),
        (ask(messages=[{"role": "user", "content": 3}]), "invalid_request"),
        (ask(max_tokens=-1), "invalid_request"),
        (ask(stream="yes"), "invalid_request"),
        (ask(stream_options=3), "invalid_request"),
        (picture(3), "invalid_request"),
        (ask(n=2), "priced_option"),
        (ask(surprise=1), "unknown_field"),
        (ask(service_tier="priority"), "unknown_field"),
        (ask(store=True), "provider_tool"),
        (ask(web_search_options={}), "provider_tool"),
        (ask(plugins=[{"id": "web"}]), "provider_tool"),
        (ask(tools=[{"type": "web_search"}]), "provider_tool"),
        (content({"type": "file", "file": {}}), "provider_tool"),
        (content({"type": "input_audio"}), "provider_tool"),
        (picture("https://example.org/x.png"), "remote_media"),
        (picture("file:///etc/passwd"), "remote_media"),
    ],
)
def test_the_same_rules_hold(document: Any, kind: str) -> None:
    assert refused(document).kind == kind


def test_media_of_a_named_host_and_pictures_within_pass() -> None:
    allowed = Allowed(media=frozenset({"example.org"}))
    sent = json.dumps(picture("https://example.org/x.png")).encode()
    assert read_chat({}, sent, allowed=allowed).images == 1
    assert refused(picture("https://example.org.evil.test/x.png"), allowed).kind == "remote_media"
    inner = read_chat({}, json.dumps(picture("data:image/png;base64,aaaa")).encode())
    assert (inner.images, inner.image_bytes) == (1, 26)
