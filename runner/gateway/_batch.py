"""What is said of a batch: its id, its state, its results, and what each call in it has cost."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from runner.gateway._ask import Ask
from runner.gateway.arms import BatchAsked, ProviderFailed, Reply
from runner.gateway.door import Door
from runner.gateway.exchange import SHOWN, read_whole
from runner.gateway.fields import document, listed, malformed
from runner.gateway.meter import quote
from runner.gateway.passage import Passage
from runner.gateway.pins import price_of
from runner.gateway.request import BATCHES_PATH, request_of
from runner.gateway.taps import BadReply, MessageTap
from runner.prices import ModelPrice

MOST_REQUESTS = 10_000
ONE = re.compile(r"/v1/messages/batches/(?P<id>[A-Za-z0-9_-]{1,128})(?P<what>/results|/cancel|)")


@dataclass(slots=True)
class Item:
    """One call of a batch."""

    ask: Ask
    price: ModelPrice
    worst: Decimal
    long_cache: bool


def read_batch(
    door: Door, headers: Mapping[str, str], raw: bytes, query: str
) -> tuple[dict[str, Item], BatchAsked]:
    """Read and check a batch: its calls by the client's own ids, and all of it as it is sent.

    Raises:
        Refusal: for it, or for any call in it.
    """
    body = document(raw)
    if set(body) != {"requests"}:
        raise malformed("requests: a batch has this field and no other")
    rows = listed(body["requests"], "requests")
    if not 0 < len(rows) <= MOST_REQUESTS:
        raise malformed(f"requests: from 1 to {MOST_REQUESTS}")
    door.check_open()
    items: dict[str, Item] = {}
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
        items[name] = Item(ask, price, worst, b'"ttl":"1h"' in request.plain)
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


def outcome_of(item: Item, batch_id: str, result: Any) -> tuple[str, str | None, str]:
    """Settle one call of a batch in its line: ``(outcome, error, detail)``."""
    line = item.ask.line
    line |= {"batch": batch_id, "cost_usd": Decimal(0)}
    kind = result.get("type") if isinstance(result, dict) else None
    if kind in ("errored", "canceled", "expired"):
        return "failed", f"batch_{kind}", orjson.dumps(result.get("error")).decode()[:SHOWN]
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


async def body_of(reply: Reply, most: int | None = None) -> bytes:
    """All of a reply, which is then let go of."""
    try:
        return await (read_whole(reply) if most is None else read_whole(reply, most))
    finally:
        await reply.close()


def id_of(body: bytes) -> str:
    """The id of a batch that was taken."""
    try:
        found = orjson.loads(body)["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or not ONE.fullmatch(f"{BATCHES_PATH}/{found}"):
        raise ProviderFailed("bad_reply", "the reply to a batch has no id", billed=True)
    return found


def has_ended(body: bytes) -> bool:
    """Whether a batch's state says that it has ended."""
    try:
        return bool(orjson.loads(body)["processing_status"] == "ended")
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False


def results_in(body: bytes) -> dict[str, Any]:
    """What came of each call, by the client's own id."""
    results: dict[str, Any] = {}
    for line in body.splitlines():
        try:
            row = orjson.loads(line)
            results[row["custom_id"]] = row["result"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            continue  # its call is then one nothing is known of
    return results


def rewritten(reply: Reply, body: bytes, headers: Mapping[str, str]) -> Passage:
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
