"""No ceiling is ever passed: streams that break in any way, in any order, and very many at once."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.gateway.answer import Answer
from runner.gateway.arms import Asked, Batcher, Pending, ProviderFailed, Reply
from runner.gateway.arms.scripted import written
from runner.model import Usage
from tests.gateway._setup import MODEL, live, opened, raw, settle_down
from tests.standin.upstream import How, Upstream


class Stepped:
    """An arm whose streams come an event at a time, when the test says so, and end as it says."""

    batches: Batcher | None = None

    def __init__(self) -> None:
        self.open: list[asyncio.Queue[bytes | None]] = []
        self.events: list[list[bytes]] = []
        self.tokens = 0

    def take(self, asked: Asked) -> Pending:
        return _Stream(self, asked)

    async def count_tokens(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def totals(self) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        pass


class _Stream:
    known = None

    def __init__(self, arm: Stepped, asked: Asked) -> None:
        self.arm, self.asked = arm, asked

    async def send(self, max_tokens: int) -> Reply:
        tokens = min(self.arm.tokens, max_tokens)
        stop = "max_tokens" if tokens == max_tokens else "end_turn"
        answer = Answer("x" * 200, Usage(input=500, output=tokens), MODEL, stop)
        whole = written(answer, self.asked, "1")
        events = [chunk async for chunk in whole.chunks]
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.arm.open.append(queue)
        self.arm.events.append(events)

        async def chunks() -> Any:
            while (chunk := await queue.get()) is not None:
                yield chunk
            raise ProviderFailed("cut", "broken by the test", billed=True)

        return Reply(200, whole.headers, chunks())


moves = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "ask", "event", "event", "event", "half", "finish", "cut", "leave"]
        ),
        st.integers(0, 3000),  # tokens asked for or given, or which stream
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(moves=moves, cents=st.integers(0, 9), close=st.booleans())
def test_no_interleaving_of_streams_passes_the_ceiling(
    tmp_path_factory: pytest.TempPathFactory, moves: Any, cents: int, close: bool
) -> None:
    max_usd = Decimal(cents) / 100
    asyncio.run(_interleaved(tmp_path_factory.mktemp("door"), moves, max_usd, close))


async def _interleaved(folder: Path, moves: Any, max_usd: Decimal, close: bool) -> None:
    arm = Stepped()
    async with opened(folder, arm, max_usd=max_usd) as it:
        tasks: list[asyncio.Task[Any]] = []

        def check() -> None:
            ceiling = it.door.ceiling
            assert ceiling.settled + ceiling.reserved <= max_usd
            assert it.spent() <= ceiling.settled, "a line says more than was settled"

        for move, number in moves:
            if move == "ask":
                arm.tokens = number // 2
                sent = raw(max_tokens=number, stream=True)
                tasks.append(asyncio.create_task(it.ask({}, sent)))
            elif move == "leave" and tasks:
                tasks[number % len(tasks)].cancel()
            elif arm.open:
                _move(arm, move, number % len(arm.open))
            await settle_down()
            check()
        if close:
            await it.door.close(0.01)
        while arm.open:
            _move(arm, "finish", 0)
            await settle_down()
            check()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        await it.door.close(5)
        check()
        assert it.door.ceiling.reserved == 0
        assert it.spent() == it.door.ceiling.settled <= max_usd
        assert len(it.lines()) == len(tasks)


def _move(arm: Stepped, move: str, index: int) -> None:
    queue, events = arm.open[index], arm.events[index]
    match move:
        case "event" if events:
            queue.put_nowait(events.pop(0))
        case "half" if events:
            whole = events.pop(0)
            queue.put_nowait(whole[: len(whole) // 2])
            events.insert(0, whole[len(whole) // 2 :])
        case "finish":
            for event in events:
                queue.put_nowait(event)
            arm.open.pop(index)
            arm.events.pop(index)
        case "cut":
            queue.put_nowait(None)
            arm.open.pop(index)
            arm.events.pop(index)


@pytest.mark.slow
@pytest.mark.timeout(90)
async def test_a_thousand_streams_at_once_pass_the_ceiling_by_nothing(tmp_path: Path) -> None:
    """All kinds of endings at once, and a ceiling that a fraction of them would use up."""
    kinds = [
        How(tokens=Usage(input=300, output=40), text="x" * 640, pause_s=0.005),
        How(tokens=Usage(input=300, output=40), text="x" * 640),
        How(cut_at=b"event: content_block_stop", text="x" * 640),
        How(cut_after=20),
        How(usage=False),
        How(status=529, kind="overloaded_error"),
        How(error_event="overloaded_error", text="x" * 640),
        How(tokens=Usage(input=300, output=40), text="x" * 64_000),
    ]
    upstream = Upstream()
    upstream.then(*(kinds[number % len(kinds)] for number in range(1000)))
    max_usd = Decimal("2.50")
    async with live(tmp_path, upstream, max_usd=max_usd) as (it, client):
        highest = Decimal(0)

        async def one(number: int) -> int:
            nonlocal highest
            sent = raw(max_tokens=500 + number, stream=True)
            try:
                async with client.post("/v1/messages", data=sent) as reply:
                    if number % 10 == 0:
                        await reply.content.readany()
                        return 0  # leaves in the middle
                    await reply.read()
                    return reply.status
            except aiohttp.ClientPayloadError:
                return -1
            finally:
                ceiling = it.door.ceiling
                highest = max(highest, ceiling.settled + ceiling.reserved)

        async with asyncio.timeout(60):
            statuses = await asyncio.gather(*(one(number) for number in range(1000)))
            await it.door.close(20)
        lines = it.lines()
        settled = it.door.ceiling.settled
    assert highest <= max_usd
    assert it.door.ceiling.reserved == 0
    assert sum((line.cost_usd for line in lines), Decimal(0)) == settled <= max_usd
    assert settled > max_usd * Decimal("0.9"), "a ceiling that nothing came near proves nothing"
    assert [line.seq for line in lines] == list(range(1, 1001))
    assert {200, 403, 529, -1} <= set(statuses)
    assert it.ending == ("incomplete", "ceiling")
