import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_engine import prompts, replies
from memory_engine.settings import PURPOSES

from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.systems.engine.wire import EngineWire

WIRE = EngineWire()
OLDER, NEWER = {"text": "a", "day": "2026-09-01"}, {"text": "b", "day": "2026-09-02"}

DOCUMENTS = [
    prompts.extraction("n.md", "text", "2026-09-01"),
    prompts.contradiction(OLDER, NEWER),
    prompts.update(2, OLDER, NEWER),
    prompts.reanchor(NEWER, [OLDER], [OLDER, NEWER]),
    prompts.faithfulness(OLDER, OLDER, NEWER, "was"),
]


def body(document: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": document}]
    return {
        "model": "m",
        "max_tokens": 5,
        "system": "s",
        "messages": [{"role": "user", "content": content}],
        **more,
    }


def test_it_is_a_wire() -> None:
    assert isinstance(WIRE, Wire)
    from runner.systems.engine import wire

    assert wire.UNATTRIBUTED == UNATTRIBUTED
    assert set(PURPOSES) == wire.PURPOSES


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_fields_are_the_engines_document(document: str) -> None:
    assert WIRE.fields("any", body(document)) == json.loads(document)


def test_numbers_and_names_are_where_tables_look_for_them() -> None:
    fields = WIRE.fields("reanchor", body(DOCUMENTS[3]))
    assert fields["task"] == "reanchor"
    assert fields["newer"]["text"] == "b"
    assert [each["n"] for each in fields["candidates"]] == [1, 2]


@pytest.mark.parametrize("name", ["x-memory-purpose", "X-Memory-Purpose"])
def test_the_purpose_is_the_headers(name: str) -> None:
    assert WIRE.purpose({"a": "b", name: "update"}, {}) == "update"
    assert WIRE.purpose({name: "divination"}, {}) == UNATTRIBUTED
    assert WIRE.purpose({}, {}) == UNATTRIBUTED


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"messages": []},
        {"messages": "hi"},
        {"messages": [{"role": "assistant", "content": "{}"}]},
        {"messages": [{"role": "user", "content": []}]},
        {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": 4}]}]},
        {"messages": [{"role": "user", "content": "no json"}]},
        {"messages": [{"role": "user", "content": "[1]"}]},
    ],
)
def test_a_call_that_is_not_the_engines_is_a_value_error(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        WIRE.fields("update", broken)


def test_an_answer_is_written_so_that_the_engine_reads_it() -> None:
    said = [{"text": "Zoë sails 🌊", "subject": "Zoë", "valid_until": None}]
    assert replies.extraction(WIRE.reply("extraction", said))[0].text == "Zoë sails 🌊"
    reading = {"reason": "r", "slot": "CHANGES", "verdict": "YES"}
    assert replies.update(WIRE.reply("update", reading)).changes
    assert WIRE.reply("update", "as it is") == "as it is"


json_objects = st.dictionaries(
    st.text(max_size=5), st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=5)
)


@settings(deadline=None)
@given(json_objects)
def test_the_canonical_form_does_not_know_the_order_of_keys(extra: dict[str, Any]) -> None:
    headers = {"x-memory-purpose": "update"}
    made = body(DOCUMENTS[2], **{f"x{name}": value for name, value in extra.items()})
    turned = dict(reversed(made.items()))
    assert WIRE.canonical(headers, made) == WIRE.canonical(headers, turned)


def test_the_canonical_form_is_what_is_asked_and_not_how_it_is_sent() -> None:
    headers = {"x-memory-purpose": "update", "x-request-id": "1", "user-agent": "u"}
    plain = WIRE.canonical(headers, body(DOCUMENTS[2]))
    streamed = body(DOCUMENTS[2], stream=True, metadata={"user_id": "u"})
    assert WIRE.canonical({"x-memory-purpose": "update"}, streamed) == plain
    for changed in ({"model": "n"}, {"max_tokens": 6}, {"system": "t"}, {"temperature": 0}):
        assert WIRE.canonical(headers, body(DOCUMENTS[2], **changed)) != plain
    assert WIRE.canonical(headers, body(DOCUMENTS[1])) != plain
    assert WIRE.canonical({"x-memory-purpose": "verification"}, body(DOCUMENTS[2])) != plain
