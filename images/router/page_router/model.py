"""The one way to a model: ``POST /v1/messages`` with the standard library, retried where it helps.

A reply that was cut short, declined or empty is an error of its own: it must never pass for a
verdict.
"""

import email.message
import email.utils
import http.client
import json
import random
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from page_router.errors import GatewayRefused, ProviderFailed, UnparseableReply, UnusableReply
from page_router.settings import Settings

PURPOSE_HEADER = "x-memory-purpose"
MAX_REPLY = 4 * 2**20
"""Longest reply that is read, in bytes."""
TRANSIENT = frozenset({408, 409, 429})


class _Failed(Exception):
    """One try failed."""

    def __init__(self, message: str, *, again: bool, wait: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.wait = wait
        """Seconds that the provider asks to be left alone for."""
        self.refused = False


class Model:
    """Asks the model of one router.

    Attributes:
        calls: how many calls were answered.
    """

    def __init__(self, settings: Settings, env: Mapping[str, str]) -> None:
        self._settings = settings
        base = env.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com").rstrip("/")
        self._url = f"{base}/v1/messages"
        self._key = env.get("ANTHROPIC_API_KEY", "none")
        # The door is the only way there is: no proxy of the environment stands before it.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.calls = 0

    def ask(self, purpose: str, system: str, document: str) -> str:
        """The text of the model's reply to one document.

        Raises:
            BadRequest: the settings name no model.
            GatewayRefused: the door refused for good.
            ProviderFailed: no answer after every try.
            UnusableReply: an answer that was cut short, declined or empty.
        """
        options = self._settings.options
        body = {
            "model": self._settings.model_for(purpose),
            "max_tokens": options.max_tokens,
            "system": system,
            "messages": [{"role": "user", "content": [{"type": "text", "text": document}]}],
        }
        for attempt in range(1, options.attempts + 1):
            try:
                message = self._once(purpose, json.dumps(body).encode())
                self.calls += 1
                return _text(message, purpose)
            except _Failed as error:
                if error.refused:
                    raise GatewayRefused(f"{purpose}: {error}") from error
                too_long = error.wait is not None and error.wait > options.backoff_max_s
                if attempt == options.attempts or not error.again or too_long:
                    raise ProviderFailed(f"{purpose}: {error}") from error
                wait = error.wait if error.wait is not None else self._wait(attempt)
                print(f"try {attempt} failed ({error}); next in {wait:.1f} s", file=sys.stderr)
                time.sleep(wait)
        raise AssertionError("there is a first try and a last")

    def _wait(self, attempt: int) -> float:
        options = self._settings.options
        full: float = min(options.backoff_max_s, options.backoff_initial_s * 2 ** (attempt - 1))
        # Half of it at random, so that routers that failed together do not come back together.
        return full * random.uniform(0.5, 1.0)  # noqa: S311

    def _once(self, purpose: str, body: bytes) -> dict[str, Any]:
        if not self._url.startswith(("http://", "https://")):
            raise _Failed(f"{self._url} is no address of a model", again=False)
        request = urllib.request.Request(  # noqa: S310
            self._url,
            data=body,
            headers={
                "content-type": "application/json",
                "accept": "application/json",
                "anthropic-version": "2023-06-01",
                "x-api-key": self._key,
                PURPOSE_HEADER: purpose,
            },
        )
        try:
            with self._opener.open(request, timeout=self._settings.options.timeout_s) as response:
                raw = response.read(MAX_REPLY + 1)
        except urllib.error.HTTPError as error:
            raise _status(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise _Failed(f"{type(error).__name__}: {error}"[:500], again=True) from error
        try:
            message = json.loads(raw) if len(raw) <= MAX_REPLY else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or message.get("type") != "message":
            raise _Failed("the answer is no message", again=True)
        return message


def _status(error: urllib.error.HTTPError) -> _Failed:
    headers = error.headers
    with error:
        try:
            said = error.read(2000).decode(errors="replace")
        except (OSError, http.client.HTTPException):
            said = ""
    advice = headers.get("x-should-retry")
    again = error.code in TRANSIENT or error.code >= 500
    if advice in ("true", "false"):
        again = advice == "true"
    failed = _Failed(f"HTTP {error.code}: {said}"[:2000], again=again, wait=_asked_wait(headers))
    failed.refused = error.code == 403 and advice == "false"
    return failed


def _asked_wait(headers: "email.message.Message[str, str]") -> float | None:
    after = headers.get("retry-after")
    if after is None:
        return None
    try:
        return max(0.0, float(after))
    except ValueError:
        pass
    try:
        # From the provider's own clock: this process may live on another day.
        then = email.utils.parsedate_to_datetime(after)
        now = email.utils.parsedate_to_datetime(headers.get("date") or "")
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _text(message: Mapping[str, Any], purpose: str) -> str:
    reason = message.get("stop_reason")
    if reason not in ("end_turn", "stop_sequence"):
        raise UnusableReply(f"{purpose}: the reply ended with {reason!r}")
    blocks = message.get("content")
    parts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    text = "".join(parts)
    if not text.strip():
        raise UnparseableReply(f"{purpose}: the reply is empty")
    return text
