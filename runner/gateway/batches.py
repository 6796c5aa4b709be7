"""Batches of model calls: held at their worst case when they are handed in, followed to their end
by the gateway itself, and settled call by call at the batch price.

A client sees a batch as ended only once its lines are in the ledger. When the run ends first, the
batch is cancelled, followed to its end and settled all the same.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runner.gateway._ask import Ask
from runner.gateway._batch import (
    ONE,
    Item,
    body_of,
    has_ended,
    id_of,
    outcome_of,
    read_batch,
    results_in,
    rewritten,
)
from runner.gateway.arms import Batcher, ProviderFailed, Reply
from runner.gateway.ceiling import Hold, Quote
from runner.gateway.door import Door
from runner.gateway.exchange import failure_of
from runner.gateway.ledger import LedgerError
from runner.gateway.passage import Passage
from runner.gateway.refusal import Refusal
from runner.gateway.request import BATCHES_PATH
from runner.model import Ending, Outcome
from runner.prices import same_model

MOST_RESULTS_BYTES = 512 << 20
FIRST_LOOK_S = 0.25
"""How soon a batch is looked at; then ever more rarely."""
SETTLING_S = 3.0
"""How long batches that were broken off may take to write their lines."""
LAST_LOOK_S = 10.0
"""How rarely at most."""


@dataclass(slots=True)
class _Batch:
    id: str
    arm: Batcher
    items: dict[str, Item]
    hold: Hold
    headers: Mapping[str, str]
    settled: asyncio.Future[None]
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is worth looking at once."""
    decided: bool = False
    """Whether its outcome is known, and only its lines are still to be written."""
    follower: "asyncio.Task[None]" = field(init=False)


class Batches:
    """The batches of one run.

    Args:
        door: whose money and ledger they use.
        arm: what answers them; none where nothing does.
    """

    def __init__(self, door: Door, arm: Batcher | None) -> None:
        self._door = door
        self._arm = arm
        self._batches: dict[str, _Batch] = {}
        self._handing_in: set[asyncio.Task[Passage]] = set()
        self._closing = False
        door.closing.append(self.close)

    async def answer(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes, query: str
    ) -> Passage | None:
        """Answer a request about batches; none where it is no such request.

        Raises:
            Refusal, ProviderFailed, LedgerError: as for a single call.
        """
        if self._arm is None:
            return None
        if (method, path) == ("POST", BATCHES_PATH):
            task = asyncio.create_task(self._create(self._arm, headers, raw, query))
            self._handing_in.add(task)
            task.add_done_callback(self._handing_in.discard)
            # Once it is handed in it goes on, whether or not its client waits.
            return await asyncio.shield(task)
        found = ONE.fullmatch(path)
        if found is None:
            return None
        batch = self._batches.get(found["id"])
        if batch is None:
            # Other batches of the same account are none of this run's business.
            missing = Refusal("unknown_batch", "this run has no such batch", status=404)
            raise await self._door.refused(missing)
        match method, found["what"]:
            case "GET", "":
                return await self._state(self._arm, batch, headers)
            case "GET", "/results":
                await asyncio.shield(batch.settled)
                reply = await self._arm.results(batch.id, headers)
                return Passage(
                    reply.status, reply.headers, await body_of(reply, MOST_RESULTS_BYTES)
                )
            case "POST", "/cancel":
                reply = await self._arm.cancel(batch.id, headers)
                batch.hurry.set()
                return rewritten(reply, await body_of(reply), headers)
            case _:
                return None

    async def close(self, patience_s: float) -> None:
        """Cancel what has not ended and settle everything, within ``patience_s`` seconds; what is
        not known by then counts at its worst."""
        self._closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._end_all()
        late = [*self._handing_in, *(batch.follower for batch in self._open() if not batch.decided)]
        for task in late:
            task.cancel()
        if last := [*late, *(batch.follower for batch in self._open())]:
            await asyncio.wait(last, timeout=SETTLING_S)

    async def _end_all(self) -> None:
        if self._handing_in:
            await asyncio.wait(self._handing_in)
        for batch in self._open():
            with suppress(ProviderFailed, Refusal):
                await body_of(await batch.arm.cancel(batch.id, batch.headers))
            batch.hurry.set()
        if followers := [batch.follower for batch in self._open()]:
            await asyncio.wait(followers)

    def _open(self) -> list["_Batch"]:
        return [batch for batch in self._batches.values() if not batch.settled.done()]

    # ------------------------------------------------------------ handing one in

    async def _create(
        self, arm: Batcher, headers: Mapping[str, str], raw: bytes, query: str
    ) -> Passage:
        door = self._door
        whole = door.enter(raw, BATCHES_PATH, query)
        hold: Hold | None = None
        spent = Decimal(0)
        try:
            items, asked = read_batch(door, headers, raw, query)
            total = sum((item.worst for item in items.values()), Decimal(0))
            hold = await door.hold(Quote(total, Decimal(0), 0, 0))
            spent = total
            reply = await arm.create(asked)
            if reply.status != 200:
                spent = Decimal(0)
                failure = await failure_of(reply)
                failure.written = reply.written
                raise failure
            body = await body_of(reply)
            batch_id = id_of(body)
        except Refusal as refusal:
            spent = Decimal(0)
            if refusal.ending is not None:
                door.end(refusal.ending)
            refusal.request_id = whole.request_id
            await self._failed(whole, hold, spent, "refused", refusal.kind, refusal.message)
            raise
        except ProviderFailed as failure:
            spent = spent if failure.billed else Decimal(0)
            failure.request_id = whole.request_id
            await self._failed(whole, hold, spent, "failed", failure.kind, failure.message)
            failure.written()
            raise
        except asyncio.CancelledError:
            await self._failed(whole, hold, spent, "failed", "cancelled", "")
            raise ProviderFailed("cancelled", "the batch was broken off", billed=True) from None
        except Exception as bug:
            door.end(Ending(outcome=Outcome.ERRORED, kind="gateway", detail=repr(bug)))
            await self._failed(whole, hold, spent, "failed", "gateway", repr(bug))
            raise
        reply.written()
        batch = _Batch(
            batch_id, arm, items, hold, headers, asyncio.get_running_loop().create_future()
        )
        self._batches[batch_id] = batch
        batch.follower = asyncio.create_task(self._follow(batch))
        return rewritten(reply, body, headers)

    async def _failed(
        self, whole: Ask, hold: Hold | None, spent: Decimal, outcome: str, kind: str, detail: str
    ) -> None:
        """A batch that was not taken is one line."""
        if hold is not None:
            self._door.ceiling.settle(hold, spent)
            whole.line |= {"cost_usd": spent, "reserved_usd": hold.usd}
        if spent:
            whole.flags.add("no_usage")
        await self._door.write(whole, outcome, kind, detail)

    # ------------------------------------------------------------ following it

    async def _follow(self, batch: _Batch) -> None:
        results: dict[str, Any] = {}
        done: list[Reply] = []
        try:
            wait_s = FIRST_LOOK_S
            while True:
                with suppress(ProviderFailed):
                    state = await batch.arm.state(batch.id, batch.headers)
                    body = await body_of(state)
                    if state.status == 200 and has_ended(body):
                        state.written()
                        reply = await batch.arm.results(batch.id, batch.headers)
                        if reply.status == 200:
                            results = results_in(await body_of(reply, MOST_RESULTS_BYTES))
                            done.append(reply)
                            break
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await batch.hurry.wait()
                batch.hurry.clear()
                wait_s = FIRST_LOOK_S if self._closing else min(wait_s * 1.5, LAST_LOOK_S)
        except (asyncio.CancelledError, Refusal, ProviderFailed):
            results = {}  # unknown: every call counts at its worst
        except Exception as bug:
            results = {}
            self._door.end(Ending(outcome=Outcome.ERRORED, kind="gateway", detail=repr(bug)))
        await self._settle(batch, results, done)

    async def _settle(self, batch: _Batch, results: dict[str, Any], done: list[Reply]) -> None:
        door = self._door
        batch.decided = True
        lines = [
            (item, *outcome_of(item, batch.id, results.get(name)))
            for name, item in batch.items.items()
        ]
        total = sum((item.ask.line["cost_usd"] for item, *_ in lines), Decimal(0))
        door.ceiling.settle(batch.hold, total)
        for item, *_ in lines:
            asked, served = item.ask.line["requested_model"], item.ask.line.get("served_model")
            if served and not same_model(asked, served, door.config.aliases):
                message = f"asked for {asked}, served by {served}, in a batch"
                door.end(Ending(outcome=Outcome.INVALID, kind="wrong_model", detail=message))
        if door.ceiling.holds and total > batch.hold.usd:
            message = f"a batch cost US${total:f}, and US${batch.hold.usd:f} was its worst case"
            door.end(Ending(outcome=Outcome.INCOMPLETE, kind="ceiling", detail=message))
        try:
            for item, outcome, error, detail in lines:
                await door.write(item.ask, outcome, error, detail)
        except LedgerError as problem:
            batch.settled.set_exception(problem)
            batch.settled.exception()
            return
        for reply in done:
            reply.written()
        batch.settled.set_result(None)

    async def _state(self, arm: Batcher, batch: _Batch, headers: Mapping[str, str]) -> Passage:
        reply = await arm.state(batch.id, headers)
        body = await body_of(reply)
        if reply.status == 200 and has_ended(body):
            batch.hurry.set()
            await asyncio.shield(batch.settled)
        return rewritten(reply, body, headers)
