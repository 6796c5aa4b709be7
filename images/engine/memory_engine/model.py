"""The one way to a model: the provider's SDK, retried where that can help, never blindly trusted.

The SDK's own retries are off, so that every try is decided here. A reply that was cut short,
declined or empty is an error of its own: it must never pass for a verdict.
"""

import email.utils
import gc
import importlib
import random
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from memory_engine.errors import (
    EngineError,
    GatewayRefused,
    ProviderFailed,
    RefusedReply,
    TruncatedReply,
    UnparseableReply,
    UnusableReply,
)
from memory_engine.settings import Settings

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message, MessageParam
    from tenacity import RetryCallState

PURPOSE_HEADER = "x-memory-purpose"

STREAM_FROM = 16_384
"""Replies that may be longer than this many tokens are streamed: the SDK insists on it."""

TRANSIENT_STATUS = frozenset({408, 409, 429})
TRANSIENT_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


def _import_sdk() -> Any:
    """The SDK with what it is retried by. Some thousand modules make no garbage, so looking for
    it meanwhile is a sixth of the time for nothing."""
    gc.disable()
    try:
        importlib.import_module("tenacity")
        return importlib.import_module("anthropic")
    finally:
        gc.enable()


class BrokenReply(Exception):
    """What came back is no message, or not all of one."""


class Model:
    """Asks the models of one engine, by purpose.

    Attributes:
        calls: how many calls were answered, by purpose.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.calls: Counter[str] = Counter()
        self._sdk: anthropic.Anthropic | None = None
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Import the SDK and make the client; a few seconds of CPU the first time.

        Safe to call from another thread while the engine starts.
        """
        with self._lock:
            if self._sdk is None:
                anthropic = _import_sdk()
                self._sdk = anthropic.Anthropic(
                    max_retries=0, timeout=self.settings.options.timeout_s
                )

    def ask(self, purpose: str, system: str, document: str) -> str:
        """The text of the model's reply to one document.

        Raises:
            GatewayRefused: the door refused for good.
            ProviderFailed: no answer after every try.
            UnusableReply: an answer that was cut short, declined or empty.
        """
        import tenacity

        self.warm()
        options = self.settings.options
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(options.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception(self._worth_another_try),
            before_sleep=_say,
            reraise=True,
        )
        try:
            message = retrying(self._once, purpose, system, document)
        except EngineError:
            raise
        except Exception as error:
            raise _as_engine_error(error, purpose) from error
        self.calls[purpose] += 1
        return _text(message, purpose)

    def _once(self, purpose: str, system: str, document: str) -> "Message":
        import anthropic

        assert self._sdk is not None
        limit = self.settings.options.max_tokens[purpose]
        model = self.settings.model_for(purpose)
        messages: list[MessageParam] = [
            {"role": "user", "content": [{"type": "text", "text": document}]}
        ]
        headers = {PURPOSE_HEADER: purpose}
        if limit <= STREAM_FROM:
            answer: object = self._sdk.messages.create(
                model=model,
                max_tokens=limit,
                system=system,
                messages=messages,
                extra_headers=headers,
            )
            # The SDK hands on whatever JSON it was sent.
            if not isinstance(answer, anthropic.types.Message):
                raise BrokenReply("the answer is no message")
            return answer
        with self._sdk.messages.stream(
            model=model,
            max_tokens=limit,
            system=system,
            messages=messages,
            extra_headers=headers,
        ) as stream:
            try:
                stream.until_done()
            except (AttributeError, KeyError, TypeError) as error:
                # How the SDK takes an event that lacks a part it counts on, such as the usage.
                raise ValueError(f"an event of the stream lacks a part: {error}") from error
            try:
                message = stream.current_message_snapshot
            except AssertionError:
                raise BrokenReply("the stream ended before the reply began") from None
        if message.stop_reason is None:
            raise BrokenReply("the stream ended before the reply did")
        return message

    def _worth_another_try(self, error: BaseException) -> bool:
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            advice = error.response.headers.get("x-should-retry")
            if advice in ("true", "false"):
                transient = advice == "true"
            else:
                transient = (
                    error.status_code in TRANSIENT_STATUS
                    or error.status_code >= 500
                    # An error inside a stream arrives under the stream's own 200.
                    or (error.status_code < 400 and error.type in TRANSIENT_TYPES)
                )
            asked = _retry_after(error)
            return transient and (asked is None or asked <= self.settings.options.backoff_max_s)
        return isinstance(error, anthropic.APIConnectionError | BrokenReply) or _broke_midway(error)

    def _wait(self, state: "RetryCallState") -> float:
        options = self.settings.options
        error = state.outcome.exception() if state.outcome else None
        asked = _retry_after(error)
        if asked is not None:
            return asked
        full: float = min(
            options.backoff_max_s, options.backoff_initial_s * 2 ** (state.attempt_number - 1)
        )
        # Half of it at random, so that engines that failed together do not come back together.
        return full * random.uniform(0.5, 1.0)  # noqa: S311


def _broke_midway(error: BaseException) -> bool:
    """Whether the connection broke inside a stream; the SDK passes on its HTTP client's error."""
    http = sys.modules.get("httpx2")
    return http is not None and isinstance(error, http.TransportError)


def _retry_after(error: BaseException | None) -> float | None:
    """Seconds the provider asks to be left alone for, where it says so."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    # A date is measured from the provider's own clock: this process may live on another day.
    then = _date(headers.get("retry-after"))
    now = _date(headers.get("date"))
    return None if then is None or now is None else max(0.0, then - now)


def _date(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return email.utils.parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None


def _say(state: "RetryCallState") -> None:
    error = state.outcome.exception() if state.outcome else None
    sleep = state.next_action.sleep if state.next_action else 0.0
    print(
        f"try {state.attempt_number} failed ({_short(error)}); next in {sleep:.1f} s",
        file=sys.stderr,
        flush=True,
    )


def _short(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _as_engine_error(error: Exception, purpose: str) -> EngineError:
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        message = f"{purpose}: HTTP {error.status_code}: {error.api_message or error.message}"[
            :2000
        ]
        refused = error.response.headers.get("x-should-retry") == "false"
        if error.status_code == 403 and refused:
            return GatewayRefused(message)
        return ProviderFailed(message)
    if isinstance(error, anthropic.AnthropicError | BrokenReply) or _broke_midway(error):
        return ProviderFailed(f"{purpose}: {_short(error)}")
    if isinstance(error, ValueError | AssertionError):
        # What the SDK raises over bytes that are no message at all.
        return ProviderFailed(f"{purpose}: the answer is no message: {_short(error)}")
    raise error


def _text(message: Any, purpose: str) -> str:
    reason = message.stop_reason
    if reason in ("max_tokens", "model_context_window_exceeded"):
        raise TruncatedReply(f"{purpose}: the reply was cut short ({reason})")
    if reason == "refusal":
        raise RefusedReply(f"{purpose}: the model declined to answer")
    if reason not in ("end_turn", "stop_sequence"):
        raise UnusableReply(f"{purpose}: the reply ended with {reason!r}")
    text = "".join(block.text for block in message.content or () if block.type == "text")
    if not text.strip():
        raise UnparseableReply(f"{purpose}: the reply is empty")
    return text
