"""What is said of a batch: its id, its state, its results, and what each call in it has cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from runner.gateway._ask import Ask
from runner.gateway.arms import ProviderFailed, Reply
from runner.gateway.exchange import SHOWN, read_whole
from runner.gateway.passage import Passage
from runner.gateway.request import BATCHES_PATH
from runner.gateway.taps import BadReply, MessageTap
from runner.prices import ModelPrice

ONE = re.compile(r"/v1/messages/batches/(?P<id>[A-Za-z0-9_-]{1,128})(?P<what>/results|/cancel|)")


@dataclass(slots=True)
class Item:
    """One call of a batch."""

    ask: Ask
    price: ModelPrice
    worst: Decimal
    long_cache: bool


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
