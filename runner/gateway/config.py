"""What the gateway is told on the first line of its standard input."""

import hashlib
from decimal import Decimal
from typing import Literal, Self

import orjson
from pydantic import ConfigDict, Field, SecretStr, model_validator

from runner.model import Noun
from runner.prices import ModelPrice


class TableSource(Noun):
    """A scripted table, whole, so that the gateway needs no file of the bench."""

    name: str
    sha256: str
    """Digest of ``content`` in UTF-8."""
    content: str
    """TOML."""

    @model_validator(mode="after")
    def _is_what_its_digest_says(self) -> Self:
        seen = hashlib.sha256(self.content.encode()).hexdigest()
        if seen != self.sha256:
            raise ValueError(f"the table {self.name} has digest {seen}, not {self.sha256}")
        return self


class GatewayConfig(Noun):
    """One run's door: what answers, in whose words, at what price, up to which ceiling."""

    # A refusal of the configuration must not repeat the key.
    model_config = ConfigDict(hide_input_in_errors=True)

    run: str = Field(min_length=1)
    """Id of the run; request ids carry it."""
    arm: Literal["scripted", "live", "record", "replay"]
    wire: str
    """``package.module:Attribute`` of the system's wire."""
    tables: tuple[TableSource, ...] = ()
    """Consulted in this order: overlays first."""
    names: dict[str, str] = Field(default_factory=dict)
    """What the tables' placeholders stand for in this case."""
    model: str = Field(min_length=1)
    """The one model the run may ask."""
    pins: dict[str, str] = Field(default_factory=dict)
    """Purposes that run on another model."""
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    """By model; a model without one is refused."""
    aliases: dict[str, str] = Field(default_factory=dict)
    """Other names of models, each with the name it is priced under."""
    max_usd: Decimal | None = Field(default=None, ge=0)
    """The ceiling of this run, in US dollars; none for no ceiling."""
    ceiling: Literal["reserved", "measured"] = "reserved"
    """``reserved``: each call's worst case is set aside before it is made, so that the ceiling
    is never passed. ``measured``: the gateway only counts."""
    key: SecretStr | None = None
    """The provider's key, for arms that call one."""

    def first_line(self) -> bytes:
        """The line that starts a gateway. It alone shows the key; any other dump hides it."""
        shown = self.model_dump(mode="json")
        shown["key"] = self.key.get_secret_value() if self.key else None
        return orjson.dumps(shown) + b"\n"
