"""However a reply's bytes are cut into pieces, the same comes through and the same is counted."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway import chat, sse
from runner.gateway.answer import Answer
from runner.gateway.events import Splitter, TooLong
from runner.gateway.taps import (
    BadReply,
    ChatStreamTap,
    ChatTap,
    MessageStreamTap,
    MessageTap,
    Tap,
)
from runner.gateway.usage import Counted, chat_usage
from runner.model import Usage

pytestmark = pytest.mark.slow

usages = st.builds(Usage, **dict.fromkeys(Usage.model_fields, st.integers(0, 10**6)))
answers = st.builds(
    Answer,
    text=st.text(max_size=300),
    usage=usages,
    model=st.sampled_from(["claude-sonnet-5-5", "another"]),
    stop_reason=st.sampled_from(["end_turn", "max_tokens", "refusal"]),
)
cuts = st.lists(st.integers(0, 4000), max_size=30)


def pieces(body: bytes, at: Iterable[int]) -> list[bytes]:
    marks = sorted({0, len(body), *(mark % (len(body) + 1) for mark in at)})
    return [body[start:end] for start, end in pairwise(marks)]


def seen(tap: Tap, body: bytes, at: Iterable[int] = ()) -> tuple[Any, ...]:
    """What a tap makes of a reply: all it says, and the bytes it lets through."""
    out: list[bytes] = []
    try:
        for piece in pieces(body, at):
            out.append(tap.feed(piece))
        out.append(tap.end())
    except BadReply as problem:
        return ("bad", str(problem))
    said = (tap.usage, tap.measured, tap.model, tap.stop_reason, tap.done, tap.error)
    return (*said, b"".join(out))


@given(answers, cuts, st.booleans())
def test_a_stream_comes_through_whole_and_is_counted_right(
    answer: Answer, at: list[int], crlf: bool
) -> None:
    body = b"".join(sse.events(sse.message(answer, "1")))
    body = body.replace(b"\n", b"\r\n") if crlf else body
    expected = (answer.usage, True, answer.model, answer.stop_reason, True, None, body)
    assert seen(MessageStreamTap(), body, at) == expected


@given(answers, cuts)
def test_what_ends_a_stream_is_kept_until_the_end(answer: Answer, at: list[int]) -> None:
    body = b"".join(sse.events(sse.message(answer, "1")))
    tap = MessageStreamTap()
    passed = b"".join(tap.feed(piece) for piece in pieces(body, at))
    assert passed == body[: body.index(b"event: message_delta")]


@given(answers, cuts, st.booleans())
def test_a_chat_stream_comes_through_without_the_usage_nobody_asked_for(
    answer: Answer, at: list[int], silent: bool
) -> None:
    whole = chat.completion(answer, "1")
    body = b"".join(chat.events(whole))
    reason = whole["choices"][0]["finish_reason"]
    *said, passed = seen(ChatStreamTap(silent), body, at)
    total = answer.usage
    counted = Usage(
        input=total.input + total.cache_write_5m + total.cache_write_1h,
        output=total.output,
        cache_read=total.cache_read,
    )
    assert said == [counted, True, answer.model, reason, True, None]
    if silent:
        events = body.split(b"\n\n")
        assert passed == b"\n\n".join(events[:-3] + events[-2:])
    else:
        assert passed == body


@given(answers, cuts)
def test_documents_come_through_whole(answer: Answer, at: list[int]) -> None:
    body = json.dumps(sse.message(answer, "1")).encode()
    expected = (answer.usage, True, answer.model, answer.stop_reason, True, None, body)
    assert seen(MessageTap(), body, at) == expected
    body = json.dumps(chat.completion(answer, "1")).encode()
    assert seen(ChatTap(), body, at)[-1] == body


KINDS = (MessageStreamTap, ChatStreamTap, MessageTap, ChatTap)
# Bytes that look like a stream and are none, or nearly one.
scraps = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from(
            [
                b"event: ",
                b"message_start",
                b"content_block_delta",
                b"message_delta",
                b"message_stop",
                b"error",
                b"ping",
                b"data: ",
                b"data:",
                b"{}",
                b'{"type":"message_stop"}',
                b'{"type":"message_delta","delta":{"stop_reason":"x"},"usage":{"output_tokens":3}}',
                b'{"type":"message_start","message":{"usage":{"input_tokens":1}}}',
                b'{"type":"error","error":{"type":"overloaded_error"}}',
                b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
                b"[DONE]",
                b": a comment",
                b"\n",
                b"\n\n",
                b"\r\n\r\n",
                b"\r",
                b"\r\r",
            ]
        ),
    ),
    max_size=25,
).map(b"".join)


@pytest.mark.parametrize("kind", KINDS)
@given(body=scraps, at=cuts)
def test_nothing_depends_on_how_bytes_are_cut(kind: type[Tap], body: bytes, at: list[int]) -> None:
    whole = seen(kind(), body)
    assert seen(kind(), body, at) == whole
    assert seen(kind(), body, range(len(body))) == whole
    if whole[0] != "bad" and kind is not ChatStreamTap:
        assert whole[-1] == body


@given(scraps, cuts)
def test_events_are_the_bytes_they_were_cut_from(body: bytes, at: list[int]) -> None:
    splitter = Splitter(10**6)
    events = [event.raw for piece in pieces(body, at) for event in splitter.feed(piece)]
    assert b"".join(events) + splitter.rest == body
    assert all(event.endswith((b"\n\n", b"\n\r\n")) for event in events)


def test_an_event_without_end_is_no_event() -> None:
    splitter = Splitter(10)
    splitter.feed(b"data: 1\n\n" * 100)
    with pytest.raises(TooLong):
        splitter.feed(b"data: 12345")


# ---------------------------------------------------------------- usage in every form


def counted(*said: Any, long: bool = False) -> Usage | None:
    it = Counted(long)
    for usage in said:
        it.add(usage)
    return it.usage


BOTH = {"input_tokens": 1, "output_tokens": 2}


@pytest.mark.parametrize(
    ("said", "long", "usage"),
    [
        ([BOTH], False, Usage(input=1, output=2)),
        ([{"input_tokens": 1}], False, None),
        ([{"output_tokens": 1}], False, None),
        ([{"input_tokens": 1}, {"output_tokens": 5}], False, Usage(input=1, output=5)),
        ([BOTH, {"output_tokens": 9}], False, Usage(input=1, output=9)),
        ([BOTH, {"input_tokens": 7, "output_tokens": 9}], False, Usage(input=7, output=9)),
        ([BOTH, {"output_tokens": 9, "input_tokens": None}], False, Usage(input=1, output=9)),
        (
            [BOTH | {"cache_creation_input_tokens": 5}],
            False,
            Usage(input=1, output=2, cache_write_5m=5),
        ),
        (
            [BOTH | {"cache_creation_input_tokens": 5}],
            True,
            Usage(input=1, output=2, cache_write_1h=5),
        ),
        (
            [
                BOTH
                | {
                    "cache_creation_input_tokens": 5,
                    "cache_creation": {
                        "ephemeral_5m_input_tokens": 2,
                        "ephemeral_1h_input_tokens": 3,
                    },
                    "cache_read_input_tokens": 4,
                }
            ],
            False,
            Usage(input=1, output=2, cache_write_5m=2, cache_write_1h=3, cache_read=4),
        ),
        (
            [BOTH | {"cache_creation": {"ephemeral_1h_input_tokens": 3}}],
            False,
            Usage(input=1, output=2, cache_write_1h=3),
        ),
        (
            [
                BOTH
                | {
                    "cache_creation_input_tokens": 9,
                    "cache_creation": {"ephemeral_1h_input_tokens": 3},
                }
            ],
            False,
            Usage(input=1, output=2, cache_write_5m=6, cache_write_1h=3),
        ),
        # Several samplings behind one answer.
        ([BOTH | {"iterations": [BOTH, BOTH]}], False, Usage(input=2, output=4)),
        ([BOTH | {"iterations": [BOTH]}], False, Usage(input=1, output=2)),
        ([BOTH | {"iterations": [BOTH, "?"]}], False, Usage(input=1, output=2)),
        ([None], False, None),
        (["?"], False, None),
        ([{"input_tokens": -1, "output_tokens": 2}], False, None),
        ([{"input_tokens": True, "output_tokens": 2}], False, None),
        ([{"input_tokens": 1.5, "output_tokens": 2}], False, None),
    ],
)
def test_usage_is_read_in_every_form(said: list[Any], long: bool, usage: Usage | None) -> None:
    assert counted(*said, long=long) == usage


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(input=5, output=2)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 3},
            },
            Usage(input=2, output=2, cache_read=3),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 9},
            },
            Usage(input=0, output=2, cache_read=5),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, None),
        ({"prompt_tokens": 5}, None),
        ({"prompt_tokens": -5, "completion_tokens": 2}, None),
        (None, None),
    ],
)
def test_a_chats_cached_tokens_are_part_of_its_prompt(said: Any, usage: Usage | None) -> None:
    if isinstance(said, dict) and said.get("prompt_tokens_details", 0) is None:
        usage = Usage(input=5, output=2)
    assert chat_usage(said) == usage


def test_server_tools_are_seen() -> None:
    it = Counted()
    it.add(BOTH | {"server_tool_use": {"web_search_requests": 0}})
    assert not it.server_tools
    it.add(BOTH | {"server_tool_use": {"web_search_requests": 1}})
    assert it.server_tools
