"""The scripted arm: answers out of tables, needs no network, and writes them as a provider does."""

import math
from typing import Any

import orjson

from runner.gateway import chat, sse
from runner.gateway.answer import Answer, cut
from runner.gateway.arms import Asked, Batcher, Pending, Reply, pieces
from runner.gateway.refusal import Refusal, error_body
from runner.gateway.tables import Entry, Tables
from runner.gateway.wire import ToolUse, Wire
from runner.model import Ending, Outcome, Usage

CHARACTERS_A_TOKEN = 4
"""How tokens are guessed where a table does not say them; never less than one."""


class ScriptedArm:
    """Answers from tables: a call that no entry answers ends the run."""

    def __init__(self, tables: Tables, wire: Wire) -> None:
        self._tables = tables
        self._wire = wire
        self._answered = 0
        self.batches: Batcher | None = None

    def take(self, asked: Asked) -> Pending:
        """Find the entry that answers the call."""
        purpose = asked.purpose
        try:
            fields = self._wire.fields(purpose, asked.request.body)
        except ValueError as problem:
            message = f"this {purpose} call is not one the system's wire knows: {problem}"
            raise _missing(message) from problem
        entry = self._tables.find(purpose, fields)
        if entry is None:
            near = self._tables.nearest(purpose, fields) or "the tables are empty"
            raise _missing(f"no scripted answer for this {purpose} call; {near}")
        said: str | ToolUse | None = entry.text
        if said is None and entry.failure is None:
            said = self._wire.reply(purpose, entry.answer)
        if isinstance(said, ToolUse) and asked.request.path == chat.PATH:
            raise _missing(f"{entry.source} wants a tool used, which no chat is told here")
        self._answered += 1
        return _Scripted(entry, said or "", asked, self._answered)

    async def count_tokens(self, asked: Asked) -> Reply:
        """Guessed, as for an entry that does not say its usage."""
        return whole(200, {"input_tokens": _guess(asked.request.size)})

    def totals(self) -> dict[str, Any]:
        """Nothing to add."""
        return {}

    async def close(self) -> None:
        """There is nothing to let go of."""


def _missing(message: str) -> Refusal:
    """A call without an answer, whether no entry is for it or nobody knows what it asks: the run
    cannot be judged, whatever its system makes of the refusal."""
    ending = Ending(outcome=Outcome.INVALID, kind="script_missing", detail=message)
    return Refusal("script_missing", message, ending=ending)


class _Scripted:
    def __init__(self, entry: Entry, said: str | ToolUse, asked: Asked, number: int) -> None:
        self._entry = entry
        self._asked = asked
        self._number = number
        tools = (said,) if isinstance(said, ToolUse) else ()
        text = said if isinstance(said, str) else ""
        written = len(text) + sum(len(orjson.dumps(tool.input)) for tool in tools)
        self._whole = Answer(
            text=text,
            usage=entry.usage or Usage(input=_guess(asked.request.size), output=_guess(written)),
            model=asked.request.model,
            stop_reason="tool_use" if tools else entry.stop_reason,
            tools=tools,
        )

    @property
    def known(self) -> Usage | None:
        return None if self._entry.failure else self._whole.usage

    async def send(self, max_tokens: int) -> Reply:
        if failure := self._entry.failure:
            body = error_body(failure.status, failure.message, None, failure.type)
            reply = whole(failure.status, body)
        else:
            reply = written(cut(self._whole, max_tokens), self._asked, f"{self._number:06d}")
        reply.source = self._entry.source
        return reply


def whole(status: int, document: object) -> Reply:
    """A reply that is one JSON document."""
    return Reply(status, {"content-type": "application/json"}, pieces(orjson.dumps(document)))


def written(answer: Answer, asked: Asked, number: str) -> Reply:
    """An answer as the provider of the call's path writes it, whole or as a stream."""
    if asked.request.path == chat.PATH:
        document = chat.completion(answer, number)
        events = chat.events
    else:
        document = sse.message(answer, number)
        events = sse.events
    if not asked.request.stream:
        return whole(200, document)
    headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    return Reply(200, headers, pieces(*events(document)))


def _guess(characters: int) -> int:
    return max(1, math.ceil(characters / CHARACTERS_A_TOKEN))
