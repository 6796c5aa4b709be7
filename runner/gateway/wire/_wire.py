"""What a wire is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool of the client's that the model wants used."""

    name: str
    input: Mapping[str, Any]
    """What it is to be used on, as the tool's own schema has it."""


@runtime_checkable
class Wire(Protocol):
    """How one system talks to a model.

    A wire is given whatever the system sent, so it answers a ``ValueError`` to what it cannot
    read and has no effects.
    """

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """What the call is made for; ``unattributed`` when it cannot tell."""
        ...

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What is asked, structured: what scripted tables match on."""
        ...

    def reply(self, purpose: str, answer: Any) -> str | ToolUse:
        """A scripted answer as the text the model would have written, or as the tool that it
        wants used."""
        ...

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """The request without what differs from call to call, for digests and replay."""
        ...
