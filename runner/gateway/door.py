"""One call, from its bytes to its line in the ledger: who may ask, what it may cost, who answers.

Knows nothing of sockets: the server hands it headers and bytes and gets a passage or a refusal.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from runner.gateway import chat
from runner.gateway._ask import Ask, Deal
from runner.gateway.arms import Arm, Asked, ProviderFailed
from runner.gateway.book import Book
from runner.gateway.ceiling import Ceiling, CeilingReached, Hold, Quote
from runner.gateway.chat import read_chat
from runner.gateway.config import GatewayConfig
from runner.gateway.exchange import (
    another,
    failure_of,
    hand_over,
    incomplete,
    judge,
    make,
    read_whole,
    tell,
)
from runner.gateway.ledger import Ledger
from runner.gateway.meter import quote
from runner.gateway.passage import Passage
from runner.gateway.pins import price_of
from runner.gateway.reach import Allowed
from runner.gateway.refusal import Refusal
from runner.gateway.request import ModelRequest, read_request
from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.model import Ending, Outcome
from runner.prices import same_model

SETTLING_S = 3.0
"""How long calls that were broken off may take to write their lines."""


class Door:
    """The door of one run.

    Args:
        config: of the run.
        wire: how the system talks.
        arm: what answers.
        ledger: where every call is written before it is answered.
        on_ended: told once, when the run can no longer end well.
    """

    def __init__(
        self,
        config: GatewayConfig,
        wire: Wire,
        arm: Arm,
        ledger: Ledger,
        on_ended: Callable[[Ending], None],
    ) -> None:
        self.step = ""
        """Name of the step the run is in."""
        self.ceiling = Ceiling(config.max_usd, config.ceiling)
        self.ending: Ending | None = None
        self.config = config
        self.closing: list[Callable[[float], Awaitable[None]]] = []
        """What else is to be closed when this is, with the seconds it may take."""
        self._wire = wire
        self._arm = arm
        self._book = Book(config.run, ledger)
        self._on_ended = on_ended
        self._closed = False
        self._calls: dict[asyncio.Task[None], Ask] = {}
        self.allowed = Allowed(
            tools=frozenset(config.allow_tools),
            media=frozenset(config.allow_media),
            unbounded=not self.ceiling.holds,
        )

    async def call(
        self,
        path: str,
        headers: Mapping[str, str],
        raw: bytes,
        *,
        query: str = "",
        gone: Callable[[], bool] = lambda: False,
    ) -> Passage:
        """Answer one model call; its line is on the disk before its answer is whole.

        Once a call is made it goes on to its end, whether or not the client waits for it: what
        the provider writes is paid.

        Args:
            path: where it was sent: ``/v1/messages`` or ``/v1/chat/completions``.
            headers: names in lower case.
            raw: the body.
            query: what followed the path.
            gone: whether the client has left, asked once the call's turn has come.

        Raises:
            Refusal: when it is not answered.
            ProviderFailed: when the provider did not.
            LedgerError: when its line could not be written; the client must get no reply.
        """
        ask = self.enter(raw, path, query)
        task = asyncio.create_task(self._run(ask, headers, raw, gone))
        self._calls[task] = ask
        task.add_done_callback(self._calls.pop)
        try:
            return await asyncio.shield(ask.opened)
        except asyncio.CancelledError:
            if ask.waiting and not ask.decided:  # it still waits for its turn, and for nobody
                task.cancel()
            raise

    async def count_tokens(
        self, headers: Mapping[str, str], raw: bytes, query: str = ""
    ) -> Passage:
        """Count the tokens of a call that is not made; costs nothing and leaves no line.

        Raises:
            Refusal: as for a call, but the run goes on.
            ProviderFailed: when the provider did not answer.
        """
        self.check_open()
        request = read_request(headers, raw, counting=True, allowed=self.allowed)
        purpose = self.purpose(request)
        price_of(self.config, request.model, purpose)
        asked = Asked(request, purpose, self.step, self.canonical(request), query)
        reply = await self._arm.count_tokens(asked)
        try:
            if reply.status != 200:
                raise await failure_of(reply)
            return Passage(200, reply.headers, await read_whole(reply))
        finally:
            await reply.close()
            reply.written()

    async def refused(self, refusal: Refusal, raw: bytes = b"") -> Refusal:
        """Write a line for what is no model call, such as an unknown path; the refusal is then
        to be raised."""
        ask = self.enter(raw)
        refusal.request_id = ask.request_id
        await self.write(ask, "refused", refusal.kind, refusal.message)
        return refusal

    def end(self, ending: Ending) -> None:
        """The run can no longer end well; nothing more is admitted. The first cause counts."""
        if self.ending is None:
            self.ending = ending
            self.ceiling.shut(f"the run has ended: {ending.kind}")
            self._on_ended(ending)

    def totals(self) -> dict[str, Any]:
        """What the run has cost so far."""
        return {
            "settled_usd": str(self.ceiling.settled),
            "reserved_usd": str(self.ceiling.reserved),
            "lines": self._book.meter.lines,
            "calls": self._book.meter.answered,
            "usage": self._book.meter.usage.model_dump(),
            "ending": self.ending.model_dump(mode="json") if self.ending else None,
            **self._arm.totals(),
        }

    async def close(self, patience_s: float) -> None:
        """Admit nothing more and give calls in flight ``patience_s`` seconds to settle; those
        that do not are broken off and charged with what they may have cost."""
        self._closed = True
        self.ceiling.shut("the gateway is closing")
        await asyncio.gather(
            asyncio.wait([*self._calls, asyncio.create_task(asyncio.sleep(0))], timeout=patience_s),
            *(close(patience_s) for close in self.closing),
        )
        for task, ask in self._calls.items():
            if not ask.decided:  # else its line is being written
                task.cancel()
        if self._calls:
            await asyncio.wait(self._calls, timeout=SETTLING_S)

    # ------------------------------------------------------------ shared with batches

    def check_open(self) -> None:
        """Refuse what comes after the end."""
        if self.ending is not None:
            raise Refusal("run_ended", f"the run has ended: {self.ending.detail}")
        if self._closed:
            raise Refusal("closing", "the gateway is closing")

    def purpose(self, request: ModelRequest) -> str:
        """What the system made a call for."""
        try:
            return self._wire.purpose(request.headers, request.body)
        except ValueError:
            return UNATTRIBUTED

    def canonical(self, request: ModelRequest) -> bytes:
        """A call without what differs from one to the next; all of it where the wire does not
        know it."""
        try:
            return self._wire.canonical(request.headers, request.body)
        except ValueError:
            return orjson.dumps(request.body, option=orjson.OPT_SORT_KEYS)

    def enter(self, raw: bytes, path: str = "", query: str = "") -> Ask:
        """Begin a line."""
        return self._book.enter(self.step, raw, path, query)

    async def write(self, ask: Ask, outcome: str, error: str | None, detail: str) -> None:
        """Put a line on the disk.

        Raises:
            LedgerError: it is not there; the run has ended.
        """
        try:
            await self._book.write(ask, outcome, error, detail)
        except OSError as problem:
            self.end(Ending(outcome=Outcome.ERRORED, kind="ledger", detail=str(problem)))
            raise

    # ------------------------------------------------------------ one call, step by step

    async def _run(
        self,
        ask: Ask,
        headers: Mapping[str, str],
        raw: bytes,
        gone: Callable[[], bool],
    ) -> None:
        problem: Exception | None = None
        outcome: tuple[str, str | None, str] = ("answered", None, "")
        try:
            deal = await self._deal(ask, headers, raw)
            await make(ask, deal, self.ceiling, gone, self._right)
            judge(ask, deal, self.ceiling, self._right)
        except Refusal as refusal:
            if refusal.ending is not None:
                self.end(refusal.ending)
            refusal.request_id = ask.request_id
            problem, outcome = refusal, ("refused", refusal.kind, refusal.message)
        except ProviderFailed as failure:
            failure.request_id = ask.request_id
            if ask.tap is not None and ask.silent:
                self.end(another(ask.line["requested_model"], ask.tap.model))
            problem, outcome = failure, ("failed", failure.kind, failure.message)
        except asyncio.CancelledError:
            problem = ProviderFailed("cancelled", "the call was broken off", billed=True)
            outcome = ("failed", "cancelled", "")
        except Exception as bug:
            self.end(Ending(outcome=Outcome.ERRORED, kind="gateway", detail=repr(bug)))
            problem, outcome = bug, ("failed", "gateway", repr(bug))
        ask.decided = True
        try:
            await self.write(ask, *outcome)
        except OSError as unwritten:
            tell(ask, unwritten)
        else:
            await hand_over(ask, problem)
        if ask.reply is not None:
            await ask.reply.close()

    async def _deal(self, ask: Ask, headers: Mapping[str, str], raw: bytes) -> Deal:
        """Read a call, find who answers it, and set its money aside."""
        read = read_chat if ask.path == chat.PATH else read_request
        request = read(headers, raw, allowed=self.allowed)
        purpose = self.purpose(request)
        ask.line |= {
            "purpose": purpose,
            "requested_model": request.model,
            "max_tokens_asked": request.max_tokens,
            "streamed": request.stream,
        }
        self.check_open()
        price = price_of(self.config, request.model, purpose)
        canonical = self.canonical(request)
        ask.line["prompt_sha256"] = hashlib.sha256(canonical).hexdigest()
        pending = self._arm.take(Asked(request, purpose, self.step, canonical, ask.query))
        worst = quote(request, price, pending.known)
        hold = await self.hold(worst)
        ask.waiting = False
        ask.line |= {"reserved_usd": hold.usd, "max_tokens_sent": hold.max_tokens}
        if hold.max_tokens < request.max_tokens:
            ask.flags.add("lowered")
        return Deal(request, pending, price, worst, hold)

    async def hold(self, worst: Quote) -> Hold:
        """Set money aside.

        Raises:
            Refusal: there is not enough, and the run ends with it.
        """
        try:
            return await self.ceiling.reserve(worst)
        except CeilingReached as problem:
            self.check_open()
            message = str(problem)
            raise Refusal("ceiling", message, ending=incomplete(message)) from problem

    def _right(self, request: ModelRequest, served: str | None) -> bool:
        return served is not None and same_model(request.model, served, self.config.aliases)
