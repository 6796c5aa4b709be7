"""Batches of model calls: held at their worst case when they are handed in, followed to their end
by the gateway itself, and settled call by call at the batch price.

A client sees a batch as ended only once its lines are in the ledger. When the run ends first, the
batch is cancelled, followed to its end and settled all the same.
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson

from runner.gateway._ask import Ask
from runner.gateway.arms import BatchAsked, Batcher, ProviderFailed, Reply
from runner.gateway.ceiling import Hold, Quote
from runner.gateway.door import Door
from runner.gateway.exchange import failure_of, read_whole
from runner.gateway.fields import document, listed, malformed
from runner.gateway.ledger import LedgerError
from runner.gateway.meter import quote
from runner.gateway.passage import Passage
from runner.gateway.pins import price_of
from runner.gateway.refusal import Refusal
from runner.gateway.request import BATCHES_PATH, request_of
from runner.gateway.taps import BadReply, MessageTap
from runner.model import Ending, Outcome
from runner.prices import ModelPrice, same_model

MOST_REQUESTS = 10_000
MOST_RESULTS_BYTES = 512 << 20
FIRST_LOOK_S = 0.25
"""How soon a batch is looked at; then ever more rarely."""
LAST_LOOK_S = 10.0
"""How rarely at most."""

_ONE = re.compile(r"/v1/messages/batches/(?P<id>[A-Za-z0-9_-]{1,128})(?P<what>/results|/cancel|)")


@dataclass(slots=True)
class _Item:
    """One call of a batch."""

    ask: Ask
    price: ModelPrice
    worst: Decimal
    long_cache: bool


@dataclass(slots=True)
class _Batch:
    id: str
    items: dict[str, _Item]
    hold: Hold
    headers: Mapping[str, str]
    settled: asyncio.Future[None]
    follower: asyncio.Task[None] | None = None
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is worth looking at once."""


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
            return await self._create(self._arm, headers, raw, query)
        found = _ONE.fullmatch(path)
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
                return Passage(reply.status, reply.headers, await _body(reply, MOST_RESULTS_BYTES))
            case "POST", "/cancel":
                reply = await self._arm.cancel(batch.id, headers)
                batch.hurry.set()
                return _rewritten(reply, await _body(reply), headers)
            case _:
                return None

    async def close(self, patience_s: float) -> None:
        """Cancel what has not ended and settle everything."""
        self._closing = True
        open_ = [batch for batch in self._batches.values() if not batch.settled.done()]
        if not open_:
            return
        assert self._arm is not None
        for batch in open_:
            with suppress(ProviderFailed, Refusal):
                await _body(await self._arm.cancel(batch.id, batch.headers))
            batch.hurry.set()
        followers = [batch.follower for batch in open_ if batch.follower is not None]
        await asyncio.wait(followers, timeout=patience_s)
        for follower in followers:
            follower.cancel()
        await asyncio.wait(followers, timeout=patience_s)

    # ------------------------------------------------------------ handing one in

    async def _create(
        self, arm: Batcher, headers: Mapping[str, str], raw: bytes, query: str
    ) -> Passage:
        door = self._door
        whole = door.enter(raw, BATCHES_PATH, query)
        hold: Hold | None = None
        spent = Decimal(0)
        try:
            items, asked = self._read(headers, raw, query)
            total = sum((item.worst for item in items.values()), Decimal(0))
            hold = await door.hold(Quote(total, Decimal(0), 0, 0))
            spent = total
            reply = await arm.create(asked)
            if reply.status != 200:
                spent = Decimal(0)
                failure = await failure_of(reply)
                failure.written = reply.written
                raise failure
            body = await _body(reply)
            batch_id = _id_of(body)
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
        except BaseException as problem:
            await self._failed(whole, hold, spent, "failed", "gateway", repr(problem))
            raise
        reply.written()
        batch = _Batch(batch_id, items, hold, headers, asyncio.get_running_loop().create_future())
        self._batches[batch_id] = batch
        batch.follower = asyncio.create_task(self._follow(arm, batch))
        return _rewritten(reply, body, headers)

    def _read(
        self, headers: Mapping[str, str], raw: bytes, query: str
    ) -> tuple[dict[str, _Item], BatchAsked]:
        door = self._door
        body = document(raw)
        if set(body) != {"requests"}:
            raise malformed("requests: a batch has this field and no other")
        rows = listed(body["requests"], "requests")
        if not 0 < len(rows) <= MOST_REQUESTS:
            raise malformed(f"requests: from 1 to {MOST_REQUESTS}")
        door.check_open()
        items: dict[str, _Item] = {}
        canonicals: list[bytes] = []
        for row in rows:
            name, params = row.get("custom_id"), row.get("params")
            if not isinstance(name, str) or not isinstance(params, dict) or len(row) != 2:
                raise malformed("requests: each is a custom_id and params")
            if name in items:
                raise malformed(f"requests: {name!r} is there twice")
            request = request_of(headers, params, len(orjson.dumps(params)), allowed=door.allowed)
            if request.stream:
                raise malformed("requests: a batch does not stream")
            purpose = door.purpose(request)
            price = price_of(door.config, request.model, purpose)
            canonical = door.canonical(request)
            canonicals.append(canonical)
            bound = quote(request, price, None)
            worst = bound.worst(request.max_tokens) * price.batch
            ask = door.enter(b"", BATCHES_PATH)
            ask.line |= {
                "purpose": purpose,
                "requested_model": request.model,
                "max_tokens_asked": request.max_tokens,
                "max_tokens_sent": request.max_tokens,
                "prompt_sha256": hashlib.sha256(canonical).hexdigest(),
                "reserved_usd": worst if door.ceiling.mode == "reserved" else Decimal(0),
            }
            items[name] = _Item(ask, price, worst, b'"ttl":"1h"' in request.plain)
        first = next(iter(items.values())).ask.line
        return items, BatchAsked(
            headers=headers,
            query=query,
            body=orjson.dumps(body),
            requests=tuple(items),
            canonical=b"\n".join(canonicals),
            purpose=first["purpose"],
            model=first["requested_model"],
            step=door.step,
        )

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

    async def _follow(self, arm: Batcher, batch: _Batch) -> None:
        results: dict[str, Any] = {}
        done: list[Reply] = []
        try:
            wait_s = FIRST_LOOK_S
            while True:
                with suppress(ProviderFailed):
                    state = await arm.state(batch.id, batch.headers)
                    body = await _body(state)
                    if state.status == 200 and _ended(body):
                        state.written()
                        reply = await arm.results(batch.id, batch.headers)
                        if reply.status == 200:
                            results = _results(await _body(reply, MOST_RESULTS_BYTES))
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
        lines = [
            (item, *_outcome(item, batch.id, results.get(name)))
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
        body = await _body(reply)
        if reply.status == 200 and _ended(body):
            batch.hurry.set()
            await asyncio.shield(batch.settled)
        return _rewritten(reply, body, headers)


def _outcome(item: _Item, batch_id: str, result: Any) -> tuple[str, str | None, str]:
    """Settle one call of a batch in its line: ``(outcome, error, detail)``."""
    line = item.ask.line
    line |= {"batch": batch_id, "cost_usd": Decimal(0)}
    kind = result.get("type") if isinstance(result, dict) else None
    if kind in ("errored", "canceled", "expired"):
        return "failed", f"batch_{kind}", orjson.dumps(result.get("error")).decode()[:500]
    tap = MessageTap(item.long_cache)
    try:
        if kind != "succeeded":
            raise BadReply("what came of it is not known")
        tap.feed(orjson.dumps(result.get("message")))
        tap.end()
    except BadReply as problem:
        item.ask.flags.add("no_usage")
        line["cost_usd"] = item.worst
        return "failed", "batch_unknown", str(problem)
    line |= {"served_model": tap.model, "stop_reason": tap.stop_reason}
    if tap.usage is None:
        item.ask.flags.add("no_usage")
        line["cost_usd"] = item.worst
    else:
        line |= {"usage": tap.usage, "cost_usd": item.price.cost(tap.usage, batch=True)}
    if tap.server_tools:
        item.ask.flags.add("server_tools")
    return "answered", None, ""


async def _body(reply: Reply, most: int | None = None) -> bytes:
    try:
        return await (read_whole(reply) if most is None else read_whole(reply, most))
    finally:
        await reply.close()


def _id_of(body: bytes) -> str:
    try:
        found = orjson.loads(body)["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or not _ONE.fullmatch(f"{BATCHES_PATH}/{found}"):
        raise ProviderFailed("bad_reply", "the reply to a batch has no id", billed=True)
    return found


def _ended(body: bytes) -> bool:
    try:
        return bool(orjson.loads(body)["processing_status"] == "ended")
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False


def _results(body: bytes) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for line in body.splitlines():
        try:
            row = orjson.loads(line)
            results[row["custom_id"]] = row["result"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            continue  # its call is then one nothing is known of
    return results


def _rewritten(reply: Reply, body: bytes, headers: Mapping[str, str]) -> Passage:
    """A batch as the client may see it: its results lie behind the door, not at the provider."""
    if reply.status == 200:
        try:
            seen = orjson.loads(body)
            if seen.get("results_url"):
                host = headers.get("host", "127.0.0.1")
                seen["results_url"] = f"http://{host}{BATCHES_PATH}/{seen['id']}/results"
                body = orjson.dumps(seen)
        except (orjson.JSONDecodeError, AttributeError, KeyError):
            pass
    return Passage(reply.status, reply.headers, body)
