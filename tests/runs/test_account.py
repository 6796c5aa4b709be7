"""What a gateway tells, and what is made of it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from runner.errors import ContainerDied
from runner.gateway.cassette import Entry, key_of
from runner.model import Call
from runner.runs.account import Account
from runner.runs.endings import Ended
from runner.runs.sandbox.protocol import Reply

CALL = Call(
    seq=1,
    step="deposit reader-01.md",
    purpose="extraction",
    requested_model="claude-sonnet-5-5",
    outcome="answered",
    cost_usd=Decimal("0.02"),
    prompt_sha256="0" * 64,
)
ENTRY = Entry(
    path="/v1/messages",
    step="deposit reader-01.md",
    purpose="extraction",
    model="claude-sonnet-5-5",
    key=key_of("/v1/messages", False, b"x"),
    canonical="x",
    status=200,
)


class Gateway:
    """Answers ``totals`` and ``close`` with what it is given; an exception is raised."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def request(
        self, verb: str, payload: Mapping[str, Any] | None = None, *, deadline_s: float
    ) -> Reply:
        self.asked.append(verb)
        answer = self.answers[verb]
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, None, 0.0)

    def wait_for(self, event: str, *, deadline_s: float) -> Mapping[str, Any]:
        return {"event": event}

    def tail(self) -> str:
        return ""


class Box:
    """A box of which only the gateway is looked at."""

    def __init__(self, **answers: Any) -> None:
        self.gateway = Gateway(**answers)


def account(*events: Mapping[str, Any]) -> Account:
    made = Account(lambda call: None)
    for event in events:
        made.on_event(event)
    return made


def line(call: Call = CALL) -> dict[str, Any]:
    return {"event": "call", "call": call.model_dump(mode="json")}


def totals(**fields: Any) -> dict[str, Any]:
    return {"lines": 1, "calls": 1, "settled_usd": "0.02", "reserved_usd": "0", **fields}


def test_calls_recordings_and_the_first_ending_are_kept() -> None:
    first = {"outcome": "incomplete", "kind": "ceiling"}
    then = {"outcome": "invalid", "kind": "wrong_model"}
    made = account(
        line(),
        {"event": "recorded", "entry": ENTRY.model_dump(mode="json")},
        {"event": "ended", "ending": first},
        {"event": "ended", "ending": then},
        {"event": "of a later gateway"},
    )
    assert (made.calls, made.entries, made.cost_usd) == ([CALL], [ENTRY], Decimal("0.02"))
    assert made.ended is not None
    assert made.ended.kind == "ceiling"


def test_a_ledger_that_came_through_whole_is_settled_once() -> None:
    made, box = account(line()), Box(close=totals())
    made.settle(box)  # type: ignore[arg-type]
    made.settle(box)  # type: ignore[arg-type]
    assert made.settled
    assert box.gateway.asked == ["close"]


def test_a_line_that_was_not_seen_ends_the_run() -> None:
    made = account(line())
    with pytest.raises(Ended, match="The ledger has 2 lines, 1 were seen"):
        made.settle(Box(close=totals(lines=2)))  # type: ignore[arg-type]
    assert not made.settled


def test_recordings_that_were_not_used_are_said() -> None:
    rows = [{"purpose": f"p{number}", "step": "s"} for number in range(5)]
    made = account(line())
    made.settle(Box(close=totals(unused=rows)))  # type: ignore[arg-type]
    (said,) = made.warnings
    assert said == "5 recorded calls were not used: p0 in s; p1 in s; p2 in s; and 2 more."


def test_when_it_is_stopped_what_may_have_been_spent_beside_is_said() -> None:
    made, box = account(line()), Box(totals=totals(reserved_usd="0.3"), close=ContainerDied("x"))
    made.stop(box)  # type: ignore[arg-type]
    assert box.gateway.asked == [], "it never listened, so nothing was asked of it"
    made.wait(box)  # type: ignore[arg-type]
    made.stop(box)  # type: ignore[arg-type]
    assert made.warnings == [
        "Stopped with calls in flight: up to US$0.3 more than the figures say may have been spent."
    ]
    assert not made.settled


def test_when_it_is_stopped_with_nothing_in_flight_nothing_is_said() -> None:
    made = account(line())
    made.wait(Box())  # type: ignore[arg-type]
    made.stop(Box(totals=totals(), close=totals()))  # type: ignore[arg-type]
    assert made.settled
    assert made.warnings == []
