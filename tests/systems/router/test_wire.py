import json
from typing import Any

import pytest
from page_router import learn
from page_router.pages import parse
from page_router.rank import Index
from page_router.settings import PURPOSES

from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.systems.router import wire
from runner.systems.router.wire import RouterWire

WIRE = RouterWire()
INDEX = Index([parse("a.md", "# Backups\n\nKept for 35 days.\n")])
DOCUMENT = learn.document(INDEX, "backups?", INDEX.rank("backups"))


def body(document: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": document}]
    return {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": content}],
        **more,
    }


def test_it_is_a_wire() -> None:
    assert isinstance(WIRE, Wire)
    assert wire.UNATTRIBUTED == UNATTRIBUTED
    assert set(PURPOSES) == wire.PURPOSES


def test_the_fields_are_the_routers_document() -> None:
    fields = WIRE.fields("learning", body(DOCUMENT))
    assert fields == json.loads(DOCUMENT)
    assert fields["question"] == "backups?"
    assert fields["pages"][0]["title"] == "Backups"


@pytest.mark.parametrize("name", ["x-memory-purpose", "X-Memory-Purpose"])
def test_the_purpose_is_the_headers(name: str) -> None:
    assert WIRE.purpose({name: "learning"}, {}) == "learning"
    assert WIRE.purpose({name: "update"}, {}) == UNATTRIBUTED
    assert WIRE.purpose({}, {}) == UNATTRIBUTED


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"messages": []},
        {"messages": [{"role": "assistant", "content": "{}"}]},
        {"messages": [{"role": "user", "content": []}]},
        {"messages": [{"role": "user", "content": "no json"}]},
        {"messages": [{"role": "user", "content": "[1]"}]},
    ],
)
def test_a_call_that_is_not_the_routers_is_a_value_error(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        WIRE.fields("learning", broken)


def test_an_answer_is_written_so_that_the_router_reads_it() -> None:
    said = {"page": "p1", "quote": "Kept for 35 days."}
    assert learn.parse(WIRE.reply("learning", said), ["p1"]) == ("p1", "Kept for 35 days.")
    nothing = WIRE.reply("learning", {"page": None, "quote": ""})
    assert learn.parse(nothing, ["p1"]) == (None, "")
    assert WIRE.reply("learning", "as it is") == "as it is"


def test_the_canonical_form_is_what_is_asked_and_not_how_it_is_sent() -> None:
    headers = {"x-memory-purpose": "learning"}
    plain = WIRE.canonical(headers, body(DOCUMENT))
    assert WIRE.canonical({**headers, "x-request-id": "1"}, body(DOCUMENT, stream=True)) == plain
    assert WIRE.canonical(headers, dict(reversed(body(DOCUMENT).items()))) == plain
    for changed in ({"model": "n"}, {"max_tokens": 6}, {"system": "t"}):
        assert WIRE.canonical(headers, body(DOCUMENT, **changed)) != plain
