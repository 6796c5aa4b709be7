import time
from collections.abc import Callable, Iterator

import pytest
from page_router.errors import (
    BadRequest,
    GatewayRefused,
    ProviderFailed,
    UnparseableReply,
    UnusableReply,
)
from page_router.model import Model
from page_router.settings import parse

from tests.engine._provider import Answer, Asked, Failure, Provider, Reply

MakeModel = Callable[..., Model]
DOCUMENT = '{"task": "learning"}'


def one_by_one(*replies: Reply) -> Callable[[Asked], Reply]:
    rest: Iterator[Reply] = iter(replies)
    return lambda asked: next(rest)


def test_a_call_says_what_it_is_for(provider: Provider, model: MakeModel) -> None:
    provider.script = one_by_one("yes")
    asking = model(max_tokens=77)
    assert asking.ask("learning", "system", DOCUMENT) == "yes"
    (asked,) = provider.asked
    assert asked.purpose == "learning"
    assert asked.document == {"task": "learning"}
    assert asked.body["model"] == "m-1"
    assert asked.body["max_tokens"] == 77
    assert asked.body["system"] == "system"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert "stream" not in asked.body
    assert asking.calls == 1


@pytest.mark.parametrize(
    "failure",
    [
        Failure(429, "rate_limit_error", {"retry-after": "0.01"}),
        Failure(500),
        Failure(529, "overloaded_error"),
        Failure(400, headers={"x-should-retry": "true"}),
        Failure(200, body=b"<html>"),
        Failure(200, body=b"[]"),
    ],
)
def test_what_may_pass_is_tried_again(
    provider: Provider, model: MakeModel, failure: Failure
) -> None:
    provider.script = one_by_one(failure, "yes")
    assert model().ask("learning", "s", DOCUMENT) == "yes"
    assert len(provider.asked) == 2


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (Failure(500), 3),
        (Failure(500, headers={"x-should-retry": "false"}), 1),
        (Failure(400, "invalid_request_error"), 1),
        (Failure(401), 1),
        (Failure(403, "permission_error"), 1),
        (Failure(429, headers={"retry-after": "3600"}), 1),
        (Failure(429, headers={"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}), 1),
        (Failure(429, headers={"retry-after": "soon"}), 3),
    ],
)
def test_a_provider_that_fails_is_an_error(
    provider: Provider, model: MakeModel, failure: Failure, tries: int
) -> None:
    provider.script = lambda asked: failure
    with pytest.raises(ProviderFailed, match=rf"learning: HTTP {failure.status}"):
        model().ask("learning", "s", DOCUMENT)
    assert len(provider.asked) == tries


def test_the_doors_refusal_is_one_of_its_own(provider: Provider, model: MakeModel) -> None:
    provider.script = lambda asked: Failure(403, headers={"x-should-retry": "false"})
    with pytest.raises(GatewayRefused):
        model().ask("learning", "s", DOCUMENT)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "file:///etc/passwd"])
def test_nobody_there_is_a_failed_provider(model: MakeModel, url: str) -> None:
    with pytest.raises(ProviderFailed):
        model(url).ask("learning", "s", DOCUMENT)


def test_no_proxy_of_the_environment_is_asked(
    provider: Provider, model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    provider.script = one_by_one("yes")
    assert model().ask("learning", "s", DOCUMENT) == "yes"


def test_one_that_does_not_answer_in_time_is_a_failed_provider(
    provider: Provider, model: MakeModel
) -> None:
    provider.hold = lambda asked: True
    begun = time.monotonic()
    with pytest.raises(ProviderFailed, match=r"[Tt]ime"):
        model(timeout_s=0.1, attempts=2).ask("learning", "s", DOCUMENT)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "tool_use", "pause_turn"])
def test_a_reply_that_was_cut_or_declined_is_no_verdict(
    provider: Provider, model: MakeModel, reason: str
) -> None:
    provider.script = lambda asked: Answer('{"page": null, "quote": ""}', reason)
    with pytest.raises(UnusableReply, match=reason):
        model().ask("learning", "s", DOCUMENT)
    assert len(provider.asked) == 1


def test_an_empty_reply_may_be_asked_for_again(provider: Provider, model: MakeModel) -> None:
    provider.script = lambda asked: Answer(" ")
    with pytest.raises(UnparseableReply):
        model().ask("learning", "s", DOCUMENT)


def test_without_a_model_there_is_nothing_to_ask() -> None:
    with pytest.raises(BadRequest, match="no model"):
        Model(parse("{}"), {}).ask("learning", "s", DOCUMENT)
