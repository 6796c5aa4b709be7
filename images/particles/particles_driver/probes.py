"""What the engine says of two claims, by the two probes its own update gate asks.

Both probes swallow whatever goes wrong: a call that failed, a reply that was refused, cut off or
not understood all come back as no verdict, which the engine then takes for "keep both". Here none
of that may pass for an answer, so every call is witnessed on its way, and a probe without a
verdict fails by the reason its last call gives. Neither probe looks at the store or at a day.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from particles_driver.errors import (
    BadRequest,
    DriverError,
    GatewayRefused,
    ProviderFailed,
    UnparseableReply,
)

PURPOSES = ("semantic_lint", "verification")
"""What the probes call a model for."""
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Stop reasons of a reply that does not end where its writer meant to."""
_LINE = re.compile(r"^\W*(REASON|SLOT|VERDICT)\W*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass
class Asked:
    """One call of a probe."""

    purpose: str
    max_tokens: int
    reply: str | None = None
    stop_reason: str | None = None
    error: Exception | None = None

    @property
    def cut(self) -> bool:
        """Whether its reply was cut off."""
        return self.stop_reason in CUT

    def told(self) -> dict[str, Any]:
        """The call as a reader of a report wants it: the lines that were read."""
        lines = {name.lower(): value for name, value in _LINE.findall(self.reply or "")}
        slot, verdict = lines.get("slot"), lines.get("verdict")
        return {
            "purpose": self.purpose,
            "slot": slot and slot.upper(),
            "verdict": verdict and verdict.upper(),
            "reason": lines.get("reason"),
        }


@dataclass
class Witness:
    """Sees every call on its way to the provider the engine would have used anyway."""

    calls: list[Asked] = field(default_factory=list)

    def provider(self, purpose: str, inner: Any) -> Any:
        """The provider of one purpose, witnessed."""
        return _Witnessed(purpose, inner, self.calls)

    def stops(self, client: Any) -> None:
        """Have the client's messages leave their stop reasons with the calls they answer."""
        create = client.messages.create

        def created(**given: Any) -> Any:
            message = create(**given)
            self.calls[-1].stop_reason = getattr(message, "stop_reason", None)
            return message

        client.messages.create = created


@dataclass
class _Witnessed:
    """As the engine's port for providers asks, as far as its probes go."""

    purpose: str
    inner: Any
    calls: list[Asked]

    @property
    def provider_model(self) -> str:
        name: str = self.inner.provider_model
        return name

    async def complete(self, prompt: str, *, max_tokens: int, **given: Any) -> str:
        asked = Asked(self.purpose, max_tokens)
        self.calls.append(asked)
        try:
            reply: str = await self.inner.complete(prompt, max_tokens=max_tokens, **given)
        except Exception as error:
            asked.error = error
            raise
        asked.reply = reply
        return reply


def probe(request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask both probes of a pair, the second whatever the first said.

    Raises:
        BadRequest: the request holds no pair.
        DriverError: one of its subclasses, when a probe came to no verdict of its own.
    """
    older, newer = (_text(request, name) for name in ("older", "newer"))
    return asyncio.run(_probe(older, newer))


async def _probe(older: str, newer: str) -> dict[str, Any]:
    from particles.core.past_value import records_past_value
    from particles.ingest.pipeline import _has_contradiction_signal, read_update_slot
    from particles.llm import get_client, get_provider, override_providers

    witness = Witness()
    witness.stops(get_client())
    routed = {purpose: witness.provider(purpose, get_provider(purpose)) for purpose in PURPOSES}
    with override_providers(routed):
        contradiction = await _has_contradiction_signal(newer, older)
        first = tuple(witness.calls)
        _settled("contradiction", contradiction, first)
        reading = await read_update_slot(older, newer)
    later = witness.calls[len(first) :]
    _settled("update", reading.verdict, later)
    assert reading.verdict is not None
    verdict = str(reading.verdict.value)
    return {
        "contradiction": contradiction,
        "update": "changes" if verdict == "changes" else "not_changes",
        "past_value_marker": records_past_value(older),
        "detail": {
            # One side that quotes the other is no contradiction, and no model is asked.
            "contradiction": first[-1].told() if first else {"verdict": "NO", "asked": False},
            "readings": [call.told() for call in later if call.reply],
            "settled": verdict,
        },
    }


def _settled(what: str, verdict: object, calls: tuple[Asked, ...] | list[Asked]) -> None:
    """See that a probe came to a verdict, by replies that were whole.

    Raises:
        DriverError: it did not.
    """
    # The engine's own second try of a reading comes after the first, under the same purpose.
    last = {call.purpose: call for call in calls}
    for call in last.values():
        if call.error is not None:
            raise _failure(what, call.error) from call.error
        if call.cut:
            raise UnparseableReply(f"{what}: the reply was cut off at {call.max_tokens} tokens")
    if verdict is None:
        if not last:
            raise DriverError(f"{what}: the engine asked nobody and came to no verdict")
        reply = next(reversed(last.values())).reply or ""
        raise UnparseableReply(f"{what}: no verdict in the reply {reply[-200:]!r}")


def _failure(what: str, error: Exception) -> DriverError:
    """What an exception of a call means for the verb."""
    import anthropic
    from particles.egress import EgressRefused
    from particles.llm import CompletionError

    said = f"{what}: {type(error).__name__}: {error}"
    # The engine's own word for a reply without a text, or with a refusal in its place.
    if isinstance(error, CompletionError) and not isinstance(error, EgressRefused):
        return UnparseableReply(said)
    if isinstance(error, anthropic.APIStatusError):
        for_good = error.response.headers.get("x-should-retry") == "false"
        if error.status_code == 403 and for_good:
            return GatewayRefused(said)
    if isinstance(error, anthropic.APIError):
        return ProviderFailed(said)
    return DriverError(said)


def _text(request: Mapping[str, Any], name: str) -> str:
    claim = request.get(name)
    text = claim.get("text") if isinstance(claim, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"probe needs the text of the {name} claim")
    return text
