"""A ceiling that holds: each call's worst case is set aside before the call is made.

What is settled plus what is set aside never passes the ceiling, in whatever order calls come,
end and break. A call that does not fit waits, first come first served, for those in flight to
settle; when none is left and it still does not fit, its ``max_tokens`` is lowered to what the
money buys, and when not even its least fits, nothing more is admitted.
"""

import asyncio
from collections import deque
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Literal

LEAST_USEFUL_TOKENS = 64
"""No call is lowered below this: a verdict of a probe is about as long, and to pay for a prompt
whose answer must be cut is to throw the last money away."""


class CeilingReached(Exception):
    """The call cannot be afforded, or came after one that could not."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What a call may cost at worst."""

    input_usd: Decimal
    """Upper bound on all of its input."""
    token_usd: Decimal
    """One token of output."""
    max_tokens: int
    """What the client asks for."""
    least_tokens: int
    """What it may be lowered to."""

    def worst(self, max_tokens: int) -> Decimal:
        """US dollars at most, when ``max_tokens`` are asked of the model."""
        return self.input_usd + max_tokens * self.token_usd


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """Money set aside for one call in flight."""

    usd: Decimal
    max_tokens: int
    """What may be asked of the model."""


class Ceiling:
    """The money of one run, in US dollars. It belongs to one event loop.

    Args:
        max_usd: the ceiling; none for no ceiling.
        mode: ``measured`` sets nothing aside and admits whatever comes.
    """

    def __init__(self, max_usd: Decimal | None, mode: Literal["reserved", "measured"]) -> None:
        self.max_usd = max_usd
        self.settled = Decimal(0)
        """What calls have cost."""
        self.reserved = Decimal(0)
        """What is set aside for calls in flight."""
        self.mode = mode
        self._holds: set[Hold] = set()
        self._queue: deque[tuple[Quote, asyncio.Future[Hold]]] = deque()
        self._shut: str | None = None

    @property
    def holds(self) -> bool:
        """Whether there is a ceiling that is never passed."""
        return self.max_usd is not None and self.mode == "reserved"

    async def reserve(self, quote: Quote) -> Hold:
        """Set a call's worst case aside, waiting for calls in flight where it must.

        Raises:
            CeilingReached: when it cannot be afforded.
        """
        if self._shut is not None:
            raise CeilingReached(self._shut)
        granted: asyncio.Future[Hold] = asyncio.get_running_loop().create_future()
        self._queue.append((quote, granted))
        self._admit()
        try:
            return await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled() and granted.exception() is None:
                self.settle(granted.result(), Decimal(0))
            else:
                granted.cancel()
                self._admit()
            raise

    def settle(self, hold: Hold, usd: Decimal) -> None:
        """Put what a call has cost in the place of what was set aside for it."""
        self._holds.remove(hold)
        self.reserved -= hold.usd
        self.settled += usd
        self._admit()

    def shut(self, why: str) -> None:
        """Admit nothing more; those that wait are refused."""
        if self._shut is None:
            self._shut = why
        while self._queue:
            _, granted = self._queue.popleft()
            if not granted.done():
                granted.set_exception(CeilingReached(self._shut))

    def _admit(self) -> None:
        while self._queue:
            quote, granted = self._queue[0]
            if granted.done():  # its client gave up
                self._queue.popleft()
                continue
            hold = self._fit(quote)
            if hold is not None:
                self._queue.popleft()
                self._holds.add(hold)
                self.reserved += hold.usd
                granted.set_result(hold)
            elif self._holds:
                return
            else:
                self.shut(self._why(quote))

    def _fit(self, quote: Quote) -> Hold | None:
        if self.mode == "measured":
            return Hold(Decimal(0), quote.max_tokens)
        worst = quote.worst(quote.max_tokens)
        if self.max_usd is None:
            return Hold(worst, quote.max_tokens)
        left = self.max_usd - self.settled - self.reserved
        if worst <= left:
            return Hold(worst, quote.max_tokens)
        if self._holds or quote.worst(quote.least_tokens) > left:
            return None
        # Only here can a token cost something: at no price the worst case is the least one.
        bought = int(
            ((left - quote.input_usd) / quote.token_usd).to_integral_value(rounding=ROUND_FLOOR)
        )
        lowered = min(bought, quote.max_tokens)
        while quote.worst(lowered) > left:  # the division is rounded, the ceiling is not
            lowered -= 1
        return Hold(quote.worst(lowered), lowered)

    def _why(self, quote: Quote) -> str:
        left = (self.max_usd or Decimal(0)) - self.settled
        least = quote.worst(quote.least_tokens)
        why = (
            f"of the ceiling of US${self.max_usd:f}, US${left:f} is left, and this call needs"
            f" US${least:f} at least"
        )
        if self.settled:
            return why
        return f"{why}; it is the first to cost anything, so no lower ceiling than that works"
