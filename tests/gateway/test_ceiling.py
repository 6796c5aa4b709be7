import asyncio
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from runner.gateway.ceiling import Ceiling, CeilingReached, Hold, Quote
from tests.gateway._setup import settle_down

dollars = st.decimals(min_value=0, max_value=2, places=7, allow_nan=False)


@st.composite
def quotes(draw: st.DrawFn) -> Quote:
    most = draw(st.integers(min_value=0, max_value=40_000))
    return Quote(
        input_usd=draw(dollars),
        token_usd=draw(st.sampled_from([Decimal(0), Decimal("0.00001"), Decimal("0.000003")])),
        max_tokens=most,
        least_tokens=draw(st.integers(min_value=0, max_value=most)),
    )


def simple(input_usd: str, most: int = 0, least: int = 0) -> Quote:
    return Quote(Decimal(input_usd), Decimal("0.01"), most, least)


class Spending(RuleBasedStateMachine):
    """Calls come, wait, settle, break and are given up in any order; the ceiling holds."""

    holds: Bundle[Hold] = Bundle("holds")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.waiting: list[tuple[Quote, asyncio.Task[Hold]]] = []
        self.granted: dict[Hold, Quote] = {}
        self.refused = 0

    @initialize(max_usd=dollars)
    def start(self, max_usd: Decimal) -> None:
        self.max_usd = max_usd
        self.ceiling = Ceiling(max_usd, "reserved")

    def run(self) -> list[Hold]:
        """Let everything happen that can; the holds granted by it."""
        self.loop.run_until_complete(settle_down())
        fresh: list[Hold] = []
        still: list[tuple[Quote, asyncio.Task[Hold]]] = []
        for asked, task in self.waiting:
            if not task.done():
                still.append((asked, task))
            elif task.exception() is not None:
                assert isinstance(task.exception(), CeilingReached)
                self.refused += 1
            else:
                # First come, first served: nobody before this one waits on.
                assert not still
                hold = task.result()
                assert asked.least_tokens <= hold.max_tokens <= asked.max_tokens
                assert hold.usd == asked.worst(hold.max_tokens)
                if hold.max_tokens < asked.max_tokens:
                    assert not self.granted, "lowered although money was still in flight"
                    assert self.left() - asked.token_usd < 0, "lowered by more than was needed"
                self.granted[hold] = asked
                fresh.append(hold)
        self.waiting = still
        return fresh

    def left(self) -> Decimal:
        return self.max_usd - self.ceiling.settled - self.ceiling.reserved

    @rule(target=holds, asked=quotes())
    def ask(self, asked: Quote) -> MultipleResults[Hold]:
        closed = self.refused > 0
        self.waiting.append((asked, self.loop.create_task(self.ceiling.reserve(asked))))
        granted = self.run()
        assert not (closed and granted), "admitted after a call that could not be afforded"
        return multiple(*granted)

    @rule(target=holds, hold=consumes(holds), percent=st.integers(0, 100))
    def settle(self, hold: Hold, percent: int) -> MultipleResults[Hold]:
        del self.granted[hold]
        self.ceiling.settle(hold, hold.usd * percent / 100)
        return multiple(*self.run())

    @rule(target=holds, hold=consumes(holds))
    def crash(self, hold: Hold) -> MultipleResults[Hold]:
        """A call that broke off counts as its worst case."""
        del self.granted[hold]
        self.ceiling.settle(hold, hold.usd)
        return multiple(*self.run())

    @precondition(lambda self: self.waiting)
    @rule(target=holds, data=st.data())
    def give_up(self, data: st.DataObject) -> MultipleResults[Hold]:
        """A client leaves while its call waits."""
        self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))[1].cancel()
        return multiple(*self.run())

    @precondition(lambda self: self.waiting)
    @rule(target=holds, hold=consumes(holds))
    def give_up_when_admitted(self, hold: Hold) -> MultipleResults[Hold]:
        """A client leaves in the very moment its call may be made."""
        del self.granted[hold]
        self.ceiling.settle(hold, hold.usd)
        self.waiting.pop(0)[1].cancel()
        return multiple(*self.run())

    @invariant()
    def never_passed(self) -> None:
        assert self.ceiling.settled + self.ceiling.reserved <= self.max_usd
        assert self.ceiling.reserved == sum((hold.usd for hold in self.granted), Decimal(0))

    @invariant()
    def nobody_waits_for_nothing(self) -> None:
        assert self.granted or not self.waiting

    def teardown(self) -> None:
        for _, task in self.waiting:
            task.cancel()
        self.loop.run_until_complete(settle_down())
        self.loop.close()


TestSpending = pytest.mark.slow(Spending.TestCase)
TestSpending.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


async def test_a_call_waits_for_those_in_flight_before_it_is_lowered() -> None:
    ceiling = Ceiling(Decimal(1), "reserved")
    first = await ceiling.reserve(simple("0.6"))
    second = asyncio.create_task(ceiling.reserve(simple("0.1", most=50, least=10)))
    await settle_down()
    assert not second.done()
    ceiling.settle(first, Decimal("0.1"))
    assert (await second).max_tokens == 50

    third = asyncio.create_task(ceiling.reserve(simple("0.1", most=50, least=10)))
    await settle_down()
    assert not third.done()
    ceiling.settle(await second, Decimal("0.6"))
    lowered = await third
    assert (lowered.max_tokens, lowered.usd) == (20, Decimal("0.3"))


async def test_what_cannot_be_afforded_shuts_the_door_on_all_who_wait() -> None:
    ceiling = Ceiling(Decimal(1), "reserved")
    first = await ceiling.reserve(simple("0.9"))
    second = asyncio.create_task(ceiling.reserve(simple("0.5")))
    third = asyncio.create_task(ceiling.reserve(simple("0.01")))
    await settle_down()
    assert not second.done()
    assert not third.done(), "a small call went before one that waits"
    ceiling.settle(first, Decimal("0.9"))
    with pytest.raises(CeilingReached, match=r"US\$1, US\$0\.1 is left, and .* US\$0\.50 at least"):
        await second
    with pytest.raises(CeilingReached):
        await third
    with pytest.raises(CeilingReached):
        await ceiling.reserve(simple("0"))


async def test_one_who_gives_up_lets_the_next_one_in() -> None:
    ceiling = Ceiling(Decimal(1), "reserved")
    await ceiling.reserve(simple("0.5"))
    large = asyncio.create_task(ceiling.reserve(simple("0.8")))
    small = asyncio.create_task(ceiling.reserve(simple("0.5")))
    await settle_down()
    large.cancel()
    await settle_down()
    assert small.done()


async def test_one_who_gives_up_when_just_admitted_frees_the_money() -> None:
    ceiling = Ceiling(Decimal(1), "reserved")
    first = await ceiling.reserve(simple("1"))
    second = asyncio.create_task(ceiling.reserve(simple("1")))
    await settle_down()
    ceiling.settle(first, Decimal(0))
    second.cancel()
    await settle_down()
    assert second.cancelled()
    assert ceiling.reserved == 0
    await ceiling.reserve(simple("1"))


@settings(deadline=None)
@given(st.lists(quotes(), max_size=10))
def test_without_a_ceiling_all_is_reserved_and_nothing_waits(asked: list[Quote]) -> None:
    async def run() -> None:
        ceiling = Ceiling(None, "reserved")
        for quote in asked:
            assert (await ceiling.reserve(quote)).max_tokens == quote.max_tokens
        assert ceiling.reserved == sum((quote.worst(quote.max_tokens) for quote in asked), 0)

    asyncio.run(run())


async def test_measured_sets_nothing_aside() -> None:
    ceiling = Ceiling(Decimal("0.01"), "measured")
    hold = await ceiling.reserve(simple("5", most=32_000, least=1))
    assert (hold.usd, hold.max_tokens) == (Decimal(0), 32_000)
    ceiling.settle(hold, Decimal(5))
    assert ceiling.settled == 5
    ceiling.shut("over")
    with pytest.raises(CeilingReached, match="over"):
        await ceiling.reserve(simple("0"))
