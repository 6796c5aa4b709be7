"""The recording arm: a live one that hands out what was asked and what came back.

An entry leaves the gateway as a line of its own, after its call's line in the ledger, so nothing
has to be fetched out of a gateway that has stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from runner.gateway.arms import Asked, BatchAsked, Batcher, Pending, ProviderFailed, Reply
from runner.gateway.arms.live import LiveArm
from runner.gateway.cassette import KEPT_HEADERS, Entry, written
from runner.gateway.request import BATCHES_PATH
from runner.model import Usage

HandOut = Callable[[Entry], None]


class RecordArm:
    """Answers as ``live`` does.

    Args:
        live: what answers.
        hand_out: given every entry once its call's line is written.
    """

    def __init__(self, live: LiveArm, hand_out: HandOut) -> None:
        self._live = live
        self._hand_out = hand_out
        assert live.batches is not None
        self.batches: Batcher | None = _RecordedBatches(live.batches, hand_out)

    def take(self, asked: Asked) -> Pending:
        """Take a call on, to be recorded."""
        return _Recording(self._live.take(asked), asked, self._hand_out)

    async def count_tokens(self, asked: Asked) -> Reply:
        """Ask the provider, and record that too: a replay has nobody to ask."""
        return _taped(await self._live.count_tokens(asked), asked, self._hand_out)

    def totals(self) -> dict[str, Any]:
        """Nothing to add."""
        return {}

    async def close(self) -> None:
        """Let go of every connection."""
        await self._live.close()


class _Recording:
    def __init__(self, pending: Pending, asked: Asked, hand_out: HandOut) -> None:
        self._pending = pending
        self._asked = asked
        self._hand_out = hand_out

    @property
    def known(self) -> Usage | None:
        return self._pending.known

    async def send(self, max_tokens: int) -> Reply:
        try:
            reply = await self._pending.send(max_tokens)
        except ProviderFailed as failure:
            entry = _entry(self._asked, failure.status, failed=failure.kind, detail=failure.message)
            failure.written = lambda: self._hand_out(entry)
            raise
        return _taped(reply, self._asked, self._hand_out)


def _taped(reply: Reply, asked: Asked, hand_out: HandOut) -> Reply:
    """The same reply, which is handed out once its line is written."""
    tape = bytearray()
    source = reply.chunks
    broken: dict[str, Any] = {}

    async def chunks() -> AsyncIterator[bytes]:
        try:
            async for chunk in source:
                tape.extend(chunk)
                yield chunk
        except ProviderFailed as failure:
            broken.update(cut=True, failed=failure.kind, detail=failure.message)
            raise
        except asyncio.CancelledError:
            broken.update(cut=True, failed="cancelled", detail="the recording ended here")
            raise

    def done() -> None:
        body, encoding = written(bytes(tape))
        headers = {name: value for name, value in reply.headers.items() if name in KEPT_HEADERS}
        hand_out(
            _entry(asked, reply.status, headers=headers, body=body, encoding=encoding, **broken)
        )

    reply.chunks = chunks()
    reply.written = done
    return reply


def _entry(asked: Asked, status: int, **what: Any) -> Entry:
    request = asked.request
    return Entry.model_validate(
        {
            "path": request.path,
            "step": asked.step,
            "purpose": asked.purpose,
            "model": request.model,
            "stream": request.stream,
            "key": asked.key,
            "canonical": asked.canonical.decode("utf-8", "replace"),
            "status": status,
            **what,
        }
    )


@dataclass
class _Tape:
    asked: BatchAsked
    created: bytes
    ended: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class _RecordedBatches:
    """Records a batch as one entry: how it began and how it ended, not how often it was looked
    at meanwhile."""

    def __init__(self, live: Batcher, hand_out: HandOut) -> None:
        self._live = live
        self._hand_out = hand_out
        self._tapes: dict[str, _Tape] = {}

    async def create(self, batch: BatchAsked) -> Reply:
        reply = await self._live.create(batch)
        tape = bytearray()
        reply.chunks = _kept(reply.chunks, tape)

        def done() -> None:
            kept = {name: value for name, value in reply.headers.items() if name in KEPT_HEADERS}
            made = _Tape(batch, bytes(tape), headers=kept)
            if reply.status == 200:
                self._tapes[orjson.loads(tape)["id"]] = made
            else:
                self._hand_out(_batch_entry(made, reply.status))

        reply.written = done
        return reply

    async def state(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        reply = await self._live.state(batch_id, headers)
        if reply.status == 200 and (made := self._tapes.get(batch_id)):
            tape = bytearray()
            reply.chunks = _kept(reply.chunks, tape)

            def done() -> None:
                made.ended = bytes(tape)

            reply.written = done
        return reply

    async def results(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        reply = await self._live.results(batch_id, headers)
        if reply.status == 200 and (made := self._tapes.get(batch_id)):
            tape = bytearray()
            reply.chunks = _kept(reply.chunks, tape)

            def done() -> None:
                if self._tapes.pop(batch_id, None) is not None:
                    self._hand_out(_batch_entry(made, 200, tape.decode("utf-8", "replace")))

            reply.written = done
        return reply

    async def cancel(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        return await self._live.cancel(batch_id, headers)


async def _kept(source: AsyncIterator[bytes], tape: bytearray) -> AsyncIterator[bytes]:
    async for chunk in source:
        tape.extend(chunk)
        yield chunk


def _batch_entry(tape: _Tape, status: int, results: str = "") -> Entry:
    asked = tape.asked
    return Entry(
        path=BATCHES_PATH,
        step=asked.step,
        purpose=asked.purpose,
        model=asked.model,
        key=asked.key,
        canonical=asked.canonical.decode("utf-8", "replace"),
        status=status,
        headers=tape.headers,
        body=tape.created.decode("utf-8", "replace"),
        ended=tape.ended.decode("utf-8", "replace"),
        results=results,
        requests=asked.requests,
    )
