"""What indexing with a model costs at most: more than any run of it can come to."""

from decimal import Decimal
from typing import Any

import pytest

from runner.estimate import Estimate, NeverMeasured
from runner.gateway.meter import FRAME_TOKENS
from runner.model import Usage
from runner.prices import parse_price
from runner.runs.ingest_cost import ESCAPED, ingestion_estimate
from runner.suites.memory_honesty import load_vault
from runner.systems.catalog import Ingesting
from tests.runs._exams import exam_of, taking_notes
from tests.runs._protocols import PRICES

PAGES = [len(page.text.encode()) for page in load_vault("vault1").pages]
MODEL = "claude-sonnet-5-5"


def estimated(name: str = "dev", pins: dict[str, str] | None = None, **form: Any) -> Estimate:
    """For a system that asks so."""
    asks = Ingesting(**{"prompt_bytes": 1000, "reply_tokens": 500, **form})
    system = taking_notes(ingesting=asks)
    made = ingestion_estimate(exam_of(system, name, arm="live", pins=pins or {}), PRICES)
    assert made is not None
    return made


def bound(name: str = "dev", **form: Any) -> Decimal:
    found = estimated(name, **form).bound_usd
    assert found is not None
    return found


def test_every_page_once_is_expected_and_all_that_may_be_is_the_bound() -> None:
    made = estimated()
    [kind] = made.kinds
    assert (kind.kind, kind.runs, kind.calls) == ("dev", 1, len(PAGES))
    assert kind.usage.input == (len(PAGES) * 1000 + sum(PAGES)) // 4
    assert kind.usage.output == sum(PAGES) // 4
    price = PRICES.resolve(MODEL)
    most = Usage(
        input=sum(FRAME_TOKENS + 1000 + ESCAPED * size for size in PAGES), output=500 * len(PAGES)
    )
    assert kind.bound_usd == price.cost(most)
    assert kind.expected_usd == price.cost(kind.usage) < price.cost(most)
    assert "each byte a token" in made.bound_note


@pytest.mark.parametrize(
    "more",
    [
        {"calls": 2},
        {"beside": 3},
        {"prompt_bytes": 2000},
        {"reply_tokens": 501},
        {"conversation": True},
    ],
)
def test_whatever_is_asked_more_makes_the_bound_more(more: dict[str, Any]) -> None:
    assert bound(**more) > bound()


def test_the_vault_decides() -> None:
    assert bound("dev") < bound("dev3") < bound("heldout3")


def test_a_conversation_says_everything_again() -> None:
    """With a page and its note more in every call, whatever order the pages come in."""
    told = estimated(prompt_bytes=0, conversation=True)
    price = PRICES.resolve(MODEL)
    for order in (sorted(PAGES), sorted(PAGES, reverse=True), PAGES):
        before = total = 0
        for size in order:
            total += before + size
            before += size + 500
        assert told.bound_usd is not None
        assert told.bound_usd >= price.cost(Usage(cache_write_1h=total))
    assert told.bound_note.endswith("each call with all that was said before it.")


def test_no_call_holds_more_than_a_model_can_be_told() -> None:
    told = estimated(prompt_bytes=0, reply_tokens=64_000, conversation=True, context_tokens=100_000)
    price = PRICES.resolve(MODEL)
    said = Usage(output=64_000 * len(PAGES))
    assert told.bound_usd is not None
    assert told.bound_usd - price.cost(said) <= price.cost(
        Usage(cache_write_1h=100_000 * len(PAGES))
    )


def test_runs_and_models_count() -> None:
    system = taking_notes(ingesting=Ingesting(prompt_bytes=1, reply_tokens=1))
    three = ingestion_estimate(exam_of(system, runs={"dev": 3}), PRICES)
    once = ingestion_estimate(exam_of(system), PRICES)
    assert three is not None
    assert once is not None
    assert three.bound_usd == 3 * (once.bound_usd or 0)
    pinned = estimated(pins={"learning": "claude-haiku-4-5"})
    assert (pinned.bound_usd or 0) < bound()


def test_a_price_without_a_cache_is_no_way_out() -> None:
    """What is given by hand may leave out what writing to a cache costs."""
    _, price = parse_price(f"{MODEL}=3,15")
    listed = PRICES.priced_at({MODEL: price})
    system = taking_notes(
        ingesting=Ingesting(prompt_bytes=1000, reply_tokens=500, conversation=True)
    )
    made = ingestion_estimate(exam_of(system), listed)
    assert made is not None
    assert made.bound_usd is not None
    assert made.bound_usd > made.expected_usd


def test_who_asks_nothing_costs_nothing_and_who_does_not_say_is_not_guessed() -> None:
    plain = taking_notes(ingestion=None)
    assert ingestion_estimate(exam_of(plain, arm="live"), PRICES) is None
    with pytest.raises(NeverMeasured, match="It is not known what router asks") as caught:
        ingestion_estimate(exam_of(taking_notes()), PRICES)
    assert "[ingesting]" in caught.value.hint
