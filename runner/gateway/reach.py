"""What a call would reach outside: a model's tools on the provider's side, and media it would
fetch by address, for a system that is shut off from the outside world.

Both are refused unless they are allowed by name; and what has no bound in tokens is refused, by
whatever name, while a reserved ceiling has to hold.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from runner.gateway.fields import listed, malformed
from runner.gateway.refusal import Refusal

PROVIDER_SIDE = {
    "mcp_servers": "tools on a server the provider calls",
    "container": "a container of the provider's",
}
"""Fields of a call that bring something in from there."""
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


def check_bound(what: str, allowed: Allowed) -> None:
    """Refuse what has no bound in tokens where a ceiling has to hold."""
    if not allowed.unbounded:
        message = f"{what} has no bound in tokens, so a reserved ceiling cannot hold"
        raise Refusal("unbounded_input", message)


def check_provider_side(body: Mapping[str, Any], allowed: Allowed) -> None:
    """Refuse what would run on the provider's side."""
    for name, what in PROVIDER_SIDE.items():
        if body.get(name) not in (None, []):
            if name not in allowed.tools:
                raise Refusal("provider_tool", f"{name}: {what} is out of bounds")
            check_bound(name, allowed)
    edits = body.get("context_management")
    for edit in listed(edits.get("edits"), "edits") if isinstance(edits, dict) else ():
        if str(edit.get("type")).startswith(_READS_AGAIN):
            check_bound("context_management: a summary reads the input again, so it", allowed)
    for tool in listed(body.get("tools"), "tools"):
        kind = tool.get("type") or "custom"
        if kind == "custom" or str(kind).startswith(_CLIENT_TOOLS):
            continue
        if not isinstance(kind, str) or kind not in allowed.tools:
            raise Refusal("provider_tool", f"tools: {kind!r} runs on the provider's side")
        check_bound(f"tools: {kind!r}", allowed)


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


def picture_bytes(body: Mapping[str, Any], allowed: Allowed) -> Iterable[int]:
    """The encoded sizes of all pictures in a body.

    Raises:
        Refusal: a block of a kind that is not passed on, or a source that must be fetched.
    """
    for block in _blocks(body, allowed):
        yield from _pictures(block, allowed)


def _pictures(block: Mapping[str, Any], allowed: Allowed) -> Iterable[int]:
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
            check_bound("a fetched document", allowed)
        else:
            yield 0
        return
    if block["type"] == "document":
        # A packed page can hold more tokens than bytes, so its cost has no bound here.
        if kind not in ("text", "content"):
            check_bound(f"document: a {kind!r} source", allowed)
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
