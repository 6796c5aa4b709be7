"""Which failed calls a verdict may not rest on."""

from decimal import Decimal
from typing import Any

import pytest

from runner.model import Call, Outcome, Usage
from runner.runs import calls as of


def call(prompt: str = "a", **fields: Any) -> Call:
    usual: dict[str, Any] = {
        "seq": 1,
        "step": "deposit reader-01.md",
        "purpose": "extraction",
        "requested_model": "claude-sonnet-5-5",
        "request_id": "req_1",
        "outcome": "answered",
        "stop_reason": "end_turn",
        "prompt_sha256": prompt * 64,
        "max_tokens_asked": 100,
    }
    return Call(**{**usual, **fields})


def failed(prompt: str = "a", kind: str = "http_529", **fields: Any) -> Call:
    return call(prompt, outcome="failed", error=kind, stop_reason=None, **fields)


def test_a_call_that_was_answered_on_a_later_try_is_no_failure() -> None:
    calls = [failed(), failed(retries=1), call(retries=2)]
    assert of.unresolved(calls) == ()
    assert of.ending(calls) is None
    assert list(of.warnings(calls)) == ["The provider failed calls: 2 http_529."]


def test_a_call_that_failed_for_good_is_no_verdict() -> None:
    calls = [call(), failed("b"), failed("b", retries=1, request_id="req_9")]
    ending = of.ending(calls)
    assert ending is not None
    assert (ending.outcome, ending.kind) == (Outcome.ERRORED, "provider")
    assert "2 model calls got no whole answer" in ending.detail
    assert "extraction in deposit reader-01.md (http_529 after 2 tries, req_9)" in ending.detail


def test_another_answer_does_not_make_good_for_it() -> None:
    assert of.unresolved([failed("a"), call("b")]) != ()
    assert of.unresolved([call("a"), failed("a")]) != ()  # answered before, asked again


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "model_context_window_exceeded"])
def test_a_reply_that_stopped_is_shown_and_no_verdict(reason: str) -> None:
    calls = [call(stop_reason=reason)]
    ending = of.ending(calls)
    assert ending is not None
    assert (ending.outcome, ending.kind) == (Outcome.ERRORED, "cut_reply")
    assert reason in ending.detail
    assert list(of.warnings(calls)) == [f"1 extraction reply stopped with {reason}."]


@pytest.mark.parametrize("reason", ["refusal", "max_tokens"])
def test_a_reply_that_stopped_and_was_asked_for_again_is_shown_only(reason: str) -> None:
    calls = [call(stop_reason=reason), call()]
    assert of.ending(calls) is None
    assert list(of.warnings(calls)) == [f"1 extraction reply stopped with {reason}."]


def test_more_room_is_another_prompt_of_the_same_purpose() -> None:
    cut = call("a", stop_reason="max_tokens")
    assert of.ending([cut, call("b", max_tokens_asked=200)]) is None
    assert of.ending([cut, call("b", max_tokens_asked=100)]) is not None
    assert of.ending([cut, call("b", max_tokens_asked=200, purpose="update")]) is not None
    assert of.ending([cut, call("b", max_tokens_asked=200, step="consolidate")]) is not None
    declined = call("a", stop_reason="refusal")
    assert of.ending([declined, call("b", max_tokens_asked=200)]) is not None


def test_a_batch_that_was_not_taken_is_made_good_for_one_by_one() -> None:
    refused = failed("b", "http_404", requested_model="", purpose="unattributed")
    assert of.ending([refused]) is not None
    assert of.ending([refused, call("c", step="consolidate")]) is not None
    assert of.ending([refused, call("c")]) is None


def test_a_retry_that_stopped_too_is_none() -> None:
    assert of.ending([failed(), call(stop_reason="max_tokens")]) is not None


def test_what_the_gateway_refused_is_the_gateways_affair() -> None:
    calls = [call(outcome="refused", error="unknown_path", stop_reason=None)]
    assert of.ending(calls) is None
    assert list(of.warnings(calls)) == ["The gateway refused calls: 1 unknown_path."]


def test_many_failures_are_counted_and_a_few_listed() -> None:
    ending = of.ending([failed(prompt) for prompt in "0123456"])
    assert ending is not None
    assert ending.detail.startswith("7 model calls")
    assert ending.detail.endswith("; and 2 more.")


def test_what_was_not_measured_is_said() -> None:
    calls = [
        call(flags=("no_usage",)),
        call(flags=("server_tools",)),
        call(purpose="unattributed"),
    ]
    assert list(of.warnings(calls)) == [
        "1 call told no usage and is charged at the worst case.",
        "Tools on the provider's side were used; what they cost is not in the figures.",
        "1 call fit no purpose of the system.",
    ]


def test_usage_is_by_purpose_and_model() -> None:
    tokens: dict[str, Any] = {"usage": Usage(input=10, output=2), "cost_usd": Decimal("0.1")}
    rows = of.by_purpose(
        [
            call(**tokens),
            call(**tokens),
            failed("b", "timeout"),
            failed("c", "http_529"),
            call(purpose="update", requested_model="other", **tokens),
        ]
    )
    assert [(row.purpose, row.model) for row in rows] == [
        ("extraction", "claude-sonnet-5-5"),
        ("update", "other"),
    ]
    first = rows[0]
    assert (first.calls, first.answered) == (4, 2)
    assert first.failed == {"http_529": 1, "timeout": 1}
    assert first.usage == Usage(input=20, output=4)
    assert first.cost_usd == Decimal("0.2")
