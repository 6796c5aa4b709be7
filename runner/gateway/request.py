"""Reading a model call: what it asks, and what the gateway refuses to pass on for anyone.

A model's tools on the provider's side, and media it would fetch by address, reach the outside
world for a system that is shut off from it; options with a price of their own would pass the
ceiling. Both are refused by name, and so is a field that is not known here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

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
_ANSWERS_OF_TOOLS = ("server_tool_use", "_tool_result", "container_upload", "mcp_tool_use")
_READS_AGAIN = ("compact",)
_PRICED_APART = {"speed": ("standard",), "inference_geo": ("global",)}
_PRICED_BETAS = ("context-1m", "fast-mode")


@dataclass(frozen=True, slots=True)
class Allowed:
    """What is passed on although it reaches outside, by name."""

    tools: frozenset[str] = frozenset()
    """Types of tools on the provider's side; ``mcp_servers`` and ``container`` are fields."""
    media: frozenset[str] = frozenset()
    """Hosts a provider may fetch media from."""
    unbounded: bool = False
    """Whether what has no bound in tokens may be asked: no reserved ceiling holds."""


NOTHING = Allowed()


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
    _check_options(headers, body, allowed)
    _check_tools(body, allowed)
    blocks = _blocks(body, allowed)
    pictures = [size for block in blocks for size in _picture_bytes(block, allowed)]
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


def document(raw: bytes) -> dict[str, Any]:
    """A body as the JSON object it is."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        raise malformed(f"the body is no JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise malformed("the body is no JSON object")
    return body


def model_and_stream(body: Mapping[str, Any]) -> tuple[str, bool]:
    """The two fields every call has."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise malformed("model: a name is required")
    stream = body.get("stream", False)
    if stream is not None and not isinstance(stream, bool):
        raise malformed("stream: true or false")
    return model, bool(stream)


def malformed(message: str) -> Refusal:
    """What the provider would not take either."""
    return Refusal("invalid_request", message, status=400)


def count(body: Mapping[str, Any], name: str) -> int:
    """A field that is a whole number."""
    value = body.get(name)
    if type(value) is not int or value < 0:
        raise malformed(f"{name}: a whole number is required")
    return value


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


def _check_options(headers: Mapping[str, str], body: Mapping[str, Any], allowed: Allowed) -> None:
    for name in body:
        if name in _PROVIDER_SIDE and body[name] not in (None, []):
            if name not in allowed.tools:
                raise Refusal("provider_tool", f"{name}: {_PROVIDER_SIDE[name]} is out of bounds")
            _check_bound(name, allowed)
        if name not in _FIELDS and name not in _PROVIDER_SIDE:
            raise Refusal("unknown_field", f"{name}: a field this gateway does not know")
    for name, usual in _PRICED_APART.items():
        if body.get(name) not in (None, *usual):
            raise Refusal("priced_option", f"{name}: {body[name]!r} has a price of its own")
    for beta in headers.get("anthropic-beta", "").split(","):
        if beta.strip().startswith(_PRICED_BETAS):
            raise Refusal("priced_option", f"anthropic-beta: {beta.strip()} has its own price")

    edits = body.get("context_management")
    for edit in listed(edits.get("edits"), "edits") if isinstance(edits, dict) else ():
        if str(edit.get("type")).startswith(_READS_AGAIN):
            _check_bound("context_management: a summary reads the input again, so it", allowed)


def _check_bound(what: str, allowed: Allowed) -> None:
    if not allowed.unbounded:
        message = f"{what} has no bound in tokens, so a reserved ceiling cannot hold"
        raise Refusal("unbounded_input", message)


def _check_tools(body: Mapping[str, Any], allowed: Allowed) -> None:
    for tool in listed(body.get("tools"), "tools"):
        kind = tool.get("type") or "custom"
        if kind == "custom" or str(kind).startswith(_CLIENT_TOOLS):
            continue
        if not isinstance(kind, str) or kind not in allowed.tools:
            raise Refusal("provider_tool", f"tools: {kind!r} runs on the provider's side")
        _check_bound(f"tools: {kind!r}", allowed)


def _blocks(body: Mapping[str, Any], allowed: Allowed) -> Iterable[Mapping[str, Any]]:
    """Every content block, also those within tool results and documents; refused types raise."""
    messages = listed(body.get("messages"), "messages")
    if not messages:
        raise malformed("messages: at least one is required")
    waiting: list[tuple[Any, str]] = [(body.get("system"), "system")]
    for message in messages:
        if message.get("role") not in ("user", "assistant", "system"):
            raise malformed("messages: role must be user or assistant")
        if not isinstance(message.get("content"), str | list):
            raise malformed("messages: content must be text or a list of blocks")
        waiting.append((message["content"], "messages.content"))
    while waiting:
        content, where = waiting.pop()
        if isinstance(content, str):
            continue
        for block in listed(content, where):
            kind = block.get("type")
            known = isinstance(kind, str) and (
                kind in _BLOCKS or (bool(allowed.tools) and kind.endswith(_ANSWERS_OF_TOOLS))
            )
            if not known:
                raise Refusal("provider_tool", f"{where}: a block of type {kind!r} is not passed")
            yield block
            if kind == "tool_result":
                waiting.append((block.get("content"), f"{where}.content"))
            elif kind == "document" and isinstance(block.get("source"), dict):
                waiting.append((block["source"].get("content"), f"{where}.source.content"))


def _picture_bytes(block: Mapping[str, Any], allowed: Allowed) -> Iterable[int]:
    """The encoded size of a block that is a picture; a source that must be fetched raises."""
    if block["type"] not in ("image", "document"):
        return
    source = block.get("source")
    if not isinstance(source, dict):
        raise malformed(f"{block['type']}: a source is required")
    kind = source.get("type")
    if kind in ("url", "file"):
        host = media_host(source.get("url")) if kind == "url" else None
        if host is None or host not in allowed.media:
            message = f"{block['type']}: the provider would fetch a {kind!r}"
            raise Refusal("remote_media", f"{message} from {host}" if host else message)
        if block["type"] == "document":
            _check_bound("a fetched document", allowed)
        else:
            yield 0
        return
    if block["type"] == "document":
        # A packed page can hold more tokens than bytes, so its cost has no bound here.
        if kind not in ("text", "content"):
            _check_bound(f"document: a {kind!r} source", allowed)
        return
    if kind != "base64" or not isinstance(source.get("data"), str):
        raise malformed("image: base64 data is required")
    yield len(source["data"])


def media_host(url: Any) -> str | None:
    """The host media would be fetched from; none where the address is not a plain one."""
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
        usual = parts.scheme == "https" and parts.port in (None, 443)
    except ValueError:
        return None
    if not usual or parts.username is not None or "\\" in url:
        return None
    return parts.hostname


def listed(value: Any, name: str) -> list[dict[str, Any]]:
    """A field that is a list of objects, or missing."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise malformed(f"{name}: a list of objects is required")
    return value
