from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.model import Usage
from runner.paths import fixtures
from runner.prices import UnpricedModel, load_prices, parse_price, priced_name, same_model

tokens = st.integers(min_value=0, max_value=10**9)
usages = st.builds(
    Usage,
    input=tokens,
    output=tokens,
    cache_write_5m=tokens,
    cache_write_1h=tokens,
    cache_read=tokens,
)
models = st.sampled_from(sorted(load_prices().models))


@pytest.mark.parametrize(
    ("model", "given_in", "given_out", "cache_read"),
    [
        ("claude-sonnet-5-5", "2", "10", "0.1"),
        ("claude-sonnet-5", "2", "10", "0.2"),
        ("claude-sonnet-4-6", "3", "15", "0.3"),
        ("claude-haiku-5-5", "0.1", "0.5", "0.01"),
        ("claude-haiku-4-5", "1", "5", "0.1"),
        ("claude-opus-5-5", "4", "20", "0.2"),
        ("claude-opus-5", "5", "25", "0.5"),
        ("claude-opus-4-6", "5", "25", "0.5"),
        ("claude-fable-5", "10", "50", "1"),
        ("claude-fable-5-1", "10", "50", "0.25"),
    ],
)
def test_the_list_holds_the_published_prices(
    model: str, given_in: str, given_out: str, cache_read: str
) -> None:
    price = load_prices().resolve(model)
    assert (price.input, price.output) == (Decimal(given_in), Decimal(given_out))
    assert price.cache_write_5m == Decimal(given_in) * Decimal("1.25")
    assert price.cache_write_1h == Decimal(given_in) * 2
    assert price.cache_read == Decimal(cache_read)


def test_a_published_run_costs_what_the_page_says() -> None:
    # The reader's move on sonnet-5-5, all purposes together: US$0.04 to 0.07 on the page.
    usage = Usage(input=14142, output=2947, cache_write_5m=2868, cache_read=5736)
    assert load_prices().resolve("claude-sonnet-5-5").cost(usage) == Decimal("0.0654976")


@given(models, usages, usages)
def test_costs_add_up_exactly(model: str, one: Usage, other: Usage) -> None:
    price = load_prices().resolve(model)
    assert price.cost(one) + price.cost(other) == price.cost(one + other)
    assert price.cost(one) >= 0


@given(models, usages, st.sampled_from(sorted(Usage.model_fields)))
def test_every_token_costs_something(model: str, usage: Usage, kind: str) -> None:
    price = load_prices().resolve(model)
    more = usage.model_copy(update={kind: getattr(usage, kind) + 1})
    assert price.cost(more) > price.cost(usage)


def test_a_model_is_priced_under_its_dated_name_and_its_aliases() -> None:
    listed = load_prices()
    assert listed.name_of("claude-sonnet-5-5-20260901") == "claude-sonnet-5-5"
    assert listed.name_of("claude-sonnet-5-5-latest") is None
    aliases = {"sonnet": "claude-sonnet-5-5"}
    assert priced_name("sonnet", listed.models, aliases) == "claude-sonnet-5-5"
    assert priced_name("sonnet-20260901", listed.models, aliases) == "claude-sonnet-5-5"


def test_an_unpriced_model_says_how_to_price_it() -> None:
    with pytest.raises(UnpricedModel, match="--price my-model=INPUT,OUTPUT"):
        load_prices().resolve("my-model")
    name, price = parse_price("my-model=2,10.5")
    assert load_prices().priced_at({name: price}).resolve("my-model").output == Decimal("10.5")
    assert price.cache_write_1h == 4


@pytest.mark.parametrize(
    "text", ["", "x", "x=", "x=1", "x=1,2,3", "=1,2", "x=a,b", "x=-1,2", "x=NaN,1", "x=1,Infinity"]
)
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no price"):
        parse_price(text)


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5", True),
        ("claude-sonnet-5-5", "claude-sonnet-5-5-20260901", True),
        ("claude-sonnet-5-5", "claude-sonnet-5-5-20261399", False),
        ("claude-sonnet-5-5", "claude-sonnet-5-5-2026", False),
        ("claude-sonnet-5", "claude-sonnet-5-5", False),
        ("claude-sonnet-5-5-20260901", "claude-sonnet-5-5", False),
        ("claude-sonnet-5-5-20260901", "claude-sonnet-5-5-20261001", False),
        ("sonnet", "claude-sonnet-5-5", True),
        ("sonnet", "claude-sonnet-5-5-20260901", True),
        ("claude-sonnet-5-5", "sonnet", True),
        ("claude-opus-5", "sonnet", False),
        ("", "claude-sonnet-5-5", False),
    ],
)
def test_which_served_model_is_the_one_asked(asked: str, served: str, same: bool) -> None:
    assert same_model(asked, served, {"sonnet": "claude-sonnet-5-5"}) is same


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("input = 2\n", "input = -2\n"), "model.0.input"),
        (("input = 2\n", ""), "model.0.input: Field required"),
        (('source = "', 'sauce = "'), "source: Field required"),
        (('name = "claude-sonnet-5"\n', 'name = "claude-sonnet-5-5"\n'), "twice"),
        (("schema = 1", "schema = 2"), "schema"),
        (("[cache]", "[cache"), "line"),
    ],
)
def test_a_bad_price_file_says_what_is_wrong(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    good = (fixtures() / "prices.toml").read_text("utf-8")
    assert change[0] in good
    path = tmp_path / "prices.toml"
    path.write_text(good.replace(*change, 1), "utf-8")
    with pytest.raises(UsageError, match=told):
        load_prices(path)
    with pytest.raises(UsageError, match="nowhere"):
        load_prices(tmp_path / "nowhere.toml")
