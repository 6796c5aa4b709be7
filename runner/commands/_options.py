"""Options that several commands share, and how their values are read."""

import enum
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

import typer

from runner.errors import UsageError
from runner.prices import ModelPrice, PriceList, load_prices, parse_price


class Output(enum.StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"


FormatOption = Annotated[
    Output, typer.Option("--format", help="A table for people, or the whole report as JSON.")
]


def pairs(values: Sequence[str], option: str) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options.

    Raises:
        UsageError: one is not of that form, or a name comes twice.
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise UsageError(f"{option} {value!r} is not of the form NAME=VALUE.")
        if name in found:
            raise UsageError(f"{option} names {name} twice.")
        found[name] = rest
    return found


PriceOption = Annotated[
    list[str] | None,
    typer.Option(metavar="MODEL=IN,OUT", help="A model's price, in US$ a million tokens."),
]


def price_list(given: Sequence[str]) -> PriceList:
    """The bench's own prices, with those that were given before them.

    Raises:
        UsageError: one is no price, or a model comes twice.
    """
    found: dict[str, ModelPrice] = {}
    for text in given:
        model, price = parse_price(text)
        if model in found:
            raise UsageError(f"--price names {model} twice.")
        found[model] = price
    listed = load_prices().priced_at(found)
    if not found:
        return listed
    source = f"{listed.source}; {', '.join(sorted(found))} as given with --price"
    return listed.model_copy(update={"source": source})


def usd(amount: float | None) -> Decimal | None:
    """An option in US dollars, as it was typed."""
    return None if amount is None else Decimal(str(amount))
