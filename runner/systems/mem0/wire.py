"""mem0's one kind of model call: what there is to remember of a text.

Version 2.2.1 asks once for every text that is added, and only ever adds what it is told; releases
before 2 asked a second time what the new statements change. Nothing in a request names its
purpose. It is told by mem0's instructions, which make up the system turn, and by the sections of
the user turn::

    ## Summary                           always empty
    ## Last k Messages                   the beginnings of the ten texts before, a line each
    ## Recently Extracted Memories       always []
    ## Existing Memories                 the ten memories nearest to the text: [{"id": "0", "text"}]
    ## New Messages                      user: THE TEXT
    ## Observation Date                  the day the process sees, twice
    ## Current Date
    # Output:

The text is recovered exactly, whatever it contains: it stands between the first section that can
hold none of it and the last lines. Only a text before it that begins with these very sections
would be taken for it; no table has an answer to that, which ends a run.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import orjson

UNATTRIBUTED = "unattributed"
EXTRACTION = "extraction"
PURPOSES = frozenset({EXTRACTION})
TASK = "remember"
ROLE = "You are a Memory Extractor"
"""What mem0's instructions begin with, behind a heading."""
NO_DAY = "0000-00-00"
"""What stands for the days of a call in its canonical form."""

_TRANSPORT = frozenset({"stream", "metadata"})
"""Fields of a request that change how it is answered, not what is asked."""
_DAY = r"\d{4}-\d{2}-\d{2}"
_TURN = re.compile(
    r"(?P<before>## Summary\n\n\n"
    r"## Last k Messages\n(?P<last>.*?)\n\n"
    r"## Recently Extracted Memories\n\[\]\n\n"
    r"## Existing Memories\n(?P<existing>\[[^\n]*\])\n\n"
    r"## New Messages\nuser: (?P<text>.*)\n\n\n)"
    rf"## Observation Date\n(?P<observed>{_DAY})\n\n"
    rf"## Current Date\n(?P<current>{_DAY})\n\n"
    r"# Output:",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Mem0Call:
    """What one request says."""

    text: str
    """What is to be remembered, exactly as it was given."""
    existing: tuple[str, ...]
    """What is remembered already and near to it."""
    observed: str
    """The day it was said on."""
    undated: str
    """The user turn, its two days replaced."""

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Self:
        """Take a request apart.

        Raises:
            ValueError: it is none of mem0's.
        """
        system, messages = body.get("system"), body.get("messages")
        if not isinstance(system, str) or ROLE not in system[:200]:
            raise ValueError("the system turn does not hold mem0's instructions")
        if not isinstance(messages, list) or len(messages) != 1:
            raise ValueError("the call does not consist of one turn")
        turn = messages[0].get("content") if isinstance(messages[0], dict) else None
        found = _TURN.fullmatch(turn) if isinstance(turn, str) else None
        if found is None:
            raise ValueError("the turn does not have mem0's sections")
        existing = orjson.loads(found["existing"])
        if not all(
            isinstance(each, dict) and isinstance(each.get("text"), str) for each in existing
        ):
            raise ValueError("an existing memory has no text")
        days = f"## Observation Date\n{NO_DAY}\n\n## Current Date\n{NO_DAY}\n\n# Output:"
        return cls(
            text=found["text"],
            existing=tuple(each["text"] for each in existing),
            observed=found["observed"],
            undated=found["before"] + days,
        )


class Mem0Wire:
    """How mem0 talks to a model."""

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """``extraction``; ``unattributed`` for any other call."""
        try:
            Mem0Call.read(body)
        except ValueError:
            return UNATTRIBUTED
        return EXTRACTION

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The task, the text with its digest, and what mem0 shows beside it.

        The text's name is not among them: mem0 keeps it and does not tell its model.

        Raises:
            ValueError: it is no call of mem0's.
        """
        call = Mem0Call.read(body)
        return {
            "task": TASK,
            "sha256": hashlib.sha256(call.text.encode()).hexdigest(),
            "text": call.text,
            "existing": list(call.existing),
            "observation_date": call.observed,
        }

    def reply(self, purpose: str, answer: Any) -> str:
        """An answer as the model writes it.

        A text stands for itself. ``statements`` become memories. Where the answer has a ``title``
        each begins with it: mem0 asks for statements that can be understood on their own, and in
        its own example of a document puts what it is about before each ("TITLE: statement").
        """
        if isinstance(answer, str):
            return answer
        if isinstance(answer, dict) and isinstance(answer.get("statements"), list):
            title = answer.get("title")
            about = f"{title}: " if title else ""
            answer = {
                "memory": [
                    {"id": str(number), "text": f"{about}{text}", "attributed_to": "user"}
                    for number, text in enumerate(answer["statements"])
                ]
            }
        return orjson.dumps(answer).decode()

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """Purpose and body, keys in order, without how the reply is to be sent, and of no day.

        mem0 tells its model today's date with every text, also where a run is on no day of its
        own: that of the recording would be found on no other day. Memories are numbered in the
        request, so it holds no other id or time.
        """
        asked = {name: value for name, value in body.items() if name not in _TRANSPORT}
        with suppress(ValueError):
            undated = Mem0Call.read(body).undated
            asked["messages"] = [{**body["messages"][0], "content": undated}]
        return orjson.dumps(
            {"purpose": self.purpose(headers, body), "body": asked}, option=orjson.OPT_SORT_KEYS
        )
