"""What a model call costs: list prices as dated data, and which names mean the same model.

All prices are US dollars a million tokens, as ``Decimal``; a cost is exact, never rounded.
"""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.errors import UsageError
from runner.model import Noun, Usage
from runner.paths import fixtures

CACHE_WRITE_5M = Decimal("1.25")
CACHE_WRITE_1H = Decimal(2)
CACHE_READ = Decimal("0.1")
BATCH = Decimal("0.5")

_DATED = re.compile(r"(?P<model>.+)-(?P<date>\d{8})")


class UnpricedModel(UsageError):
    """A model that has no price; nothing is asked of it, as no ceiling could hold."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"No price is known for the model {model!r}.",
            hint=f"Give one in US$ a million tokens: --price {model}=INPUT,OUTPUT",
        )
        self.model = model


class ModelPrice(Noun):
    """Prices of one model, in US dollars a million tokens."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_write_5m: Decimal = Field(ge=0)
    cache_write_1h: Decimal = Field(ge=0)
    cache_read: Decimal = Field(ge=0)
    batch: Decimal = Field(default=BATCH, ge=0, le=1)
    """What a call in a batch costs, as a share of the same call by itself."""

    def cost(self, usage: Usage, *, batch: bool = False) -> Decimal:
        """What ``usage`` costs, in US dollars, exactly; ``batch`` for a call in a batch."""
        total = (
            self.input * usage.input
            + self.output * usage.output
            + self.cache_write_5m * usage.cache_write_5m
            + self.cache_write_1h * usage.cache_write_1h
            + self.cache_read * usage.cache_read
        )
        if batch:
            total *= self.batch
        return total.scaleb(-6) if total else Decimal(0)

    def rates(self) -> dict[str, Decimal]:
        """The prices by kind of token, as a report shows them; and ``batch``, the share of them
        that a call in a batch costs."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class PriceList(Noun):
    """Prices of many models, and where they were read."""

    read: date
    source: str
    models: dict[str, ModelPrice]
    aliases: dict[str, str] = Field(default_factory=dict)
    """Other names of a model, each with the name it is priced under."""

    def name_of(self, model: str) -> str | None:
        """The name ``model`` is priced under; none when it has no price."""
        return priced_name(model, self.models, self.aliases)

    def resolve(self, model: str) -> ModelPrice:
        """Return the price of ``model``, which may be an alias or carry a date.

        Raises:
            UnpricedModel: when no price is known.
        """
        name = self.name_of(model)
        if name is None:
            raise UnpricedModel(model)
        return self.models[name]

    def priced_at(self, given: Mapping[str, ModelPrice]) -> "PriceList":
        """Return this list with the user's own prices before its own."""
        return self.model_copy(update={"models": {**self.models, **given}})


def priced_name(
    model: str, models: Mapping[str, ModelPrice], aliases: Mapping[str, str]
) -> str | None:
    """The name under which ``models`` has a price for ``model``; none when it has none."""
    undated = _undated(model)
    for name in (model, aliases.get(model), undated, aliases.get(undated)):
        if name is not None and name in models:
            return name
    return None


def same_model(asked: str, served: str, aliases: Mapping[str, str] | None = None) -> bool:
    """Whether ``served`` is what was ``asked``: the same name, that name plus a date
    (``-20260901``), or a listed alias of it, in either direction."""
    names = aliases or {}
    wanted = {asked, names.get(asked, asked)}
    seen = {served, _undated(served)}
    return bool(wanted & seen) or any(names.get(name) in wanted for name in seen)


def parse_price(text: str) -> tuple[str, ModelPrice]:
    """Read ``MODEL=IN,OUT`` (US dollars a million tokens); caches at the usual multipliers.

    Raises:
        UsageError: when it is not of that form.
    """
    model, _, amounts = text.partition("=")
    try:
        given_in, given_out = (Decimal(part) for part in amounts.split(","))
        if not model or not (given_in.is_finite() and given_out.is_finite()):
            raise ValueError(text)
        return model.strip(), _price(given_in, given_out, _Multipliers(), BATCH)
    except (ValueError, InvalidOperation) as problem:
        raise UsageError(
            f"{text!r} is no price.",
            hint="Write MODEL=INPUT,OUTPUT in US$ a million tokens, such as my-model=2,10",
        ) from problem


def load_prices(path: Path | None = None) -> PriceList:
    """Load a price file; the bench's own when ``path`` is none.

    Raises:
        UsageError: when the file is missing or says something that is no price.
    """
    path = path or fixtures() / "prices.toml"
    try:
        document = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
        listed = _File.model_validate(document)
    except (OSError, ValueError) as problem:
        raise UsageError(f"The price file {path} cannot be used: {_said(problem)}") from problem
    models: dict[str, ModelPrice] = {}
    aliases: dict[str, str] = {}
    for row in listed.model:
        for name in (row.name, *row.aliases):
            if name in models or name in aliases:
                raise UsageError(f"The price file {path} names {name!r} twice.")
            if name == row.name:
                own = row.cache.model_dump(exclude_none=True)
                multipliers = listed.cache.model_copy(update=own)
                models[name] = _price(row.input, row.output, multipliers, listed.batch)
            else:
                aliases[name] = row.name
    return PriceList(read=listed.read, source=listed.source, models=models, aliases=aliases)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Multipliers(_Strict):
    write_5m: Decimal = Field(default=CACHE_WRITE_5M, ge=0)
    write_1h: Decimal = Field(default=CACHE_WRITE_1H, ge=0)
    read: Decimal = Field(default=CACHE_READ, ge=0)


class _Own(_Strict):
    write_5m: Decimal | None = Field(default=None, ge=0)
    write_1h: Decimal | None = Field(default=None, ge=0)
    read: Decimal | None = Field(default=None, ge=0)


class _Row(_Strict):
    name: str = Field(min_length=1)
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache: _Own = _Own()
    aliases: tuple[str, ...] = ()


class _File(_Strict):
    schema_: Literal[1] = Field(alias="schema")
    read: date
    source: str = Field(min_length=1)
    cache: _Multipliers
    batch: Decimal = Field(default=BATCH, ge=0, le=1)
    model: tuple[_Row, ...] = Field(min_length=1)


def _price(
    given_in: Decimal, given_out: Decimal, cache: _Multipliers, batch: Decimal
) -> ModelPrice:
    return ModelPrice(
        input=given_in,
        output=given_out,
        cache_write_5m=given_in * cache.write_5m,
        cache_write_1h=given_in * cache.write_1h,
        cache_read=given_in * cache.read,
        batch=batch,
    )


def _undated(model: str) -> str:
    found = _DATED.fullmatch(model)
    if found is None:
        return model
    try:
        datetime.strptime(found["date"], "%Y%m%d")  # noqa: DTZ007 - only whether it is a day
    except ValueError:
        return model
    return found["model"]


def _said(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problem.errors()
        )
    return str(problem)
