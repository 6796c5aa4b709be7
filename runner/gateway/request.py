"""Reading a model call: what it asks, and what the gateway refuses to pass on for anyone.

A model's tools on the provider's side, and media it would fetch by address, reach the outside
world for a system that is shut off from it; options with a price of their own would pass the
ceiling. Both are refused by name, and so is a field that is not known here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from runner.gateway.refusal import Refusal

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
_PROVIDER_SIDE = {
    "mcp_servers": "tools on a server the provider calls",
    "container": "a container of the provider's",
}
_CLIENT_TOOLS = ("bash_", "text_editor_", "computer_", "memory_")
_BLOCKS = frozenset(
    [
        "text",
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
    ]
)
_PRICED_APART = {"speed": ("standard",), "inference_geo": ("global",)}
_PRICED_BETAS = ("context-1m", "fast-mode")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model call that may be made, if the money lasts and the model is the right one."""

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


def read_request(headers: Mapping[str, str], raw: bytes, *, counting: bool = False) -> ModelRequest:
    """Read and check the body of a call; ``counting`` for one that only counts tokens.

    Raises:
        Refusal: 400 for what the provider would not take either, 403 for what the gateway
            does not pass on.
    """
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        raise _malformed(f"the body is no JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise _malformed("the body is no JSON object")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise _malformed("model: a name is required")
    stream = body.get("stream", False)
    if not isinstance(stream, bool):
        raise _malformed("stream: true or false")
    max_tokens = 0 if counting else _count(body, "max_tokens")
    thinking = _thinking(body, max_tokens, counting)
    _check_options(headers, body)
    _check_tools(body)
    pictures = [size for block in _blocks(body) for size in _picture_bytes(block)]
    return ModelRequest(
        headers=headers,
        body=body,
        plain=orjson.dumps(body),
        size=len(raw),
        model=model,
        max_tokens=max_tokens,
        thinking_tokens=thinking,
        stream=stream,
        images=len(pictures),
        image_bytes=sum(pictures),
    )


def _malformed(message: str) -> Refusal:
    return Refusal("invalid_request", message, status=400)


def _count(body: Mapping[str, Any], name: str) -> int:
    value = body.get(name)
    if type(value) is not int or value < 0:
        raise _malformed(f"{name}: a whole number is required")
    return value


def _thinking(body: Mapping[str, Any], max_tokens: int, counting: bool) -> int:
    thinking = body.get("thinking")
    if thinking is None:
        return 0
    if not isinstance(thinking, dict):
        raise _malformed("thinking: an object is required")
    if thinking.get("type") != "enabled":
        return 0
    budget = _count(thinking, "budget_tokens")
    if budget >= max_tokens and not counting:
        raise _malformed("thinking.budget_tokens: must be less than max_tokens")
    return budget


def _check_options(headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
    for name in body:
        if name in _PROVIDER_SIDE and body[name] not in (None, []):
            raise Refusal("provider_tool", f"{name}: {_PROVIDER_SIDE[name]} is out of bounds")
        if name not in _FIELDS and name not in _PROVIDER_SIDE:
            raise Refusal("unknown_field", f"{name}: a field this gateway does not know")
    for name, allowed in _PRICED_APART.items():
        if body.get(name) not in (None, *allowed):
            raise Refusal("priced_option", f"{name}: {body[name]!r} has a price of its own")
    for beta in headers.get("anthropic-beta", "").split(","):
        if beta.strip().startswith(_PRICED_BETAS):
            raise Refusal("priced_option", f"anthropic-beta: {beta.strip()} has its own price")


def _check_tools(body: Mapping[str, Any]) -> None:
    for tool in _list(body.get("tools"), "tools"):
        kind = tool.get("type") or "custom"
        if kind != "custom" and not str(kind).startswith(_CLIENT_TOOLS):
            raise Refusal("provider_tool", f"tools: {kind!r} runs on the provider's side")


def _blocks(body: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Every content block, also those within tool results and documents; refused types raise."""
    messages = _list(body.get("messages"), "messages")
    if not messages:
        raise _malformed("messages: at least one is required")
    waiting: list[tuple[Any, str]] = [(body.get("system"), "system")]
    for message in messages:
        if message.get("role") not in ("user", "assistant", "system"):
            raise _malformed("messages: role must be user or assistant")
        if not isinstance(message.get("content"), str | list):
            raise _malformed("messages: content must be text or a list of blocks")
        waiting.append((message["content"], "messages.content"))
    while waiting:
        content, where = waiting.pop()
        if isinstance(content, str):
            continue
        for block in _list(content, where):
            kind = block.get("type")
            if not isinstance(kind, str) or kind not in _BLOCKS:
                raise Refusal("provider_tool", f"{where}: a block of type {kind!r} is not passed")
            yield block
            if kind == "tool_result":
                waiting.append((block.get("content"), f"{where}.content"))
            elif kind == "document" and isinstance(block.get("source"), dict):
                waiting.append((block["source"].get("content"), f"{where}.source.content"))


def _picture_bytes(block: Mapping[str, Any]) -> Iterable[int]:
    """The encoded size of a block that is a picture; a source that must be fetched raises."""
    if block["type"] not in ("image", "document"):
        return
    source = block.get("source")
    if not isinstance(source, dict):
        raise _malformed(f"{block['type']}: a source is required")
    kind = source.get("type")
    if kind in ("url", "file"):
        raise Refusal("remote_media", f"{block['type']}: the provider would fetch a {kind!r}")
    if block["type"] == "document":
        # A packed page can hold more tokens than bytes, so its cost has no bound here.
        if kind not in ("text", "content"):
            raise Refusal("unbounded_input", f"document: a {kind!r} source has no bound in tokens")
        return
    if kind != "base64" or not isinstance(source.get("data"), str):
        raise _malformed("image: base64 data is required")
    yield len(source["data"])


def _list(value: Any, name: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _malformed(f"{name}: a list of objects is required")
    return value
