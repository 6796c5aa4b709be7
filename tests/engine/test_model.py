import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from memory_engine import prompts
from memory_engine.errors import (
    EngineError,
    GatewayRefused,
    ProviderFailed,
    RefusedReply,
    TruncatedReply,
    UnparseableReply,
    UnusableReply,
)
from memory_engine.judge import Judge
from memory_engine.settings import parse
from memory_engine.store import Claim, Note, digest

from tests.engine._provider import Answer, Asked, Failure, Provider, Reply, StreamFailure
from tests.engine._worlds import said

pytestmark = pytest.mark.slow

NOTE = Note("n.md", "I sail.", "2026-09-01", digest("I sail."))
OLD = Claim("1", "Old.", "s", "2026-09-01", ("a",), datetime(2026, 9, 1, tzinfo=UTC).isoformat())
NEW = Claim("2", "New.", "s", "2026-09-02", ("b",), datetime(2026, 9, 2, tzinfo=UTC).isoformat())
NO: Reply = {"reason": "r", "verdict": "NO"}

MakeJudge = Callable[..., Judge]


def one_by_one(*replies: Reply) -> Callable[[Asked], Reply]:
    rest: Iterator[Reply] = iter(replies)
    return lambda asked: next(rest)


def test_a_call_says_what_it_is_for_and_asks_the_pinned_model(
    provider: Provider, judge: MakeJudge
) -> None:
    provider.script = one_by_one([said("The user sails.")], NO)
    asking = judge()
    (found,) = asking.extract(NOTE)
    assert found.text == "The user sails."
    asking.contradicts(OLD, NEW)
    extraction, contradiction = provider.asked
    assert (extraction.purpose, contradiction.purpose) == ("extraction", "contradiction")
    assert extraction.body["stream"] is True
    assert extraction.body["max_tokens"] == 32_000
    assert "stream" not in contradiction.body
    assert "temperature" not in contradiction.body
    assert contradiction.body["system"] == prompts.CONTRADICTION
    assert contradiction.document == {
        "task": "contradiction",
        "older": {"text": "Old.", "day": "2026-09-01"},
        "newer": {"text": "New.", "day": "2026-09-02"},
    }
    assert asking.calls == {"extraction": 1, "contradiction": 1}


@pytest.mark.parametrize(
    "failure",
    [
        Failure(429, "rate_limit_error", {"retry-after": "0.01"}),
        Failure(500),
        Failure(503),
        Failure(529, "overloaded_error"),
        Failure(408),
        Failure(400, headers={"x-should-retry": "true"}),
    ],
    ids=lambda failure: str(failure.status),
)
def test_what_may_pass_is_tried_again(
    provider: Provider, judge: MakeJudge, failure: Failure
) -> None:
    provider.script = one_by_one(failure, failure, NO)
    assert not judge().contradicts(OLD, NEW).yes
    assert len(provider.asked) == 3
    provider.script = one_by_one(failure, failure, failure)
    with pytest.raises(ProviderFailed, match=f"HTTP {failure.status}"):
        judge().contradicts(OLD, NEW)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_will_not_pass_is_not_tried_again(
    provider: Provider, judge: MakeJudge, status: int
) -> None:
    provider.script = lambda asked: Failure(status)
    with pytest.raises(ProviderFailed):
        judge().contradicts(OLD, NEW)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"), [(403, GatewayRefused), (429, ProviderFailed), (529, ProviderFailed)]
)
def test_being_told_to_stop_stops_at_once(
    provider: Provider, judge: MakeJudge, status: int, kind: type[EngineError]
) -> None:
    provider.script = lambda asked: Failure(status, headers={"x-should-retry": "false"})
    with pytest.raises(kind) as caught:
        judge().contradicts(OLD, NEW)
    assert type(caught.value) is kind
    assert "as scripted" in str(caught.value)
    assert len(provider.asked) == 1


def test_a_refused_stream_is_refused_too(provider: Provider, judge: MakeJudge) -> None:
    provider.script = lambda asked: Failure(403, headers={"x-should-retry": "false"})
    with pytest.raises(GatewayRefused):
        judge().extract(NOTE)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    "failure",
    [StreamFailure(), Answer("[]", cut=True), Failure(529)],
    ids=["error event", "cut", "529"],
)
def test_a_stream_that_breaks_is_begun_again(
    provider: Provider, judge: MakeJudge, failure: Reply
) -> None:
    provider.script = one_by_one(failure, [said("The user sails.")])
    assert len(judge().extract(NOTE)) == 1
    assert len(provider.asked) == 2


def test_a_stream_that_keeps_breaking_is_no_reply(provider: Provider, judge: MakeJudge) -> None:
    provider.script = lambda asked: Answer(json.dumps([said("The user sails.")]), cut=True)
    with pytest.raises(ProviderFailed):
        judge().extract(NOTE)
    provider.script = lambda asked: StreamFailure("invalid_request_error")
    with pytest.raises(ProviderFailed):
        judge().extract(NOTE)
    assert len(provider.asked) == 3 + 1


def test_a_provider_that_is_not_there_is_no_verdict(
    provider: Provider, judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = judge()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(ProviderFailed, match="Connection"):
        asking.contradicts(OLD, NEW)


def test_a_slow_provider_is_given_up(provider: Provider, judge: MakeJudge) -> None:
    provider.hold = lambda asked: True
    started = time.monotonic()
    with pytest.raises(ProviderFailed, match="imed out"):
        judge(timeout_s=0.2, attempts=2).contradicts(OLD, NEW)
    assert time.monotonic() - started < 5


def test_the_providers_own_wait_is_kept_unless_it_is_too_long(
    provider: Provider, judge: MakeJudge
) -> None:
    provider.script = one_by_one(Failure(429, headers={"retry-after": "0.3"}), NO)
    started = time.monotonic()
    judge(backoff_max_s=1).contradicts(OLD, NEW)
    assert time.monotonic() - started >= 0.3
    provider.script = lambda asked: Failure(429, headers={"retry-after": "3600"})
    with pytest.raises(ProviderFailed):
        judge().contradicts(OLD, NEW)
    assert len(provider.asked) == 3


def test_a_wait_until_a_date_is_counted_on_the_providers_clock(
    provider: Provider, judge: MakeJudge
) -> None:
    wait = Failure(
        429,
        headers={
            "date": "Tue, 01 Sep 2026 12:00:00 GMT",
            "retry-after": "Tue, 01 Sep 2026 13:00:00 GMT",
        },
    )
    provider.script = lambda asked: wait
    with pytest.raises(ProviderFailed):
        judge().contradicts(OLD, NEW)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "asked"),
    [
        (Answer('{"reason": "r", "verdict": "YES"}', "max_tokens"), TruncatedReply, 1),
        (Answer("{}", "model_context_window_exceeded"), TruncatedReply, 1),
        (Answer('{"reason": "r", "verdict": "YES"}', "refusal"), RefusedReply, 1),
        (Answer('{"reason": "r", "verdict": "YES"}', "tool_use"), UnusableReply, 1),
        (Answer(""), UnparseableReply, 2),
        (Answer("  \n"), UnparseableReply, 2),
        (Answer("VERDICT: YES"), UnparseableReply, 2),
    ],
    ids=["cut", "window", "refusal", "tool", "empty", "blank", "form"],
)
def test_a_reply_that_is_no_answer_is_never_a_verdict(
    provider: Provider,
    judge: MakeJudge,
    reply: Answer,
    kind: type[EngineError],
    asked: int,
) -> None:
    provider.script = lambda _: reply
    with pytest.raises(kind) as caught:
        judge().contradicts(OLD, NEW)
    assert type(caught.value) is kind
    assert caught.value.type == "unparseable_reply"
    assert len(provider.asked) == asked


def test_a_reply_out_of_form_is_asked_for_once_more_in_the_same_words(
    provider: Provider, judge: MakeJudge
) -> None:
    provider.script = one_by_one(
        Answer("Let me think."), Answer('{"reason": "r", "verdict": "YES"}')
    )
    assert judge().contradicts(OLD, NEW).yes
    first, second = provider.asked
    assert first.body == second.body


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b'{"type": "message"}'])
def test_bytes_that_are_no_message_are_the_providers_failure(
    provider: Provider, judge: MakeJudge, body: bytes
) -> None:
    provider.script = lambda asked: Failure(200, body=body)
    with pytest.raises(EngineError) as caught:
        judge().contradicts(OLD, NEW)
    assert caught.value.type in ("provider", "unparseable_reply")


def test_prompts_name_nobody_and_keep_their_digest() -> None:
    for text in prompts.SYSTEM.values():
        for name in ("Delhi", "Mumbai", "Bandra", "Lajpat", "Sandeep"):
            assert name not in text
    assert prompts.digests() == prompts.digests()
    assert set(prompts.digests()) == set(prompts.SYSTEM)


def test_settings_reach_the_model(provider: Provider, judge: MakeJudge) -> None:
    provider.script = lambda asked: NO
    judge(max_tokens={"contradiction": 77}).contradicts(OLD, NEW)
    assert provider.asked[0].body["max_tokens"] == 77
    assert parse('{"model": "a", "pins": {"update": "b"}}').model_for("update") == "b"


def test_a_stream_that_does_not_say_what_it_used_is_the_providers_failure(
    provider: Provider, judge: MakeJudge
) -> None:
    provider.script = lambda asked: Answer("[]", counted=False)
    with pytest.raises(ProviderFailed, match="no message"):
        judge().extract(NOTE)
    assert len(provider.asked) == 1
