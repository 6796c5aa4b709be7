"""How runs that call a real model reach it: what the gateway is told, and what a report says."""

import hashlib
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pydantic import SecretStr

from runner.gateway.cassette import Cassette, Entry
from runner.gateway.config import WayOut
from runner.model import Fixtures, RunSpec, WayOutRecord

CALLS_A_PROVIDER = ("live", "record")
"""Arms that spend money."""


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider of a protocol: where it is, whose key is used, what it may do by itself.

    Attributes:
        way_out: endpoints, proxy, certificates.
        key: of the endpoint that speaks ``/v1/messages``.
        key_as: the header it is sent in.
        openai_key: of the endpoint that speaks ``/v1/chat/completions``.
        allow_tools: tools on the provider's side that may be used.
        allow_media: hosts from which it may fetch media.
    """

    way_out: WayOut = field(default_factory=WayOut)
    key: SecretStr | None = None
    key_as: Literal["x-api-key", "bearer"] = "x-api-key"
    openai_key: SecretStr | None = None
    allow_tools: tuple[str, ...] = ()
    allow_media: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """What the gateway is told of it, as fields of its configuration."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def record(self) -> WayOutRecord:
        """What a report says of it: no key, no password, no address of a proxy."""
        authority = self.way_out.authority
        return WayOutRecord(
            anthropic=self.way_out.anthropic,
            openai=self.way_out.openai,
            proxy=self.way_out.proxy is not None,
            authority_sha256=(
                hashlib.sha256(authority.encode()).hexdigest() if authority is not None else None
            ),
            allow_private=self.way_out.allow_private,
            key_as=self.key_as,
        )


@dataclass(frozen=True, slots=True)
class Tape:
    """The cassette a protocol is replayed from.

    Attributes:
        name: of its file.
        cassette: what is recorded.
        sha256: its digest.
    """

    name: str
    cassette: Cassette
    sha256: str

    def entries(self, spec: RunSpec) -> tuple[Entry, ...]:
        """What was recorded of a run."""
        return self.cassette.runs.get(spec.id, ())

    def differs(
        self, suite: str, system: str, case: str, variant: str | None, fixtures: Fixtures
    ) -> str:
        """What it was recorded of, where that is something else; empty where it fits."""
        of = self.cassette
        if (of.suite, of.system, of.case, of.fixture_variant, of.fixtures) == (
            *(suite, system, case, variant, fixtures),
        ):
            return ""
        apart = [of.fixture_variant, "upstream" if of.fixtures == "upstream" else None]
        return " ".join([of.suite, of.system, of.case, *filter(None, apart)])
