"""A reply says what there is to remember, or it is an error: it is never an empty memory."""

import json
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import pytest
from mem0_driver.errors import GatewayRefused, ProviderFailed, UnusableReply
from mem0_driver.replies import failure, remembered


@dataclass
class Block:
    text: str
    type: str = "text"


@dataclass
class Reply:
    content: list[Any]
    stop_reason: str | None = "end_turn"


def reply(*texts: str, stop: str | None = "end_turn") -> Reply:
    return Reply([Block(text) for text in texts], stop)


def memory(*texts: Any) -> str:
    return json.dumps({"memory": [{"id": str(n), "text": t} for n, t in enumerate(texts)]})


def said(given: Reply) -> list[str]:
    return remembered(given, json.loads)


def test_what_is_said() -> None:
    assert said(reply(memory("A.", "B.", "A."))) == ["A.", "B.", "A."]
    assert said(reply(memory("A."), "more")) == ["A."]
    thinking = Reply([Block("hm", "thinking"), Block(memory("A."))])
    assert said(thinking) == ["A."]


def test_nothing_to_remember_is_something_to_say() -> None:
    assert said(reply('{"memory": []}')) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (reply(memory("A."), stop="max_tokens"), "cut short"),
        (reply(memory("A."), stop="model_context_window_exceeded"), "cut short"),
        (reply('{"memory": []}', stop="refusal"), "declined"),
        (reply(stop="refusal"), "declined"),
        (reply(), "no text"),
        (reply(" \n"), "no text"),
        (Reply([Block("x", "tool_use")], "tool_use"), "no text"),
        (reply("I cannot help with that."), "not JSON"),
        (reply('{"memory": [{"text": "A'), "not JSON"),
        (reply("[]"), 'no list "memory"'),
        (reply("null"), 'no list "memory"'),
        (reply("{}"), 'no list "memory"'),
        (reply('{"facts": ["A."]}'), 'no list "memory"'),
        (reply('{"memory": {"text": "A."}}'), 'no list "memory"'),
        (reply('{"memory": "A."}'), 'no list "memory"'),
        (reply('{"memory": ["A."]}'), "memory 1 of the reply has no text"),
        (reply('{"memory": [{"text": "A."}, {"fact": "B."}]}'), "memory 2 of the reply"),
        (reply(memory("A.", 7)), "memory 2 of the reply"),
        (reply(memory(" ")), "memory 1 of the reply"),
        (reply('{"memory": [{"text": "\\ud800"}]}'), "not Unicode"),
    ],
)
def test_anything_else_is_an_error(given: Reply, says: str) -> None:
    with pytest.raises(UnusableReply, match=says):
        said(given)


def status(code: int, **headers: str) -> anthropic.APIStatusError:
    asked = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    response = httpx2.Response(code, headers=headers, request=asked)
    return anthropic.APIStatusError("no", response=response, body=None)


def test_what_mem0s_error_about_its_model_stands_for() -> None:
    assert isinstance(failure(status(403, **{"x-should-retry": "false"})), GatewayRefused)
    for error in (
        status(403),
        status(529),
        status(400, **{"x-should-retry": "false"}),
        anthropic.APIConnectionError(request=httpx2.Request("POST", "http://127.0.0.1")),
        TypeError("'NoneType' object is not iterable"),
        None,
    ):
        assert isinstance(failure(error), ProviderFailed)
    assert "HTTP 529" in str(failure(status(529)))
