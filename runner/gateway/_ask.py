"""One call on its way through the door: what is known of it so far."""

import asyncio
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runner.gateway.arms import Pending, Reply
from runner.gateway.ceiling import Hold, Quote
from runner.gateway.passage import Passage
from runner.gateway.request import ModelRequest
from runner.gateway.taps import Tap
from runner.model import Usage
from runner.prices import ModelPrice


@dataclass(frozen=True, slots=True)
class Deal:
    """A call that may be made: what it asks, who answers it, and what was set aside for it."""

    request: ModelRequest
    pending: Pending
    price: ModelPrice
    quote: Quote
    hold: Hold

    @property
    def worst(self) -> Decimal:
        """US dollars at most, whether or not a ceiling set them aside."""
        return self.quote.worst(self.hold.max_tokens)


@dataclass(slots=True)
class Ask:
    """One call, and what its line will say."""

    request_id: str
    path: str
    query: str
    started: float
    opened: "asyncio.Future[Passage]"
    """Done when the client can be told something."""
    raw: bytes
    """The call's body; what its line names a call by that could not be read."""
    line: dict[str, Any] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    reply: Reply | None = None
    tap: Tap | None = None
    waiting: bool = True
    """Whether it waits for its turn: until then it can be given up at no cost."""
    decided: bool = False
    """Whether its outcome is known, and only its line is still to be written."""
    billed: bool = True
    """Whether the provider may have taken the call."""
    silent: bool = False
    """Whether nothing more of the answer may be passed on."""
    passage: Passage | None = None
    """Where a stream is passed on, once it has begun."""
    tail: bytes = b""
    """What is passed on only when the line is written."""

    def came(self) -> None:
        """A piece of the answer came."""
        if "first_byte_ms" not in self.line:
            self.line["first_byte_ms"] = self.elapsed_ms()

    def elapsed_ms(self) -> float:
        """Since the call arrived."""
        return round((time.monotonic() - self.started) * 1000, 3)

    def cost(self, deal: Deal) -> Decimal:
        """What the call counts as, in US dollars: measured where it can be, else the worst that
        can be true after what was seen of it; flags say which."""
        if not self.billed:
            return Decimal(0)
        tap = self.tap
        if tap is None or tap.usage is None:
            self.flags.add("no_usage")
            return deal.worst
        if tap.measured:
            return deal.price.cost(tap.usage)
        self.flags.add("no_usage" if tap.done else "broken")
        seen = deal.price.cost(tap.usage.model_copy(update={"output": 0}))
        return min(deal.worst, seen + deal.hold.max_tokens * deal.quote.token_usd)

    @property
    def usage(self) -> Usage:
        """Tokens, as far as the provider told them."""
        return (self.tap.usage if self.tap else None) or Usage()
