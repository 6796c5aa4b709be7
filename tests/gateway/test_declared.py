"""A system's model calls, read by rules that are data."""

import time
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from runner.gateway.config import GatewayConfig
from runner.gateway.wire import UNATTRIBUTED, DeclaredWire, ToolUse, load_wire
from runner.gateway.wire.rules import WireRules

RULES: dict[str, Any] = {
    "header": "X-Why",
    "purposes": ["extraction", "merging", "naming"],
    "purpose": [
        {"purpose": "merging", "system": ["You merge", "two notes"], "answer": "json"},
        {"purpose": "naming", "header": "title", "text": ["<page>"], "answer": "tool"},
    ],
    "field": [{"name": "note", "after": "<note>", "before": "</note>"}],
    "left_out": {
        "forms": ["uuid", "datetime"],
        "between": [{"after": "Today is ", "before": "."}],
    },
}


def wire(**changed: Any) -> DeclaredWire:
    return DeclaredWire(WireRules.model_validate(RULES | changed))


def said(text: str, system: str = "") -> dict[str, Any]:
    return {"model": "m", "system": system, "messages": [{"role": "user", "content": text}]}


def test_a_call_s_purpose_is_told_by_header_or_literal_text() -> None:
    rules = wire()
    merging = said("x", "You merge carefully.\nHere are two notes.")
    assert rules.purpose({}, merging) == "merging"
    assert rules.purpose({}, said("x", "You merge")) == UNATTRIBUTED
    assert rules.purpose({"x-why": "extraction"}, said("x")) == "extraction"
    assert rules.purpose({"x-why": "nothing"}, said("x")) == UNATTRIBUTED
    assert rules.purpose({"X-WHY": "title"}, said("<page>")) == "naming"
    # A rule that looks at the header is the only way to its purpose.
    assert rules.purpose({"X-WHY": "naming"}, said("<page>")) == UNATTRIBUTED
    blocks = {"system": [{"type": "text", "text": "You merge two notes"}], "messages": []}
    assert rules.purpose({}, blocks) == "merging"
    chat = {"messages": [{"role": "system", "content": "You merge two notes"}]}
    assert rules.purpose({}, chat) == "merging"


def test_tables_match_on_what_the_rules_cut_out() -> None:
    fields = wire().fields("extraction", said("Read <note>It rains.</note> now", "Be brief."))
    assert fields == {
        "system": "Be brief.",
        "text": "Read <note>It rains.</note> now",
        "note": "It rains.",
    }
    assert "note" not in wire().fields("extraction", said("<note>open"))
    document = wire(document=True).fields("extraction", said('{"task": "read", "n": 1}'))
    assert (document["task"], document["n"]) == ("read", 1)
    for odd in ("no JSON", "[1]"):
        with pytest.raises(ValueError, match=r"JSON|literal"):
            wire(document=True).fields("extraction", said(odd))
    with pytest.raises(ValueError, match="no text"):
        wire(document=True).fields("extraction", {"messages": "?"})


def test_scripted_answers_are_written_as_declared() -> None:
    rules = wire()
    assert rules.reply("extraction", "as it is") == "as it is"
    assert rules.reply("merging", {"a": 1}) == '{"a":1}'
    assert rules.reply("naming", {"name": "call", "input": {"t": 1}}) == ToolUse("call", {"t": 1})
    for purpose, odd in (("extraction", {"a": 1}), ("naming", "text"), ("naming", {"name": "x"})):
        with pytest.raises(ValueError, match="scripted"):
            rules.reply(purpose, odd)


def test_what_differs_from_call_to_call_is_no_part_of_a_digest() -> None:
    rules = wire()

    def call(uuid: str, day: str, moment: str, **more: Any) -> bytes:
        body = said(f"Id {uuid}. Today is {day}. At {moment} it rained.")
        return rules.canonical({}, {**body, **more})

    one = call("123e4567-e89b-12d3-a456-426614174000", "Monday", "2026-01-02T03:04:05Z")
    two = call(
        "00000000-0000-0000-0000-000000000000", "a day", "2027-11-12 13:14", stream=True,
        metadata={"user_id": "u"},
    )  # fmt: skip
    assert one == two
    assert b"rained" in one
    assert b"Monday" not in one
    assert call("x", "Monday", "y") != call("x", "Monday", "z")


@pytest.mark.slow
def test_nothing_of_a_request_keeps_a_wire_busy() -> None:
    rules = WireRules.model_validate(
        {
            "header": "x",
            "left_out": {
                "forms": ["uuid", "datetime", "number"],
                "between": [{"after": "a", "before": "b"}] * 16,
            },
        }
    )
    wild: list[dict[str, Any]] = [
        said("a" * 1_000_000),
        said("ab" * 500_000),
        said("1-" * 500_000),
        {"messages": [{"content": ["a"] * 300_000}]},
    ]
    deep: Any = "a1b"
    for _ in range(180):
        deep = [deep]
    started = time.perf_counter()
    for body in (*wild, {"messages": deep}):
        again = DeclaredWire(rules)
        assert again.canonical({}, body) == again.canonical({}, body)
    assert time.perf_counter() - started < 10
    for _ in range(180):
        deep = [deep]
    with pytest.raises(ValueError, match="cannot be written"):
        DeclaredWire(rules).canonical({}, {"messages": deep})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"purpose": [{"purpose": "merging"}]}, "every call's"),
        ({"header": None}, "none is named"),
        ({"field": [{"name": "text", "after": "x"}]}, "is there already"),
        ({"field": [{"name": "n", "after": "x"}, {"name": "n", "after": "y"}]}, "twice"),
        ({"left_out": {"between": [{"after": "", "before": "."}]}}, "at least 1"),
        ({"left_out": {"forms": ["(a+)+$"]}}, "forms"),
        ({"module": "os:system"}, "Extra inputs"),
        ({"purpose": [{"purpose": "x", "text": ["y"]}] * 33}, "at most 32"),
    ],
)
def test_rules_that_are_none(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        WireRules.model_validate(RULES | changed)


def test_a_gateway_is_handed_rules_as_data() -> None:
    config = GatewayConfig(run="r", arm="scripted", wire=WireRules.model_validate(RULES), model="m")
    again = GatewayConfig.model_validate_json(config.first_line())
    assert again == config
    assert isinstance(load_wire(again.wire), DeclaredWire)
    # A stranger's text is never a module's name, as it is no table.
    line = orjson.loads(config.first_line())
    assert isinstance(line["wire"], dict)
