import pytest

from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.systems.baselines import wire

WIRE = wire.BaselinesWire()


def test_it_is_a_wire_that_no_call_is_from() -> None:
    assert isinstance(WIRE, Wire)
    assert wire.UNATTRIBUTED == UNATTRIBUTED
    assert WIRE.purpose({"x-memory-purpose": "update"}, {"messages": []}) == UNATTRIBUTED
    with pytest.raises(ValueError, match="call no model"):
        WIRE.fields("any", {"messages": []})


def test_what_is_sent_has_one_form_and_an_answer_too() -> None:
    assert WIRE.canonical({}, {"b": 1, "a": 2}) == b'{"a":2,"b":1}'
    assert WIRE.reply("any", {"a": "b"}) == '{"a":"b"}'
    assert WIRE.reply("any", "as it is") == "as it is"
