"""One model call of linkedparticles, taken apart: its instructions and its fenced data.

The engine keeps what it wants to know apart from what it was given: instructions go into the
system turn, and every text that came from outside into the user turn, each between two marks
that carry the label of the text and a number drawn for that one call. Releases before the fences
came to its probes, such as 1.192.2, ask about two claims in one plain text instead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

_DECLARED = re.compile(r'<TAG nonce="([0-9a-f]{32})">')
"""Where the system turn says which number the marks of this call carry."""
_FENCE = re.compile(
    r'<(?P<label>[a-z][a-z0-9_]*) nonce="(?P<nonce>[0-9a-f]{32})">\n'
    r'(?P<text>.*?)\n</(?P=label) nonce="(?P=nonce)">',
    re.DOTALL,
)
_PLAIN = re.compile(
    r"(?P<instructions>.*?)\n\nClaim A: (?P<claim_a>.*?)\n\nClaim B: (?P<claim_b>.*)", re.DOTALL
)
"""How an older release asks about two claims, instructions and claims in one turn."""


@dataclass(frozen=True, slots=True)
class ParticlesCall:
    """What one request says."""

    nonce: str
    """The number drawn for this call; empty where nothing is fenced."""
    instructions: str
    """The system turn, whole."""
    data: Mapping[str, str]
    """The fenced texts by label, in the order they were given."""
    user: str
    """The user turn, whole."""
    max_tokens: int

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Self:
        """Take a request apart.

        Raises:
            ValueError: it is none of the engine's: nothing in it is fenced.
        """
        instructions = _text(body.get("system"))
        declared = _DECLARED.search(instructions)
        messages = body.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        if not isinstance(last, dict) or last.get("role") != "user":
            raise ValueError("the call does not end with a turn of the user")
        limit = body.get("max_tokens")
        most, user = limit if isinstance(limit, int) else 0, _text(last.get("content"))
        if declared is None:
            plain = _PLAIN.fullmatch(user)
            if plain is None or instructions:
                raise ValueError("the call does not fence its data")
            claims = {label: plain[label] for label in ("claim_a", "claim_b")}
            return cls("", plain["instructions"], claims, user, most)
        nonce = declared[1]
        data: dict[str, str] = {}
        for found in _FENCE.finditer(user):
            # A note may hold marks of its own; only those with this call's number count.
            if found["nonce"] == nonce:
                data.setdefault(found["label"], found["text"])
        if not data:
            raise ValueError("the call fences no data")
        return cls(nonce, instructions, data, user, most)

    def line(self, title: str) -> str | None:
        """What stands after ``title: `` on a line of its own, outside the data."""
        bare = _FENCE.sub("", self.user)
        found = re.search(rf"^{re.escape(title)}: (.*)$", bare, re.MULTILINE)
        return found[1] if found else None


def _text(content: Any) -> str:
    """The text of a turn: a string, or text blocks one after another."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    blocks = (block.get("text") for block in content if isinstance(block, Mapping))
    return "".join(text for text in blocks if isinstance(text, str))
