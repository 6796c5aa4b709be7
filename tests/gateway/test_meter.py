import json
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.ceiling import LEAST_USEFUL_TOKENS
from runner.gateway.meter import FRAME_TOKENS, IMAGE_TOKENS, Meter, input_bound, quote
from runner.gateway.request import read_request
from runner.model import Call, Usage
from runner.prices import load_prices
from tests.gateway._setup import MODEL, body, raw

PRICE = load_prices().models[MODEL]


def bound(**changed: Any) -> int:
    return input_bound(read_request({}, raw(**changed)))


@given(st.text(max_size=200), st.booleans())
def test_no_text_has_more_tokens_than_the_bound(text: str, escaped: bool) -> None:
    message = [{"role": "user", "content": text.replace("\ud800", "")}]
    document = body(messages=message)
    try:
        sent = json.dumps(document, ensure_ascii=escaped).encode()
    except UnicodeEncodeError:
        return  # half a character is no text
    request = read_request({}, sent)
    longest = max(len(text.encode()), len(unicodedata.normalize("NFKC", text).encode()))
    assert input_bound(request) >= longest + FRAME_TOKENS


def test_a_text_that_normalising_makes_longer_counts_as_long_as_it_may_become() -> None:
    short = bound(messages=[{"role": "user", "content": "a" * 3 * 100}])
    long = input_bound(
        read_request(
            {},
            json.dumps(
                body(messages=[{"role": "user", "content": "\ufdfa" * 100}]), ensure_ascii=False
            ).encode(),
        )
    )
    assert long > short + 2500


def test_a_picture_counts_as_a_large_one_and_not_by_its_bytes() -> None:
    def pictured(data: str) -> int:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        block = {"type": "image", "source": source}
        return bound(messages=[{"role": "user", "content": [block]}])

    assert pictured("a" * 100_000) == pictured("a") > IMAGE_TOKENS


def test_tools_make_room_for_what_the_provider_adds() -> None:
    plain = bound(tools=[])
    own = bound(tools=[{"name": "t", "input_schema": {}}])
    known = bound(tools=[{"type": "bash_20250124", "name": "bash"}])
    assert plain + 1024 < own < known


@pytest.mark.parametrize(
    ("system", "rate"),
    [
        ("text", "2"),
        ([{"type": "text", "text": '"cache_control":'}], "2"),
        ([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}], "2.5"),
        ([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "4"),
    ],
)
def test_input_is_quoted_at_the_dearest_rate_that_can_apply(system: Any, rate: str) -> None:
    for sent in (raw(system=system), raw(system=system).replace(b"cache_c", b"\\u0063ache_c")):
        request = read_request({}, sent)
        quoted = quote(request, PRICE, None)
        assert quoted.input_usd == Decimal(rate) * input_bound(request) / 1_000_000
        assert quoted.token_usd == Decimal("0.00001")


def test_what_is_known_to_be_dearer_than_the_bound_is_what_is_quoted() -> None:
    request = read_request({}, raw())
    known = Usage(input=10**6, output=10**9, cache_read=10**6)
    assert quote(request, PRICE, known).input_usd == Decimal("2.1")
    assert quote(request, PRICE, Usage(input=1)) == quote(request, PRICE, None)


@pytest.mark.parametrize(
    ("max_tokens", "budget", "least"),
    [
        (1000, None, LEAST_USEFUL_TOKENS),
        (10, None, 10),
        (0, None, 0),
        (5000, 1024, 1025),
        (5000, 10, LEAST_USEFUL_TOKENS),
        (1025, 1024, 1025),
    ],
)
def test_a_call_is_never_lowered_below_what_it_demands(
    max_tokens: int, budget: int | None, least: int
) -> None:
    thinking = {"type": "enabled", "budget_tokens": budget} if budget else {"type": "adaptive"}
    request = read_request({}, raw(max_tokens=max_tokens, thinking=thinking))
    assert quote(request, PRICE, None).least_tokens == least


@given(st.lists(st.tuples(st.sampled_from(["answered", "refused", "failed"]), st.integers(0, 99))))
def test_totals_are_the_sums_of_the_lines(rows: list[tuple[Any, int]]) -> None:
    meter = Meter()
    for outcome, tokens in rows:
        usage = Usage(input=tokens, output=1)
        meter.count(
            Call(
                seq=1,
                step="",
                purpose="p",
                requested_model=MODEL,
                outcome=outcome,
                usage=usage,
                prompt_sha256="",
            )
        )
    assert meter.lines == len(rows)
    assert meter.answered == sum(outcome == "answered" for outcome, _ in rows)
    assert meter.usage == Usage(input=sum(tokens for _, tokens in rows), output=len(rows))
