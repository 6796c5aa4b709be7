"""Model calls of our own systems: a header says why, a JSON document in the message says what."""

from collections.abc import Mapping
from typing import Any

import orjson

HEADER = "x-memory-purpose"
UNATTRIBUTED = "unattributed"

_TRANSPORT = frozenset({"stream", "metadata"})
"""Fields of a request that change how it is answered, not what is asked."""


class DocumentWire:
    """How such a system talks to a model; each names its purposes."""

    purposes: frozenset[str] = frozenset()

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """The purpose in the call's header; ``unattributed`` without a known one."""
        named = next((value for name, value in headers.items() if name.lower() == HEADER), "")
        return named if named in self.purposes else UNATTRIBUTED

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The document in the last text block of the last message.

        Raises:
            ValueError: there is no such document, so the call is not the system's.
        """
        messages = body.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        if not isinstance(last, dict) or last.get("role") != "user":
            raise ValueError("the last message is not the user's")
        document = orjson.loads(_last_text(last.get("content")))
        if not isinstance(document, dict):
            raise ValueError("the last text block is no JSON object")
        return document

    def reply(self, purpose: str, answer: Any) -> str:
        """An answer as the model writes it: JSON, or the text itself where it is one."""
        return answer if isinstance(answer, str) else orjson.dumps(answer).decode()

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """Purpose and body, keys in order, without how the reply is to be sent.

        Such a system puts no id, nonce or time of its own into a request, so there is nothing else
        to take out: the same question is the same bytes in every run.
        """
        asked = {name: value for name, value in body.items() if name not in _TRANSPORT}
        return orjson.dumps(
            {"purpose": self.purpose(headers, body), "body": asked}, option=orjson.OPT_SORT_KEYS
        )


def _last_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        for block in reversed(content):
            if isinstance(block, dict) and block.get("type") == "text":
                text = block.get("text")
                if isinstance(text, str):
                    return text
    raise ValueError("the last message holds no text")
