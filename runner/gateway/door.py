"""One call, from its bytes to its line in the ledger: who may ask, what it may cost, who answers.

Knows nothing of sockets: the server hands it headers and bytes and gets a message or a refusal.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runner.gateway.arms import Answer, Arm, Pending, ProviderFailed
from runner.gateway.ceiling import Ceiling, CeilingReached, Hold
from runner.gateway.config import GatewayConfig
from runner.gateway.ledger import Ledger
from runner.gateway.meter import Meter, quote
from runner.gateway.pins import price_of
from runner.gateway.refusal import Refusal
from runner.gateway.request import ModelRequest, read_request
from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.model import Call, Ending, Outcome
from runner.prices import same_model


@dataclass(slots=True)
class _Ask:
    """One call on its way, and what its line will say."""

    request_id: str
    started: float
    line: dict[str, Any] = field(default_factory=dict)


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
        self.meter = Meter()
        self.ceiling = Ceiling(config.max_usd, config.ceiling)
        self.ending: Ending | None = None
        self._config = config
        self._wire = wire
        self._arm = arm
        self._ledger = ledger
        self._on_ended = on_ended
        self._closed = False
        self._asked = 0
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def messages(
        self,
        headers: Mapping[str, str],
        raw: bytes,
        *,
        gone: Callable[[], bool] = lambda: False,
    ) -> tuple[ModelRequest, Answer, str]:
        """Answer one model call; its line is on the disk when this returns or refuses.

        Args:
            headers: names in lower case.
            raw: the body.
            gone: whether the client has left, asked once the call's turn has come.

        Returns:
            the request as read, the answer and the request's id.

        Raises:
            Refusal: when it is not answered.
            ProviderFailed: when the provider did not.
            LedgerError: when its line could not be written; the client must get no reply.
        """
        with self._asking(raw) as ask:
            try:
                request, pending = self._take(ask, headers, raw)
                hold = await self._reserve(ask, request, pending)
                answer = await self._made(ask, request, pending, hold, gone)
            except Refusal as refusal:
                refusal.request_id = ask.request_id
                if refusal.ending is not None:
                    self.end(refusal.ending)
                await self._written(ask, "refused", refusal.kind, refusal.message)
                raise
            except ProviderFailed as failure:
                failure.request_id = ask.request_id
                ask.line["source"] = failure.source
                await self._written(ask, "failed", f"http_{failure.status}", failure.message)
                raise
            except asyncio.CancelledError:
                await self._written(ask, "failed", "cancelled")
                raise
            except Exception as problem:
                self.end(Ending(outcome=Outcome.ERRORED, kind="gateway", detail=repr(problem)))
                await self._written(ask, "failed", "gateway", repr(problem))
                raise
            await self._written(ask, "answered")
            return request, answer, ask.request_id

    async def count_tokens(self, headers: Mapping[str, str], raw: bytes) -> int:
        """Count the tokens of a call that is not made; costs nothing and leaves no line.

        Raises:
            Refusal: as for a call, but the run goes on.
        """
        self._check_open()
        request = read_request(headers, raw, counting=True)
        price_of(self._config, request.model, self._purpose(request))
        return await self._arm.count_tokens(request)

    async def refused(self, refusal: Refusal, raw: bytes = b"") -> Refusal:
        """Write a line for what is no model call, such as an unknown path; the refusal is then
        to be raised."""
        with self._asking(raw) as ask:
            refusal.request_id = ask.request_id
            await self._written(ask, "refused", refusal.kind, refusal.message)
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
            "lines": self.meter.lines,
            "calls": self.meter.answered,
            "usage": self.meter.usage.model_dump(),
            "ending": self.ending.model_dump(mode="json") if self.ending else None,
        }

    async def close(self, patience_s: float) -> None:
        """Admit nothing more and give calls in flight ``patience_s`` seconds to settle."""
        self._closed = True
        self.ceiling.shut("the gateway is closing")
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._idle.wait()

    # ------------------------------------------------------------ one call, step by step

    @contextmanager
    def _asking(self, raw: bytes) -> Iterator[_Ask]:
        self._asked += 1
        self._in_flight += 1
        self._idle.clear()
        request_id = f"req_{self._config.run}_{self._asked:06d}"
        ask = _Ask(request_id, time.monotonic())
        ask.line = {
            "seq": 0,
            "step": self.step,
            "purpose": UNATTRIBUTED,
            "requested_model": "",
            "request_id": request_id,
            "prompt_sha256": hashlib.sha256(raw).hexdigest(),
        }
        try:
            yield ask
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    def _take(
        self, ask: _Ask, headers: Mapping[str, str], raw: bytes
    ) -> tuple[ModelRequest, Pending]:
        request = read_request(headers, raw)
        purpose = self._purpose(request)
        ask.line |= {
            "purpose": purpose,
            "requested_model": request.model,
            "max_tokens_asked": request.max_tokens,
            "streamed": request.stream,
        }
        self._check_open()
        price_of(self._config, request.model, purpose)
        try:
            canonical = self._wire.canonical(headers, request.body)
            fields = self._wire.fields(purpose, request.body)
        except ValueError as problem:
            message = f"this {purpose} call is not one the system's wire knows: {problem}"
            raise Refusal("invalid_request", message, status=400) from problem
        ask.line["prompt_sha256"] = hashlib.sha256(canonical).hexdigest()
        return request, self._arm.take(request, purpose, fields)

    async def _reserve(self, ask: _Ask, request: ModelRequest, pending: Pending) -> Hold:
        price = price_of(self._config, request.model, ask.line["purpose"])
        try:
            hold = await self.ceiling.reserve(quote(request, price, pending.known))
        except CeilingReached as problem:
            self._check_open()
            message = str(problem)
            ending = Ending(outcome=Outcome.INCOMPLETE, kind="ceiling", detail=message)
            raise Refusal("ceiling", message, ending=ending) from problem
        ask.line |= {"reserved_usd": hold.usd, "max_tokens_sent": hold.max_tokens}
        return hold

    async def _made(
        self,
        ask: _Ask,
        request: ModelRequest,
        pending: Pending,
        hold: Hold,
        gone: Callable[[], bool],
    ) -> Answer:
        # Whatever breaks a call that may have been made, its worst case counts as spent.
        cost = hold.usd
        try:
            if gone():
                cost = Decimal(0)
                raise Refusal("client_gone", "the client left while the call waited", status=400)
            answer = await pending.answer(hold.max_tokens)
            cost = price_of(self._config, request.model, ask.line["purpose"]).cost(answer.usage)
        except ProviderFailed:
            cost = Decimal(0)
            raise
        finally:
            self.ceiling.settle(hold, cost)
            ask.line["cost_usd"] = cost
        ask.line |= {
            "served_model": answer.model,
            "request_id": answer.request_id or ask.request_id,
            "usage": answer.usage,
            "stop_reason": answer.stop_reason,
            "source": answer.source,
        }
        self._check_bound(cost, hold)
        if not same_model(request.model, answer.model, self._config.aliases):
            message = f"asked for {request.model}, served by {answer.model}"
            ending = Ending(outcome=Outcome.INVALID, kind="wrong_model", detail=message)
            raise Refusal("wrong_model", message, ending=ending)
        if answer.stop_reason == "max_tokens" and hold.max_tokens < request.max_tokens:
            message = (
                f"the answer was cut at {hold.max_tokens} tokens, which is what the ceiling left"
                f" of the {request.max_tokens} asked for"
            )
            ending = Ending(outcome=Outcome.INCOMPLETE, kind="ceiling", detail=message)
            raise Refusal("ceiling", message, ending=ending)
        return answer

    async def _written(
        self, ask: _Ask, outcome: str, error: str | None = None, detail: str = ""
    ) -> None:
        ask.line |= {
            "outcome": outcome,
            "error": error,
            "detail": detail,
            "latency_ms": round((time.monotonic() - ask.started) * 1000, 3),
        }
        try:
            self.meter.count(await self._ledger.append(Call.model_validate(ask.line)))
        except OSError as problem:
            self.end(Ending(outcome=Outcome.ERRORED, kind="ledger", detail=str(problem)))
            raise

    def _check_bound(self, cost: Decimal, hold: Hold) -> None:
        """A call that cost more than its worst case: the bound is wrong, so nothing holds."""
        if not self.ceiling.holds or cost <= hold.usd:
            return
        message = f"a call cost US${cost:f}, and US${hold.usd:f} was held to be its worst case"
        ending = Ending(outcome=Outcome.INCOMPLETE, kind="ceiling", detail=message)
        raise Refusal("ceiling", message, ending=ending)

    def _check_open(self) -> None:
        if self.ending is not None:
            raise Refusal("run_ended", f"the run has ended: {self.ending.detail}")
        if self._closed:
            raise Refusal("closing", "the gateway is closing")

    def _purpose(self, request: ModelRequest) -> str:
        try:
            return self._wire.purpose(request.headers, request.body)
        except ValueError:
            return UNATTRIBUTED
