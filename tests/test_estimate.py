from decimal import Decimal
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.estimate import estimate
from runner.model import Usage
from runner.prices import UnpricedModel, load_prices, parse_price

PROTOCOL = {"move": 3, "trip-alone": 2}


def to_five_cents(usd: Decimal) -> Decimal:
    return (usd / Decimal("0.05")).quantize(Decimal(1)) * Decimal("0.05")


@pytest.mark.parametrize(
    ("case", "model", "page", "exact", "spent"),
    [
        ("reader", "claude-sonnet-5-5", "0.25", "0.24027840", "0.21"),
        ("reader", "claude-sonnet-4-6", "0.25", "0.25562775", "0.22"),
        ("mid-trip", "claude-sonnet-5-5", "0.75", "0.74135800", None),
        ("mid-trip", "claude-sonnet-4-6", "1.10", "1.07569650", None),
    ],
)
def test_the_published_protocols_come_to_the_pages_figures(
    case: str, model: str, page: str, exact: str, spent: str | None
) -> None:
    seen = estimate(case, model, PROTOCOL, system="particles")
    assert seen.expected_usd == Decimal(exact)
    assert to_five_cents(seen.expected_usd) == Decimal(page)
    assert seen.low_usd < seen.expected_usd
    if spent is not None:
        assert seen.low_usd * Decimal("0.95") <= Decimal(spent) <= seen.expected_usd
    assert seen.notes == ()
    assert "published runs" in seen.source
    assert "list prices" in seen.source


def test_tokens_and_calls_are_those_of_all_runs() -> None:
    seen = estimate("reader", "claude-sonnet-5-5", PROTOCOL, system="particles")
    assert seen.calls == 3 * 10 + 2 * 4
    move, alone = seen.kinds
    assert move.usage == Usage(input=14142, output=2947, cache_write_5m=2868, cache_read=5736)
    assert seen.usage == move.usage + move.usage + move.usage + alone.usage + alone.usage
    assert seen.expected_usd == load_prices().resolve("claude-sonnet-5-5").cost(seen.usage)


def test_a_kind_without_runs_costs_nothing() -> None:
    seen = estimate("reader", "claude-sonnet-5-5", {"move": 1, "trip-alone": 0}, system="engine")
    assert [kind.kind for kind in seen.kinds] == ["move"]
    assert estimate("reader", "claude-sonnet-5-5", {}, system="engine").expected_usd == 0


@pytest.mark.parametrize(
    ("model", "like"),
    [
        ("claude-sonnet-5", "claude-sonnet-5-5"),
        ("claude-haiku-5-5", "claude-sonnet-5-5"),
        ("claude-opus-4-6", "claude-sonnet-4-6"),
        ("claude-opus-4-8", "claude-sonnet-4-6"),
    ],
)
def test_an_unmeasured_model_takes_the_tokens_of_the_one_most_like_it(
    model: str, like: str
) -> None:
    seen = estimate("mid-trip", model, PROTOCOL, system="engine")
    assert seen.usage == estimate("mid-trip", like, PROTOCOL, system="engine").usage
    assert seen.expected_usd == load_prices().resolve(model).cost(seen.usage)
    assert any(f"{model} was not measured: tokens of {like}" in note for note in seen.notes)
    assert any("measured on particles, not on engine" in note for note in seen.notes)


def test_a_dated_name_is_the_measured_model() -> None:
    seen = estimate("reader", "claude-sonnet-5-5-20260901", PROTOCOL, system="particles")
    assert seen.notes == ()


def test_a_pin_moves_its_purpose_to_its_own_price() -> None:
    plain = estimate("reader", "claude-sonnet-4-6", {"move": 1}, system="particles")
    pins = {"extraction": "claude-sonnet-5-5"}
    pinned = estimate("reader", "claude-sonnet-4-6", {"move": 1}, system="particles", pins=pins)
    prices = load_prices()
    there = Usage(input=7018, output=1153, cache_write_5m=2105, cache_read=2105)
    here = Usage(input=6553, output=2547, cache_write_5m=2868, cache_read=5736)
    moved = prices.resolve("claude-sonnet-5-5").cost(here)
    assert pinned.expected_usd == (
        plain.expected_usd - prices.resolve("claude-sonnet-4-6").cost(there) + moved
    )


def test_a_pin_of_a_purpose_that_shares_its_work_takes_the_dearest_model() -> None:
    def of(**pins: str) -> Decimal:
        return estimate(
            "reader", "claude-sonnet-5-5", {"move": 1}, system="engine", pins=pins
        ).expected_usd

    plain = of()
    assert of(update="claude-haiku-5-5") == plain
    assert of(update="claude-opus-5") > plain
    cheap = "claude-haiku-5-5"
    assert of(update=cheap, contradiction=cheap, reanchor=cheap) < plain


def test_a_pin_that_was_never_measured_is_named() -> None:
    pins = {"daydreams": "claude-haiku-5-5"}
    seen = estimate("reader", "claude-sonnet-5-5", PROTOCOL, system="engine", pins=pins)
    assert any("daydreams" in note and "not in the figures" in note for note in seen.notes)


def test_an_unpriced_model_is_refused_until_a_price_is_given() -> None:
    with pytest.raises(UnpricedModel, match="--price my-model="):
        estimate("reader", "my-model", PROTOCOL, system="engine")
    with pytest.raises(UnpricedModel):
        estimate(
            "reader", "claude-sonnet-5-5", PROTOCOL, system="engine", pins={"update": "my-model"}
        )
    given = dict([parse_price("my-model=1,1")])
    seen = estimate("reader", "my-model", PROTOCOL, system="engine", given=given)
    assert 0 < seen.expected_usd < 1


def test_a_case_that_was_never_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No usage was ever measured for other move"):
        estimate("other", "claude-sonnet-5-5", PROTOCOL, system="engine")
    broken = tmp_path / "usage.toml"
    broken.write_text("schema = 1\nsystem = 2\n")
    with pytest.raises(UsageError, match="cannot be used"):
        estimate("reader", "claude-sonnet-5-5", PROTOCOL, system="engine", usage_file=broken)
