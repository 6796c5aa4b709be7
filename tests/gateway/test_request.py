import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.reach import Allowed
from runner.gateway.refusal import Refusal
from runner.gateway.request import read_request
from tests.gateway._setup import body, raw

PICTURE = {"type": "base64", "media_type": "image/png", "data": "aaaa"}


def content(*blocks: dict[str, Any]) -> dict[str, Any]:
    return body(messages=[{"role": "user", "content": list(blocks)}])


def refused(document: Any, headers: dict[str, str] | None = None) -> Refusal:
    sent = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(Refusal) as caught:
        read_request(headers or {}, sent)
    assert caught.value.ending is None
    return caught.value


def test_what_a_call_asks_is_read() -> None:
    request = read_request(
        {"a": "b"},
        raw(
            stream=True,
            system=[{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
            thinking={"type": "enabled", "budget_tokens": 999},
            tools=[{"name": "t", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}],
            temperature=0,
            speed="standard",
            inference_geo=None,
            mcp_servers=[],
        ),
    )
    assert (request.max_tokens, request.thinking_tokens, request.stream) == (1000, 999, True)
    assert request.body["temperature"] == 0
    assert request.size > len(request.plain)


def test_pictures_are_counted_wherever_they_are() -> None:
    image = {"type": "image", "source": PICTURE}
    result = {"type": "tool_result", "tool_use_id": "x", "content": [image]}
    paper = {"type": "document", "source": {"type": "content", "content": [image]}}
    request = read_request({}, json.dumps(content(image, result, paper)).encode())
    assert (request.images, request.image_bytes) == (3, 12)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b'"\\ud800"', "no JSON"),
        (b"[" * 5000 + b"]" * 5000, "no JSON"),
        ([], "no JSON object"),
        ({}, "model"),
        (body(model=""), "model"),
        (body(model=3), "model"),
        (body(max_tokens=None), "max_tokens"),
        (body(max_tokens=-1), "max_tokens"),
        (body(max_tokens=1.5), "max_tokens"),
        (body(max_tokens=True), "max_tokens"),
        (body(messages=None), "messages"),
        (body(messages=[]), "messages"),
        (body(messages="hi"), "messages"),
        (body(messages=[{"role": "user"}]), "content"),
        (body(messages=[{"role": "root", "content": "x"}]), "role"),
        (body(messages=[{"role": "user", "content": ["x"]}]), "messages.content"),
        (body(stream="yes"), "stream"),
        (body(thinking="yes"), "thinking"),
        (body(thinking={"type": "enabled"}), "budget_tokens"),
        (body(thinking={"type": "enabled", "budget_tokens": 1000}), "less than max_tokens"),
        (body(tools=[1]), "tools"),
        (content({"type": "image"}), "source"),
        (content({"type": "image", "source": {"type": "base64"}}), "base64"),
    ],
)
def test_what_no_provider_would_take_is_malformed(document: Any, told: str) -> None:
    refusal = refused(document)
    assert (refusal.kind, refusal.status) == ("invalid_request", 400)
    assert told in refusal.message


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (body(mcp_servers=[{"type": "url", "url": "https://example.org"}]), "provider_tool"),
        (body(container="c1"), "provider_tool"),
        (body(tools=[{"type": "web_search_20250305", "name": "web_search"}]), "provider_tool"),
        (body(tools=[{"type": "web_fetch_20260318", "name": "web_fetch"}]), "provider_tool"),
        (body(tools=[{"type": "code_execution_20260521", "name": "x"}]), "provider_tool"),
        (body(tools=[{"type": ["bash_"], "name": "x"}]), "provider_tool"),
        (body(tools=[{"name": "t"}, {"type": "mcp_toolset"}]), "provider_tool"),
        (content({"type": "container_upload", "file_id": "f"}), "provider_tool"),
        (content({"type": "server_tool_use", "name": "web_search"}), "provider_tool"),
        (content({"type": ["text"]}), "provider_tool"),
        (content({"type": "image", "source": {"type": "url", "url": "u"}}), "remote_media"),
        (content({"type": "image", "source": {"type": "file", "file_id": "f"}}), "remote_media"),
        (content({"type": "document", "source": {"type": "url", "url": "u"}}), "remote_media"),
        (content({"type": "document", "source": PICTURE}), "unbounded_input"),
        (
            content(
                {
                    "type": "tool_result",
                    "content": [{"type": "image", "source": {"type": "url", "url": "u"}}],
                }
            ),
            "remote_media",
        ),
        (body(system=[{"type": "image", "source": {"type": "url", "url": "u"}}]), "remote_media"),
        (body(speed="fast"), "priced_option"),
        (body(inference_geo="us"), "priced_option"),
        (body(surprise=1), "unknown_field"),
    ],
)
def test_what_reaches_outside_or_has_its_own_price_is_refused_by_name(
    document: Any, kind: str
) -> None:
    refusal = refused(document)
    assert (refusal.kind, refusal.status) == (kind, 403)


def test_a_priced_option_in_a_header_is_refused() -> None:
    assert refused(body(), {"anthropic-beta": "a-1, context-1m-2025-08-07"}).kind == "priced_option"
    read_request({"anthropic-beta": "prompt-caching-2024-07-31"}, raw())


SEARCH = body(tools=[{"type": "web_search_20250305", "name": "web_search"}])
MCP = body(mcp_servers=[{"type": "url", "url": "https://example.org"}])
COMPACT = body(context_management={"edits": [{"type": "compact_20260112"}]})


def image(url: Any) -> dict[str, Any]:
    return content({"type": "image", "source": {"type": "url", "url": url}})


def paper(**source: Any) -> dict[str, Any]:
    return content({"type": "document", "source": source})


NAMED = Allowed(
    tools=frozenset({"web_search_20250305", "mcp_servers"}), media=frozenset({"example.org"})
)
FREE = Allowed(tools=NAMED.tools, media=NAMED.media, unbounded=True)


@pytest.mark.parametrize(
    ("document", "named", "free"),
    [
        (SEARCH, "unbounded_input", None),
        (MCP, "unbounded_input", None),
        (COMPACT, "unbounded_input", None),
        (paper(type="url", url="https://example.org/x.pdf"), "unbounded_input", None),
        (paper(type="base64", data="aaaa"), "unbounded_input", None),
        (image("https://example.org/x.png"), None, None),
        (image("https://EXAMPLE.org:443/x.png"), None, None),
        (image("http://example.org/x.png"), "remote_media", "remote_media"),
        (image("https://example.org:8443/x.png"), "remote_media", "remote_media"),
        (image("https://evil-example.org/x.png"), "remote_media", "remote_media"),
        (image("https://example.org.evil.test/x.png"), "remote_media", "remote_media"),
        (image("https://example.org@evil.test/x.png"), "remote_media", "remote_media"),
        (image("https://evil.test\\@example.org/x.png"), "remote_media", "remote_media"),
        (image("https://[x/x.png"), "remote_media", "remote_media"),
        (image(3), "remote_media", "remote_media"),
        (paper(type="file", file_id="f"), "remote_media", "remote_media"),
        (body(tools=[{"type": "web_search_20990101"}]), "provider_tool", "provider_tool"),
        (body(container="c"), "provider_tool", "provider_tool"),
    ],
)
def test_what_is_allowed_by_name_passes_unless_it_has_no_bound_and_a_ceiling_must_hold(
    document: Any, named: str | None, free: str | None
) -> None:
    sent = json.dumps(document).encode()
    for allowed, kind in ((NAMED, named), (FREE, free)):
        if kind is None:
            assert read_request({}, sent, allowed=allowed).model
        else:
            with pytest.raises(Refusal) as caught:
                read_request({}, sent, allowed=allowed)
            assert caught.value.kind == kind


def test_what_an_allowed_tool_wrote_may_be_said_again() -> None:
    said = content({"type": "server_tool_use"}, {"type": "web_search_tool_result"})
    assert refused(said).kind == "provider_tool"
    assert read_request({}, json.dumps(said).encode(), allowed=NAMED).model


def test_the_body_that_leaves_is_the_one_that_was_read() -> None:
    twice = raw().replace(b'"max_tokens": 1000', b'"max_tokens": 1, "max_tokens": 1000')
    request = read_request({}, twice)
    assert json.loads(request.sent(1000)) == body()
    assert request.sent(1000).count(b"max_tokens") == 1
    assert json.loads(request.sent(7)) == body(max_tokens=7)


def test_counting_asks_for_no_max_tokens() -> None:
    document = body(thinking={"type": "enabled", "budget_tokens": 5000})
    del document["max_tokens"]
    assert read_request({}, json.dumps(document).encode(), counting=True).max_tokens == 0
    assert refused(document).kind == "invalid_request"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "content", "source", "text", "role", "data", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["model", "messages", "max_tokens", "system", "tools", "thinking", "stream", "speed"]
        ),
        json_values,
    )
)
def test_whatever_is_sent_is_read_or_refused(changed: dict[str, Any]) -> None:
    with suppress(Refusal):
        request = read_request({}, json.dumps(body(**changed)).encode())
        assert request.model
        assert request.max_tokens >= 0


@given(st.binary(max_size=60))
def test_bytes_that_are_no_call_are_malformed(sent: bytes) -> None:
    assert refused(sent).status == 400
