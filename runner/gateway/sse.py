"""A message as the provider writes it: one JSON document, or a stream of events."""

from collections.abc import Iterable
from typing import Any

import orjson

from runner.gateway.answer import Answer
from runner.gateway.usage import message_usage

DELTA_CHARACTERS = 64
"""How much text one event of a stream carries."""


def message(answer: Answer, number: str) -> dict[str, Any]:
    """The answer to ``POST /v1/messages``; ``number`` tells it from others."""
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [{"type": "text", "text": answer.text}],
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": message_usage(answer.usage),
    }


def events(whole: dict[str, Any]) -> Iterable[bytes]:
    """The same message as server-sent events, in the provider's order."""
    opening = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**whole["usage"], "output_tokens": min(1, whole["usage"]["output_tokens"])},
    }
    yield _event("message_start", message=opening)
    for index, block in enumerate(whole["content"]):
        yield _event("content_block_start", index=index, content_block={**block, "text": ""})
        if index == 0:
            yield _event("ping")
        for start in range(0, len(block["text"]), DELTA_CHARACTERS):
            piece = block["text"][start : start + DELTA_CHARACTERS]
            delta = {"type": "text_delta", "text": piece}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": whole["stop_sequence"]}
    yield _event("message_delta", delta=ended, usage=whole["usage"])
    yield _event("message_stop")


def _event(kind: str, **payload: Any) -> bytes:
    data = orjson.dumps({"type": kind, **payload})
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def error_event(document: dict[str, Any]) -> bytes:
    """A stream's last event, when it cannot end well."""
    return b"event: error\ndata: " + orjson.dumps(document) + b"\n\n"
