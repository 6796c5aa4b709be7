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
    content: list[dict[str, Any]] = [
        {
            "type": "tool_use",
            "id": f"toolu_{number}_{place}",
            "name": tool.name,
            "input": tool.input,
        }
        for place, tool in enumerate(answer.tools, 1)
    ]
    if answer.text or not content:
        content.insert(0, {"type": "text", "text": answer.text})
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
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
        bare, kind, key, text = _streamed(block)
        yield _event("content_block_start", index=index, content_block=bare)
        if index == 0:
            yield _event("ping")
        for start in range(0, len(text), DELTA_CHARACTERS):
            delta = {"type": kind, key: text[start : start + DELTA_CHARACTERS]}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": whole["stop_sequence"]}
    yield _event("message_delta", delta=ended, usage=whole["usage"])
    yield _event("message_stop")


def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], str, str, str]:
    """A block as it begins, and what follows piece by piece: the kind of a piece, and its text."""
    if block["type"] == "tool_use":
        written = orjson.dumps(block["input"]).decode()
        return {**block, "input": {}}, "input_json_delta", "partial_json", written
    return {**block, "text": ""}, "text_delta", "text", block["text"]


def _event(kind: str, **payload: Any) -> bytes:
    data = orjson.dumps({"type": kind, **payload})
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def error_event(document: dict[str, Any]) -> bytes:
    """A stream's last event, when it cannot end well."""
    return b"event: error\ndata: " + orjson.dumps(document) + b"\n\n"
