"""What the gateway is told on the first line of its standard input."""

import hashlib
from decimal import Decimal
from typing import Literal, Self

import orjson
from pydantic import ConfigDict, Field, SecretStr, model_validator

from runner.gateway.cassette import Entry
from runner.gateway.wire.rules import WireRules
from runner.model import Noun
from runner.prices import ModelPrice

ANTHROPIC = "https://api.anthropic.com"


class WayOut(Noun):
    """How the gateway reaches a provider: everything else is out of reach."""

    anthropic: str = ANTHROPIC
    """Scheme, host, port and perhaps a path of the endpoint that speaks ``/v1/messages``. It is
    exact: no other host, port or scheme is dialled."""
    openai: str | None = None
    """Of the endpoint that speaks ``/chat/completions``, up to and with its version, such as
    ``http://vllm.lan:8000/v1``; none refuses such calls."""
    proxy: SecretStr | None = None
    """A corporate proxy as ``http://[user:password@]host:port``; TLS goes through it by CONNECT.
    The provider's name is then resolved by the proxy, which is trusted to do so."""
    authority: str | None = None
    """Certificates (PEM) to trust beside the system's own."""
    allow_private: tuple[str, ...] = ()
    """Hosts, written as in an endpoint, that may resolve to addresses that are not global."""
    connect_timeout_s: float = Field(default=30.0, gt=0)
    silence_timeout_s: float = Field(default=600.0, gt=0)
    """How long a provider may say nothing in the middle of a call."""


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
    wire: str | WireRules
    """``package.module:Attribute`` of the system's wire, or the rules of a system that came with a
    folder of its own."""
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
    """The provider's key, for arms that call one: the one that speaks ``/v1/messages``."""
    key_as: Literal["x-api-key", "bearer"] = "x-api-key"
    """The header the key is sent in."""
    openai_key: SecretStr | None = None
    """The key of ``way_out.openai``; none where it asks for none."""
    way_out: WayOut = WayOut()
    """For arms that call a provider."""
    allow_tools: tuple[str, ...] = ()
    """Tools on the provider's side that may be used, by type, such as ``web_search_20250305``;
    also ``mcp_servers`` and ``container``. What they cost has no bound, so none is passed on
    while a reserved ceiling holds."""
    allow_media: tuple[str, ...] = ()
    """Hosts from which a provider may fetch media, exactly as in the address. Without a bound
    too, but for pictures."""
    cassette: tuple[Entry, ...] = ()
    """What the replay arm answers with: this run's recorded calls, in their order."""

    def first_line(self) -> bytes:
        """The line that starts a gateway. It alone shows keys; any other dump hides them."""
        shown = self.model_dump(mode="json")
        for name in ("key", "openai_key"):
            shown[name] = _shown(getattr(self, name))
        shown["way_out"]["proxy"] = _shown(self.way_out.proxy)
        return orjson.dumps(shown) + b"\n"


def _shown(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
