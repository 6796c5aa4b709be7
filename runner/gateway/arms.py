"""What answers a model call. The scripted arm answers from tables and needs no network."""

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

from runner.gateway.refusal import Refusal
from runner.gateway.request import ModelRequest
from runner.gateway.tables import Entry, Tables
from runner.gateway.wire import Wire
from runner.model import Ending, Outcome, Usage

CHARACTERS_A_TOKEN = 4
"""How tokens are guessed where a table does not say them; never less than one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of a model."""

    text: str
    usage: Usage
    model: str
    stop_reason: str
    source: str | None = None
    """Where it came from, when it is no live model's."""
    request_id: str | None = None
    """The provider's, when there is one."""


class ProviderFailed(Exception):
    """The provider did not answer; passed on to the client as it came, so that it may retry."""

    def __init__(self, status: int, type_: str, message: str, source: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.type = type_
        self.message = message
        self.source = source
        self.request_id = "req_none"


class Pending(Protocol):
    """A call an arm has taken on and not yet made."""

    @property
    def known(self) -> Usage | None:
        """What the answer is known to take; none before a live model has answered."""
        ...

    async def answer(self, max_tokens: int) -> Answer:
        """Make the call, with what the money allows.

        Raises:
            ProviderFailed: when there is no answer.
        """
        ...


class Arm(Protocol):
    """Something that answers model calls."""

    def take(self, request: ModelRequest, purpose: str, fields: dict[str, Any]) -> Pending:
        """Take a call on.

        Raises:
            Refusal: when it is known already that nothing will answer it.
        """
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """How many tokens the input comes to."""
        ...


class ScriptedArm:
    """Answers from tables: a call that no entry answers ends the run."""

    def __init__(self, tables: Tables, wire: Wire) -> None:
        self._tables = tables
        self._wire = wire

    def take(self, request: ModelRequest, purpose: str, fields: dict[str, Any]) -> Pending:
        """Find the entry that answers the call."""
        entry = self._tables.find(purpose, fields)
        if entry is None:
            near = self._tables.nearest(purpose, fields) or "the tables are empty"
            message = f"no scripted answer for this {purpose} call; {near}"
            ending = Ending(outcome=Outcome.INVALID, kind="script_missing", detail=message)
            raise Refusal("script_missing", message, ending=ending)
        text = entry.text
        if text is None and entry.failure is None:
            text = self._wire.reply(purpose, entry.answer)
        return _Scripted(entry, text or "", request)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Guessed, as for an entry that does not say its usage."""
        return _guess(request.size)


class _Scripted:
    def __init__(self, entry: Entry, text: str, request: ModelRequest) -> None:
        self._entry = entry
        self._whole = Answer(
            text=text,
            usage=entry.usage or Usage(input=_guess(request.size), output=_guess(len(text))),
            model=request.model,
            stop_reason=entry.stop_reason,
            source=entry.source,
        )

    @property
    def known(self) -> Usage | None:
        return None if self._entry.failure else self._whole.usage

    async def answer(self, max_tokens: int) -> Answer:
        if failure := self._entry.failure:
            raise ProviderFailed(failure.status, failure.type, failure.message, self._entry.source)
        return cut(self._whole, max_tokens)


def cut(answer: Answer, max_tokens: int) -> Answer:
    """An answer as a model would have given it that may write ``max_tokens``: of the text, the
    same share is left as of its tokens."""
    tokens = answer.usage.output
    if tokens <= max_tokens:
        return answer
    return replace(
        answer,
        text=answer.text[: len(answer.text) * max_tokens // tokens],
        usage=answer.usage.model_copy(update={"output": max_tokens}),
        stop_reason="max_tokens",
    )


def _guess(characters: int) -> int:
    return max(1, math.ceil(characters / CHARACTERS_A_TOKEN))
