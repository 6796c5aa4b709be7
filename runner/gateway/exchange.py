"""A call with whoever answers it: made, metered while it passes, settled whatever becomes of it."""

import asyncio
from collections.abc import Callable

import orjson

from runner.gateway import chat
from runner.gateway._ask import Ask, Deal
from runner.gateway.arms import MOST_OF_AN_ERROR, ProviderFailed, Reply
from runner.gateway.ceiling import Ceiling
from runner.gateway.passage import Passage
from runner.gateway.refusal import Refusal, chat_error_body, error_body
from runner.gateway.request import ModelRequest
from runner.gateway.sse import error_event
from runner.gateway.taps import BadReply, tap_for
from runner.model import Ending, Outcome

SHOWN = 500
"""How much of its text a line holds."""
TURNS = 2
"""Turns of the event loop from a call's outcome to its answer's way out: recording can wait."""

_CUT = ("max_tokens", "length")
"""What providers say of an answer that its limit cut short."""

Right = Callable[[ModelRequest, str | None], bool]
"""Whether the model that serves a request is the one that was asked."""


async def make(
    ask: Ask, deal: Deal, ceiling: Ceiling, gone: Callable[[], bool], right: Right
) -> None:
    """Make a call whose money is held and take its answer in; the hold is settled on every path
    out.

    Raises:
        Refusal: the call must not leave, or its client left first.
        ProviderFailed: there is no answer, or not all of one.
    """
    try:
        if gone():
            raise Refusal("client_gone", "the client left while the call waited", status=400)
        reply = ask.reply = await deal.pending.send(deal.hold.max_tokens)
        ask.came()
        ask.line["source"] = reply.source
        ask.line["request_id"] = reply.headers.get("request-id", ask.request_id)
        if reply.status != 200:
            raise await failure_of(reply)
        await _read(ask, deal.request, reply, right)
    except Refusal:
        ask.billed = False
        raise
    except ProviderFailed as failure:
        ask.billed = failure.billed
        raise
    finally:
        cost = ask.cost(deal)
        ceiling.settle(deal.hold, cost)
        ask.line |= {"cost_usd": cost, "usage": ask.usage}
        if (tap := ask.tap) is not None:
            ask.line |= {"served_model": tap.model, "stop_reason": tap.stop_reason}
            if tap.server_tools:
                ask.flags.add("server_tools")


async def _read(ask: Ask, request: ModelRequest, reply: Reply, right: Right) -> None:
    streamed = reply.content_type == "text/event-stream"
    try:
        tap = ask.tap = tap_for(request, reply)
        if streamed:
            ask.passage = Passage(200, {"request-id": ask.request_id, **reply.headers})
            ask.opened.set_result(ask.passage)
        try:
            async for chunk in reply.chunks:
                ready = tap.feed(chunk)
                if tap.model is not None and not right(request, tap.model):
                    ask.silent = True
                elif ready and ask.passage is not None and not ask.silent:
                    ask.passage.give(ready)
                if tap.done:
                    break
        finally:
            if streamed:
                ask.tail = tap.end()
        if not streamed:
            ask.tail = tap.end()
    except BadReply as problem:
        raise ProviderFailed("bad_reply", str(problem), billed=True) from problem
    if tap.error is not None:
        kind, message = tap.error
        raise ProviderFailed(f"stream_{kind}", message, billed=True)
    if not tap.done:
        raise ProviderFailed("cut", "the stream ended before the answer did", billed=True)


def judge(ask: Ask, deal: Deal, ceiling: Ceiling, right: Right) -> None:
    """Refuse what was paid for and may still not be passed on.

    Raises:
        Refusal: it cost more than its worst case, another model answered, or the money cut it.
    """
    assert ask.tap is not None
    cost, asked, hold = ask.line["cost_usd"], deal.request, deal.hold
    if ceiling.holds and cost > hold.usd:
        # The bound is wrong, so nothing holds.
        message = f"a call cost US${cost:f}, and US${hold.usd:f} was held to be its worst case"
        raise Refusal("ceiling", message, ending=incomplete(message))
    if not right(asked, ask.tap.model):
        ending = another(asked.model, ask.tap.model)
        raise Refusal("wrong_model", ending.detail, ending=ending)
    if ask.tap.stop_reason in _CUT and hold.max_tokens < asked.max_tokens:
        message = (
            f"the answer was cut at {hold.max_tokens} tokens, which is what the ceiling left"
            f" of the {asked.max_tokens} asked for"
        )
        raise Refusal("ceiling", message, ending=incomplete(message))


def incomplete(message: str) -> Ending:
    """The money does not reach."""
    return Ending(outcome=Outcome.INCOMPLETE, kind="ceiling", detail=message)


def another(asked: str, served: str | None) -> Ending:
    """Another model answered than the one that was asked."""
    message = f"asked for {asked}, served by {served}"
    return Ending(outcome=Outcome.INVALID, kind="wrong_model", detail=message)


async def hand_over(ask: Ask, problem: Exception | None) -> None:
    """Let the client have what came of its call, and then keep what is kept of it; its line is
    written."""
    tell(ask, problem)
    for _ in range(TURNS):
        await asyncio.sleep(0)
    for made in (ask.reply, problem):
        if isinstance(made, Reply | ProviderFailed):
            made.written()


def tell(ask: Ask, problem: Exception | None) -> None:
    """Let the client know how its call ended; its line is written."""
    passage = ask.passage
    if passage is None:
        if ask.opened.cancelled():
            return
        if problem is not None:
            ask.opened.set_exception(problem)
            ask.opened.exception()  # nobody may be there any more to take it
        else:
            assert ask.reply is not None
            headers = {"request-id": ask.request_id, **ask.reply.headers}
            ask.opened.set_result(Passage(200, headers, ask.tail))
        return
    match problem:
        case None:
            passage.give(ask.tail)
            passage.end()
        case Refusal():
            passage.give(_last_event(ask, problem))
            passage.end()
        case ProviderFailed():
            if not ask.silent:
                passage.give(ask.tail)
            # What the provider said in its own words is whole; what broke off must look so.
            passage.end(broken=ask.tap is None or ask.tap.error is None)
        case _:
            passage.end(broken=True)


def _last_event(ask: Ask, refusal: Refusal) -> bytes:
    if ask.path == chat.PATH:
        document = chat_error_body(refusal.status, refusal.message)
        return b"data: " + orjson.dumps(document) + b"\n\n"
    return error_event(error_body(refusal.status, refusal.message, refusal.request_id))


async def failure_of(reply: Reply) -> ProviderFailed:
    """What a reply that is no success stands for. Providers do not bill those."""
    kind = f"http_{reply.status}"
    if reply.status < 400:
        message = "the provider sends its clients elsewhere, where this gateway does not follow"
        return ProviderFailed(kind, message, billed=False)
    body = await read_whole(reply)
    failure = ProviderFailed(kind, _said(body), status=reply.status, billed=False)
    failure.headers, failure.body = dict(reply.headers), body
    return failure


async def read_whole(reply: Reply, most: int = MOST_OF_AN_ERROR) -> bytes:
    """The body of a reply that is no answer of a model; one of more than ``most`` bytes is cut."""
    body = bytearray()
    async for chunk in reply.chunks:
        body += chunk
        if len(body) > most:
            del body[most:]
            break
    return bytes(body)


def _said(body: bytes) -> str:
    """The message of an error document; the beginning of what it is when it is none."""
    try:
        document = orjson.loads(body)
        message = document["error"]["message"]
        if isinstance(message, str):
            return message[:SHOWN]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        pass
    return body[:SHOWN].decode("utf-8", "replace")
