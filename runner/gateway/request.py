"""Reading a model call: what it asks, and which options the gateway refuses to pass on.

Options with a price of their own would pass the ceiling. They are refused by name, and so is a
field that is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from runner.gateway.fields import count, document, malformed, model_and_stream
from runner.gateway.reach import (
    NOTHING,
    PROVIDER_SIDE,
    Allowed,
    check_provider_side,
    picture_bytes,
)
from runner.gateway.refusal import Refusal

PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"
BATCHES_PATH = "/v1/messages/batches"
MAX_BODY_BYTES = 32 * 1024 * 1024
"""The provider's own limit on a request."""

_FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "metadata",
        "stop_sequences",
        "stream",
        "temperature",
        "top_k",
        "top_p",
        "thinking",
        "tools",
        "tool_choice",
        "cache_control",
        "output_config",
        "output_format",
        "service_tier",
        "context_management",
        "speed",
        "inference_geo",
    ]
)
_PRICED_APART = {"speed": ("standard",), "inference_geo": ("global",)}
_PRICED_BETAS = ("context-1m", "fast-mode")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model call that may be made, if the money lasts and the model is the right one."""

    path: str
    """Where it is sent, such as ``/v1/messages``."""

    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    plain: bytes
    """The body written out anew as JSON: no escapes but the needed ones, no spaces."""
    size: int
    """Bytes of the body as it came."""
    model: str
    max_tokens: int
    """0 for a call that only counts tokens."""
    thinking_tokens: int
    """What ``max_tokens`` must exceed."""
    stream: bool
    images: int
    image_bytes: int
    """How much of ``size`` is encoded pictures."""
    limit: str = "max_tokens"
    """The body's own name for ``max_tokens``; empty where the body names none and gets none."""
    silent_usage: bool = False
    """Whether the client did not ask a stream for its usage, which it must then not see."""

    def sent(self, max_tokens: int) -> bytes:
        """The body that leaves the gateway. It is never the client's own bytes: a name that
        stands twice in those, say, may be read in one way here and in another there."""
        changed: dict[str, Any] = {}
        if self.limit and self.body.get(self.limit) != max_tokens:
            changed[self.limit] = max_tokens
        if self.silent_usage:
            options = self.body.get("stream_options") or {}
            changed["stream_options"] = {**options, "include_usage": True}
        return orjson.dumps({**self.body, **changed}) if changed else self.plain


def read_request(
    headers: Mapping[str, str],
    raw: bytes,
    *,
    counting: bool = False,
    allowed: Allowed = NOTHING,
) -> ModelRequest:
    """Read and check the body of a call; ``counting`` for one that only counts tokens.

    Raises:
        Refusal: 400 for what the provider would not take either, 403 for what the gateway
            does not pass on.
    """
    body = document(raw)
    return request_of(headers, body, len(raw), counting=counting, allowed=allowed)


def request_of(
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    size: int,
    *,
    counting: bool = False,
    allowed: Allowed = NOTHING,
) -> ModelRequest:
    """The same of a body that is read already and came as ``size`` bytes."""
    model, stream = model_and_stream(body)
    max_tokens = 0 if counting else count(body, "max_tokens")
    thinking = _thinking(body, max_tokens, counting)
    check_provider_side(body, allowed)
    _check_options(headers, body)
    pictures = list(picture_bytes(body, allowed))
    return ModelRequest(
        path=COUNT_PATH if counting else PATH,
        headers=headers,
        body=body,
        plain=orjson.dumps(body),
        size=size,
        model=model,
        max_tokens=max_tokens,
        thinking_tokens=thinking,
        stream=stream,
        images=len(pictures),
        image_bytes=sum(pictures),
    )


def _thinking(body: Mapping[str, Any], max_tokens: int, counting: bool) -> int:
    thinking = body.get("thinking")
    if thinking is None:
        return 0
    if not isinstance(thinking, dict):
        raise malformed("thinking: an object is required")
    if thinking.get("type") != "enabled":
        return 0
    budget = count(thinking, "budget_tokens")
    if budget >= max_tokens and not counting:
        raise malformed("thinking.budget_tokens: must be less than max_tokens")
    return budget


def _check_options(headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
    for name in body:
        if name not in _FIELDS and name not in PROVIDER_SIDE:
            raise Refusal("unknown_field", f"{name}: a field this gateway does not know")
    for name, usual in _PRICED_APART.items():
        if body.get(name) not in (None, *usual):
            raise Refusal("priced_option", f"{name}: {body[name]!r} has a price of its own")
    for beta in headers.get("anthropic-beta", "").split(","):
        if beta.strip().startswith(_PRICED_BETAS):
            raise Refusal("priced_option", f"anthropic-beta: {beta.strip()} has its own price")
