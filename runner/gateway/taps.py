"""Metering an answer while it passes: what it cost, who gave it, and whether it is whole.

A tap is fed the bytes of a reply as they come and hands back those that may be passed on at once.
What ends an answer is kept until the call is settled and its line written, so that no client
ever holds an answer the ledger does not know.
"""

from typing import Any, Protocol

import orjson

from runner.gateway import chat
from runner.gateway.arms import Reply
from runner.gateway.events import Event, Splitter
from runner.gateway.request import ModelRequest
from runner.gateway.usage import Counted, chat_usage
from runner.model import Usage

MAX_REPLY_BYTES = 64 << 20
"""More than the longest answer comes to, as a document or as one event of a stream."""


class BadReply(ValueError):
    """A reply that is no answer of a model."""


class Tap(Protocol):
    """What is read off an answer as it passes."""

    usage: Usage | None
    """None as long as nothing was said of it."""
    measured: bool
    """Whether ``usage`` is what the answer took, not what it had taken so far."""
    model: str | None
    stop_reason: str | None
    done: bool
    """Whether the answer came to its proper end."""
    error: tuple[str, str] | None
    """Type and message of a failure told within a stream."""
    server_tools: bool

    def feed(self, chunk: bytes) -> bytes:
        """Take a piece in; what may be passed on at once.

        Raises:
            BadReply: this is no answer.
        """
        ...

    def end(self) -> bytes:
        """Nothing more comes; what was kept, to be passed on once the call is settled.

        Raises:
            BadReply: this is no answer.
        """
        ...


def tap_for(request: ModelRequest, reply: Reply) -> Tap:
    """The tap that reads ``reply``.

    Raises:
        BadReply: its content is neither a document nor a stream.
    """
    of_chat = request.path == chat.PATH
    match reply.content_type:
        case "text/event-stream":
            if of_chat:
                return ChatStreamTap(request.silent_usage)
            return MessageStreamTap(b'"ttl":"1h"' in request.plain)
        case "application/json":
            return ChatTap() if of_chat else MessageTap(b'"ttl":"1h"' in request.plain)
        case other:
            raise BadReply(f"the reply is {other or 'of no type'}, not JSON and no event stream")


class _Tap:
    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.measured = False
        self.model: str | None = None
        self.stop_reason: str | None = None
        self.done = False
        self.error: tuple[str, str] | None = None
        self.server_tools = False


class _DocumentTap(_Tap):
    def __init__(self) -> None:
        super().__init__()
        self._body = bytearray()

    def feed(self, chunk: bytes) -> bytes:
        self._body += chunk
        if len(self._body) > MAX_REPLY_BYTES:
            raise BadReply(f"the reply has more than {MAX_REPLY_BYTES} bytes")
        return b""

    def end(self) -> bytes:
        body = bytes(self._body)
        self._read(_object(body))
        self.measured = self.usage is not None
        self.done = True
        return body

    def _read(self, document: dict[str, Any]) -> None:
        raise NotImplementedError


class MessageTap(_DocumentTap):
    """Reads a message that is one document."""

    def __init__(self, long_cache: bool = False) -> None:
        super().__init__()
        self._counted = Counted(long_cache)

    def _read(self, document: dict[str, Any]) -> None:
        if document.get("type") != "message":
            raise BadReply(f"the reply is of type {document.get('type')!r}, not a message")
        self._counted.add(document.get("usage"))
        self.usage = self._counted.usage
        self.server_tools = self._counted.server_tools
        self.model = _text(document.get("model"))
        self.stop_reason = _text(document.get("stop_reason"))


class ChatTap(_DocumentTap):
    """Reads a chat completion that is one document."""

    def _read(self, document: dict[str, Any]) -> None:
        choices = document.get("choices")
        if not isinstance(choices, list):
            raise BadReply("the reply is no chat completion")
        self.usage = chat_usage(document.get("usage"))
        self.model = _text(document.get("model"))
        for choice in choices:
            if isinstance(choice, dict):
                self.stop_reason = _text(choice.get("finish_reason")) or self.stop_reason


class _StreamTap(_Tap):
    _harmless: tuple[bytes, ...] = ()
    """Beginnings of events that never end an answer: half of one may be passed on."""

    def __init__(self) -> None:
        super().__init__()
        self._split = Splitter(MAX_REPLY_BYTES)
        self._passed = 0  # of the unfinished event
        self._kept: list[bytes] = []
        self._ending = False

    def feed(self, chunk: bytes) -> bytes:
        try:
            events = self._split.feed(chunk)
        except ValueError as problem:
            raise BadReply(str(problem)) from problem
        out: list[bytes] = []
        for event in events:
            shown = self._shown(event)
            self._ending = self._ending or self._ends()
            (self._kept if self._ending else out).append(shown[self._passed :])
            self._passed = 0
        if not self._ending and self._split.starts(self._harmless):
            rest = self._split.rest
            out.append(rest[self._passed :])
            self._passed = len(rest)
        return b"".join(out)

    def end(self) -> bytes:
        return b"".join([*self._kept, self._split.rest[self._passed :]])

    def _shown(self, event: Event) -> bytes:
        raise NotImplementedError

    def _ends(self) -> bool:
        return self.done or self.error is not None or self.stop_reason is not None


class MessageStreamTap(_StreamTap):
    """Reads a message that comes as a stream."""

    _harmless = (b"event: content_block_", b"event: ping", b"event: message_start")

    def __init__(self, long_cache: bool = False) -> None:
        super().__init__()
        self._counted = Counted(long_cache)

    def _shown(self, event: Event) -> bytes:
        if event.raw.startswith(b"event: content_block_"):
            return event.raw
        name, data = event.read()
        if not data:
            return event.raw
        document = _object(data)
        match document.get("type", name):
            case "message_start":
                message = document.get("message")
                if isinstance(message, dict):
                    self.model = _text(message.get("model"))
                    self._add(message.get("usage"))
            case "message_delta":
                delta = document.get("delta")
                said = self._add(document.get("usage"))
                if isinstance(delta, dict) and delta.get("stop_reason") is not None:
                    self.stop_reason = str(delta["stop_reason"])
                    self.measured = said and self.usage is not None
            case "message_stop":
                self.done = True
            case "error":
                error = document.get("error")
                error = error if isinstance(error, dict) else {}
                self.error = (str(error.get("type") or "error"), str(error.get("message") or ""))
        return event.raw

    def _add(self, usage: Any) -> bool:
        said = self._counted.add(usage)
        self.usage = self._counted.usage
        self.server_tools = self._counted.server_tools
        return said


class ChatStreamTap(_StreamTap):
    """Reads a chat completion that comes as a stream.

    Args:
        silent: leave out the event with the usage, which the client did not ask for.
    """

    def __init__(self, silent: bool = False) -> None:
        super().__init__()
        self._silent = silent

    def _shown(self, event: Event) -> bytes:
        _, data = event.read()
        if data.strip() == b"[DONE]":
            self.done = True
            return event.raw
        if not data:
            return event.raw
        document = _object(data)
        if isinstance(error := document.get("error"), dict):
            self.error = (str(error.get("type") or "error"), str(error.get("message") or ""))
            return event.raw
        self.model = _text(document.get("model")) or self.model
        choices = document.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("finish_reason") is not None:
                self.stop_reason = str(choice["finish_reason"])
        usage = chat_usage(document.get("usage"))
        if usage is None:
            return event.raw
        # Some endpoints say it in every event, of what there is so far.
        self.usage = usage
        self.measured = self.stop_reason is not None
        return b"" if self._silent and not choices else event.raw


def _object(data: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BadReply(f"the reply is no JSON: {problem}") from problem
    if not isinstance(document, dict):
        raise BadReply("the reply is no JSON object")
    return document


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
