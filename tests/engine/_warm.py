"""Loaded once by the process that drivers are forked from, so that none pays for the SDK again.

Importing is half of it: the SDK builds its parsers when it first reads an answer, so it is given
one of each form here, from a transport without a socket.
"""

import json
from typing import Any

import anthropic
import httpx2
import memory_engine.driver
import tenacity

from tests.engine._provider import message

MODULES = (memory_engine.driver, tenacity)


def _answer(request: httpx2.Request) -> httpx2.Response:
    body = json.loads(request.content)
    if not body.get("stream"):
        return httpx2.Response(200, json=message("m", "x", "end_turn"))
    block = {"type": "text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message("m", "", None)},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    head = {"content-type": "text/event-stream"}
    return httpx2.Response(200, text="".join(lines), headers=head)


def _warm() -> None:
    transport = httpx2.MockTransport(_answer)
    client = anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=transport))
    client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])
    with client.messages.stream(
        model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        stream.until_done()


_warm()
