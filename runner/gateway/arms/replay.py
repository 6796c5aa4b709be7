"""The replaying arm: answers out of a recording, without a network.

A call is answered by what was recorded for the same canonical request, in the order it was
recorded. One that was never recorded ends the run: it is another run than the recorded one.
"""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping
from difflib import SequenceMatcher
from typing import Any

import orjson

from runner.gateway.answer import Answer
from runner.gateway.arms import Asked, BatchAsked, Batcher, Pending, ProviderFailed, Reply, pieces
from runner.gateway.arms.scripted import written
from runner.gateway.cassette import Entry, difference
from runner.gateway.events import Splitter
from runner.gateway.refusal import Refusal
from runner.gateway.request import BATCHES_PATH, ModelRequest
from runner.gateway.taps import MAX_REPLY_BYTES, BadReply, Tap, tap_for
from runner.model import Ending, Outcome, Usage

NEVER_SENT = ("connect", "proxy")
"""Failures of a call that no provider saw, so that it costs nothing in a replay either."""
_COMPARED = 4000
"""How much of a request is compared to find the nearest one."""


class ReplayArm:
    """Answers with ``entries``, one after another where several are of the same request."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        self._recorded: dict[str, deque[int]] = defaultdict(deque)
        for number, entry in enumerate(entries):
            self._recorded[entry.key].append(number)
        self._unused = set(range(len(entries)))
        self.batches: Batcher | None = _ReplayedBatches(self)

    def take(self, asked: Asked) -> Pending:
        """The next recording of the same request.

        Raises:
            Refusal: there is none, or none any more; the run is invalid.
        """
        number = self.find(asked.key, asked.request.path, asked.purpose, asked.canonical)
        return _Recorded(self._entries[number], number, asked)

    async def count_tokens(self, asked: Asked) -> Reply:
        """As it was recorded."""
        return await self.take(asked).send(0)

    def totals(self) -> dict[str, Any]:
        """What was recorded and not asked for again."""
        return {
            "unused": [
                {"number": number, "step": entry.step, "purpose": entry.purpose, "key": entry.key}
                for number, entry in enumerate(self._entries)
                if number in self._unused
            ]
        }

    async def close(self) -> None:
        """There is nothing to let go of."""

    def entry(self, number: int) -> Entry:
        """An entry by its place in the recording."""
        return self._entries[number]

    def find(self, key: str, path: str, purpose: str, canonical: bytes) -> int:
        """The next recording under ``key``, which is then used."""
        waiting = self._recorded.get(key)
        if not waiting:
            message = self._missing(key, path, purpose, canonical.decode("utf-8", "replace"))
            ending = Ending(outcome=Outcome.INVALID, kind="cassette_missing", detail=message)
            raise Refusal("cassette_missing", message, ending=ending)
        number = waiting.popleft()
        self._unused.discard(number)
        return number

    def _missing(self, key: str, path: str, purpose: str, canonical: str) -> str:
        times = sum(entry.key == key for entry in self._entries)
        if times:
            return f"this {purpose} call was recorded {times} times, and is asked once more"

        def likeness(entry: Entry) -> tuple[bool, bool, float]:
            match = SequenceMatcher(
                None, entry.canonical[-_COMPARED:], canonical[-_COMPARED:], autojunk=True
            )
            return entry.path == path, entry.purpose == purpose, match.quick_ratio()

        nearest = max(self._entries, key=likeness, default=None)
        if nearest is None:
            return f"this {purpose} call was never recorded: the cassette holds none of this run"
        shown = difference(nearest.canonical, canonical)
        if not shown:
            shown = "the same request, wanted whole or as a stream where it was recorded otherwise"
        number = self._entries.index(nearest)
        return f"this {purpose} call was never recorded; nearest is number {number}:\n{shown}"


class _Recorded:
    def __init__(self, entry: Entry, number: int, asked: Asked) -> None:
        self._entry = entry
        self._number = number
        self._asked = asked
        self._tap = _metered(asked.request, entry)

    @property
    def known(self) -> Usage | None:
        return None  # as when it was recorded, so that the same is set aside

    async def send(self, max_tokens: int) -> Reply:
        entry = self._entry
        if entry.failed and not entry.cut:
            raise _failure(entry)
        tap = self._tap
        if tap is not None and tap.usage is not None and max_tokens < tap.usage.output:
            # The money was not as short when it was recorded: this is how it would have ended.
            cut = tap.usage.model_copy(update={"output": max_tokens})
            answer = Answer("", cut, tap.model or "", "max_tokens")
            reply = written(answer, self._asked, f"{self._number:06d}")
        else:
            reply = Reply(entry.status, dict(entry.headers), _chunks(entry))
        reply.source = f"cassette:{self._number}"
        return reply


def _metered(request: ModelRequest, entry: Entry) -> Tap | None:
    """What the recorded reply says of itself; none where it is no answer."""
    if entry.status != 200 or entry.failed:
        return None
    try:
        tap = tap_for(request, Reply(entry.status, entry.headers, pieces()))
        tap.feed(entry.content)
        tap.end()
    except BadReply:
        return None
    return tap


async def _chunks(entry: Entry) -> AsyncIterator[bytes]:
    if entry.stream:
        splitter = Splitter(MAX_REPLY_BYTES)
        for event in splitter.feed(entry.content):
            yield event.raw
        if splitter.rest:
            yield splitter.rest
    else:
        yield entry.content
    if entry.cut:
        raise _failure(entry)


def _failure(entry: Entry) -> ProviderFailed:
    billed = entry.failed not in NEVER_SENT
    status = 504 if entry.failed == "timeout" else 502
    return ProviderFailed(entry.failed, entry.detail, status=status, billed=billed)


class _ReplayedBatches:
    """Batches that have ended as soon as they are looked at."""

    def __init__(self, arm: ReplayArm) -> None:
        self._arm = arm
        self._batches: dict[str, tuple[Entry, dict[str, str]]] = {}

    async def create(self, batch: BatchAsked) -> Reply:
        number = self._arm.find(batch.key, BATCHES_PATH, batch.purpose, batch.canonical)
        entry = self._arm.entry(number)
        if entry.status == 200:
            # Ids are the client's own and may differ; the order of the requests does not.
            ids = dict(zip(entry.requests, batch.requests, strict=True))
            self._batches[orjson.loads(entry.body)["id"]] = entry, ids
        return Reply(entry.status, dict(entry.headers), pieces(entry.content), f"cassette:{number}")

    async def state(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        entry, _ = self._batches[batch_id]
        return Reply(200, {"content-type": "application/json"}, pieces(entry.ended.encode()))

    async def results(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        entry, ids = self._batches[batch_id]
        lines = [orjson.loads(line) for line in entry.results.splitlines() if line]
        body = b"".join(
            orjson.dumps({**line, "custom_id": ids[line["custom_id"]]}) + b"\n" for line in lines
        )
        return Reply(200, {"content-type": "application/x-jsonl"}, pieces(body))

    async def cancel(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        return await self.state(batch_id, headers)
