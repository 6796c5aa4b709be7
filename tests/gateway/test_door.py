import asyncio
import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.gateway.answer import Answer, cut
from runner.gateway.arms import Asked, Batcher, Pending, ProviderFailed, Reply
from runner.gateway.arms.scripted import written
from runner.gateway.refusal import Refusal
from runner.model import Usage
from runner.prices import load_prices
from tests.gateway._setup import MODEL, OTHER, body, opened, raw, settle_down, table

PRICE = load_prices().models[MODEL]
HEADERS = {"x-memory-purpose": "update"}


class Slow:
    """An arm whose answers come when the test says so: as a live one's, unknown beforehand."""

    batches: Batcher | None = None

    def __init__(self) -> None:
        self.waiting: list[tuple[int, asyncio.Future[Answer]]] = []

    def take(self, asked: Asked) -> Pending:
        return Later(self, asked)

    async def count_tokens(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def totals(self) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        pass

    def reply(self, index: int = 0, **changed: Any) -> None:
        max_tokens, answered = self.waiting.pop(index)
        values: dict[str, Any] = {
            "text": "text",
            "usage": Usage(input=10, output=20),
            "model": MODEL,
            "stop_reason": "end_turn",
        }
        answered.set_result(cut(Answer(**(values | changed)), max_tokens))

    def fail(self, problem: BaseException, index: int = 0) -> None:
        self.waiting.pop(index)[1].set_exception(problem)


class Later:
    known = None

    def __init__(self, arm: Slow, asked: Asked) -> None:
        self.arm, self.asked = arm, asked

    async def send(self, max_tokens: int) -> Reply:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.arm.waiting.append((max_tokens, answered))
        return written(await answered, self.asked, "1")


async def test_an_answered_call_has_a_whole_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        it.door.step = "deposit reader-01.md"
        answer = await it.ask(HEADERS, raw(stream=True))
        assert json.loads(answer.text) == {"says": "good day"}
        (line,) = it.lines()
    assert line == it.followed[0]
    assert (line.seq, line.step, line.purpose) == (1, "deposit reader-01.md", "update")
    assert (line.outcome, line.error, line.stop_reason) == ("answered", None, "end_turn")
    assert (line.requested_model, line.served_model) == (MODEL, MODEL)
    assert line.usage == Usage(input=559, output=66)
    assert line.cost_usd == PRICE.cost(line.usage) < line.reserved_usd
    assert (line.max_tokens_asked, line.max_tokens_sent, line.streamed) == (1000, 1000, True)
    assert answer.headers["request-id"] == line.request_id
    assert (line.request_id, line.source) == ("req_run-1_000001", "test.toml:hello")
    canonical = json.dumps(body(stream=True), sort_keys=True).encode()
    assert line.prompt_sha256 == hashlib.sha256(canonical).hexdigest()
    totals = it.door.totals()
    assert (totals["lines"], totals["calls"], totals["ending"]) == (1, 1, None)
    assert Decimal(totals["settled_usd"]) == line.cost_usd
    assert Decimal(totals["reserved_usd"]) == 0


async def test_usage_a_table_does_not_say_is_guessed_and_never_zero(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        sent = raw("unmeasured")
        await it.ask({}, sent)
        await it.ask({}, raw("empty"))
        guessed, empty = it.lines()
    assert guessed.usage == Usage(input=-(-len(sent) // 4), output=4)
    assert guessed.purpose == "unattributed"
    assert empty.usage.output == 1


async def test_every_kind_of_token_is_paid(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await it.ask({}, raw("cached"))
    assert it.spent() == (
        10 * Decimal("2")
        + 1 * Decimal("10")
        + 20 * Decimal("2.5")
        + 30 * Decimal("4")
        + 40 * Decimal("0.1")
    ) / Decimal(1_000_000)


async def test_an_answer_is_cut_at_what_the_client_allows(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        answer = await it.ask({}, raw("long", max_tokens=500))
        assert (answer.text, answer.stop_reason) == ("01234", "max_tokens")
        nothing = await it.ask({}, raw("long", max_tokens=0))
        assert (nothing.text, nothing.document["usage"]["output_tokens"]) == ("", 0)
    # The client's own limit is the client's affair: the run goes on.
    assert it.ending is None


async def test_a_call_that_no_entry_answers_ends_the_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        with pytest.raises(
            Refusal, match=r"nearest is test\.toml:hello: task is 'hallo'"
        ) as caught:
            await it.ask({}, raw("hallo"))
        assert caught.value.request_id == "req_run-1_000001"
        with pytest.raises(Refusal, match="the run has ended: no scripted answer"):
            await it.ask({}, raw())
        first, second = it.lines()
        assert (first.outcome, first.error) == ("refused", "script_missing")
        assert first.cost_usd == 0
        assert (second.outcome, second.error) == ("refused", "run_ended")
    assert it.ending == ("invalid", "script_missing")
    assert it.door.totals()["ending"]["detail"] == first.detail


@pytest.mark.parametrize(
    ("changed", "headers", "sent", "kind"),
    [
        ({}, {}, body(model=OTHER), "wrong_model"),
        ({}, {}, body(model="unheard-of"), "wrong_model"),
        ({"pins": {"update": OTHER}}, HEADERS, body(), "wrong_model"),
        ({"pins": {"update": OTHER}}, {}, body(model=OTHER), "wrong_model"),
        ({"prices": {}}, {}, body(), "unpriced_model"),
        ({"model": "unheard-of"}, {}, body(model="unheard-of"), "unpriced_model"),
    ],
)
async def test_another_model_or_an_unpriced_one_ends_the_run_before_anything_is_spent(
    tmp_path: Path, changed: Any, headers: dict[str, str], sent: Any, kind: str
) -> None:
    async with opened(tmp_path, **changed) as it:
        with pytest.raises(Refusal) as caught:
            await it.ask(headers, json.dumps(sent).encode())
        (line,) = it.lines()
    assert (caught.value.kind, line.error) == (kind, kind)
    assert line.cost_usd == 0
    assert line.requested_model == sent["model"]
    assert it.ending == ("invalid", kind)


async def test_pins_dates_and_aliases_are_the_model(tmp_path: Path) -> None:
    pins, aliases = {"update": OTHER}, {"sonnet": MODEL}
    async with opened(tmp_path, pins=pins, aliases=aliases) as it:
        await it.ask(HEADERS, raw(model=OTHER))
        await it.ask({}, raw(model=f"{MODEL}-20260901"))
        await it.ask({}, raw(model="sonnet"))
        dear, dated, short = it.lines()
    assert dear.cost_usd > dated.cost_usd == short.cost_usd > 0
    assert it.ending is None


async def test_another_model_that_answers_ends_the_run_and_is_paid(tmp_path: Path) -> None:
    arm = Slow()
    async with opened(tmp_path, arm) as it:
        asking = asyncio.create_task(it.ask({}, raw()))
        await settle_down()
        arm.reply(model="claude-haiku-4-5")
        with pytest.raises(Refusal, match="served by claude-haiku-4-5"):
            await asking
        (line,) = it.lines()
    assert (line.outcome, line.error, line.served_model) == (
        "refused",
        "wrong_model",
        "claude-haiku-4-5",
    )
    assert line.cost_usd > 0
    assert it.ending == ("invalid", "wrong_model")


async def test_a_malformed_call_is_a_line_and_the_run_goes_on(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        for sent in (b"{", b"{}", raw(tools=[{"type": "web_search_20250305"}])):
            with pytest.raises(Refusal):
                await it.ask({}, sent)
        await it.ask({}, raw())
        errors = [line.error for line in it.lines()]
        digest = it.lines()[0].prompt_sha256
    assert errors == ["invalid_request", "invalid_request", "provider_tool", None]
    assert digest == hashlib.sha256(b"{").hexdigest()
    assert it.ending is None


async def test_a_call_that_nobody_knows_ends_the_run(tmp_path: Path) -> None:
    """It has no scripted answer, whatever its system makes of the refusal."""
    async with opened(tmp_path) as it:
        with pytest.raises(Refusal, match="not one the system's wire knows"):
            await it.ask({}, raw(messages=[{"role": "user", "content": "no document"}]))
    assert it.ending is not None
    assert it.ending[:2] == ("invalid", "script_missing")


async def test_a_failed_provider_costs_nothing_and_is_a_line(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal("0.1")) as it:
        with pytest.raises(ProviderFailed, match="too busy") as caught:
            await it.ask({}, raw("overloaded"))
        (line,) = it.lines()
    assert (caught.value.status, caught.value.kind) == (529, "http_529")
    assert json.loads(caught.value.body or b"")["error"]["type"] == "overloaded_error"
    assert (line.outcome, line.error, line.source) == ("failed", "http_529", "test.toml:overloaded")
    assert (line.cost_usd, Decimal(it.door.totals()["reserved_usd"])) == (Decimal(0), Decimal(0))
    assert it.ending is None


async def test_max_tokens_is_lowered_to_what_the_money_buys(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal("0.02")) as it:
        await it.ask({}, raw(max_tokens=32_000))
        (line,) = it.lines()
    assert line.max_tokens_asked == 32_000
    assert line.max_tokens_sent is not None
    assert 1000 < line.max_tokens_sent < 2000
    assert line.stop_reason == "end_turn"
    # To the last token: one more would not have fitted.
    assert line.reserved_usd <= Decimal("0.02") < line.reserved_usd + Decimal("0.00001")
    assert it.ending is None


async def test_an_answer_that_stops_at_the_lowered_limit_ends_the_run(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal("0.01")) as it:
        with pytest.raises(Refusal, match=r"cut at .* which is what the ceiling left") as caught:
            await it.ask({}, raw("long", max_tokens=32_000))
        (line,) = it.lines()
    assert (caught.value.status, line.error, line.stop_reason) == (403, "ceiling", "max_tokens")
    assert line.usage.output == line.max_tokens_sent
    assert 0 < line.cost_usd <= Decimal("0.01")
    assert it.ending == ("incomplete", "ceiling")


async def test_a_call_that_cannot_be_afforded_ends_the_run(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal("0.0001")) as it:
        with pytest.raises(Refusal, match=r"of the ceiling of US\$0\.0001") as caught:
            await it.ask({}, raw())
        with pytest.raises(Refusal, match="the run has ended"):
            await it.ask({}, raw(max_tokens=0))
        first, second = it.lines()
    assert (caught.value.status, first.error, second.error) == (403, "ceiling", "run_ended")
    assert it.ending == ("incomplete", "ceiling")
    assert it.spent() == 0


async def test_a_thinking_budget_is_never_cut_into(tmp_path: Path) -> None:
    thinking = {"type": "enabled", "budget_tokens": 1900}
    async with opened(tmp_path, max_usd=Decimal("0.02")) as it:
        with pytest.raises(Refusal):
            await it.ask({}, raw(max_tokens=2000, thinking=thinking))
    assert it.ending == ("incomplete", "ceiling")


async def test_measured_only_counts(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal("0.001"), ceiling="measured") as it:
        for _ in range(3):
            await it.ask({}, raw(max_tokens=32_000))
        totals = it.door.totals()
    assert Decimal(totals["settled_usd"]) == 3 * PRICE.cost(Usage(input=559, output=66))
    assert Decimal(totals["settled_usd"]) > Decimal("0.001")
    assert {line.max_tokens_sent for line in it.lines()} == {32_000}
    assert it.ending is None


async def test_a_scripted_answer_dearer_than_its_prompt_is_held_to_what_it_takes(
    tmp_path: Path,
) -> None:
    huge = 'schema = 1\n[[answer]]\nid = "x"\ntext = "y"\nusage = { input = 50000, output = 1 }\n'
    async with opened(tmp_path, tables=(table(huge),), max_usd=Decimal("0.05")) as it:
        with pytest.raises(Refusal, match=r"needs US\$0\.10"):
            await it.ask({}, raw())
    assert it.spent() == 0


async def test_a_call_that_does_not_fit_waits_for_those_in_flight(tmp_path: Path) -> None:
    arm = Slow()
    async with opened(tmp_path, arm, max_usd=Decimal("0.02")) as it:
        first = asyncio.create_task(it.ask({}, raw(max_tokens=1400)))
        second = asyncio.create_task(it.ask({}, raw(max_tokens=1400)))
        await settle_down()
        assert len(arm.waiting) == 1
        arm.reply()
        await asyncio.wait_for(first, 5)
        await settle_down()
        assert arm.waiting[0][0] == 1400
        arm.reply()
        await asyncio.wait_for(second, 5)
    assert it.ending is None


async def test_one_call_the_money_does_not_reach_for_turns_away_all_who_wait(
    tmp_path: Path,
) -> None:
    arm = Slow()
    async with opened(tmp_path, arm, max_usd=Decimal("0.0175")) as it:
        asking = [asyncio.create_task(it.ask({}, raw(max_tokens=1400))) for _ in range(3)]
        await settle_down()
        arm.reply(usage=Usage(input=1000, output=1400))
        done = await asyncio.wait_for(asyncio.gather(*asking, return_exceptions=True), 5)
        kinds = [outcome.kind for outcome in done if isinstance(outcome, Refusal)]
    assert kinds == ["ceiling", "run_ended"]
    assert it.ending == ("incomplete", "ceiling")
    assert it.spent() <= Decimal("0.0175")


async def test_a_call_dearer_than_its_worst_case_ends_the_run(tmp_path: Path) -> None:
    arm = Slow()
    async with opened(tmp_path, arm, max_usd=Decimal(1)) as it:
        asking = asyncio.create_task(it.ask({}, raw()))
        await settle_down()
        arm.reply(usage=Usage(input=10**5, output=1))
        with pytest.raises(Refusal, match="held to be its worst case"):
            await asking
    assert it.ending == ("incomplete", "ceiling")
    assert it.spent() == Decimal("0.20001")


async def test_a_client_that_left_while_waiting_is_not_charged(tmp_path: Path) -> None:
    async with opened(tmp_path, max_usd=Decimal(1)) as it:
        with pytest.raises(Refusal):
            await it.ask({}, raw(), gone=lambda: True)
        (line,) = it.lines()
    assert line.error == "client_gone"
    assert line.cost_usd == it.door.ceiling.reserved == 0
    assert it.ending is None


@pytest.mark.parametrize("how", ["cancelled", "broken"])
async def test_a_call_that_breaks_in_the_making_counts_as_its_worst_case(
    tmp_path: Path, how: str
) -> None:
    arm = Slow()
    async with opened(tmp_path, arm, max_usd=Decimal(1)) as it:
        asking = asyncio.create_task(it.ask({}, raw()))
        await settle_down()
        if how == "cancelled":
            await it.door.close(0)
        else:
            arm.fail(ZeroDivisionError("oh"))
        with pytest.raises((ProviderFailed, ZeroDivisionError)):
            await asking
        (line,) = it.lines()
    assert line.outcome == "failed"
    assert line.cost_usd == line.reserved_usd == Decimal(it.door.totals()["settled_usd"]) > 0
    assert it.ending == (None if how == "cancelled" else ("errored", "gateway"))


async def test_closing_admits_nothing_and_settles_what_is_in_flight(tmp_path: Path) -> None:
    arm = Slow()
    async with opened(tmp_path, arm, max_usd=Decimal("0.02")) as it:
        first = asyncio.create_task(it.ask({}, raw(max_tokens=1400)))
        second = asyncio.create_task(it.ask({}, raw(max_tokens=1400)))
        await settle_down()
        closing = asyncio.create_task(it.door.close(5))
        await settle_down()
        with pytest.raises(Refusal, match="closing"):
            await second
        with pytest.raises(Refusal, match="closing"):
            await it.ask({}, raw())
        with pytest.raises(Refusal, match="closing"):
            await it.door.count_tokens({}, raw())
        assert not closing.done()
        arm.reply()
        await first
        await closing
        assert sorted(str(line.error) for line in it.lines()) == ["None", "closing", "closing"]
    assert it.ending is None


async def test_closing_does_not_wait_for_ever(tmp_path: Path) -> None:
    async with opened(tmp_path, Slow()) as it:
        asking = asyncio.create_task(it.ask({}, raw()))
        await settle_down()
        await asyncio.wait_for(it.door.close(0.05), 2)
        (line,) = it.lines()
        with pytest.raises(ProviderFailed, match="broken off"):
            await asking
    assert (line.error, line.flags) == ("cancelled", ("no_usage",))
    assert line.cost_usd == line.reserved_usd == it.door.ceiling.settled > 0


async def test_counting_tokens_leaves_no_line_and_keeps_the_rules(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        counted = await it.door.count_tokens({}, raw())
        assert json.loads(counted.body or b"") == {"input_tokens": -(-len(raw()) // 4)}
        with pytest.raises(Refusal, match="was asked"):
            await it.door.count_tokens({}, raw(model=OTHER))
        with pytest.raises(Refusal):
            await it.door.count_tokens({}, raw(tools=[{"type": "web_search_20250305"}]))
        assert it.lines() == []
    assert it.ending is None


async def test_a_ledger_that_cannot_be_written_ends_the_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "calls.jsonl").symlink_to("/dev/full")
    async with opened(tmp_path) as it:
        for _ in range(2):
            with pytest.raises(OSError, match="No space left"):
                await it.ask({}, raw())
    assert it.ending == ("errored", "ledger")
    assert it.followed == []


calls = st.lists(
    st.tuples(
        st.integers(0, 3000),  # max_tokens
        st.sampled_from(["reply", "reply", "reply", "provider", "bug", "cancel"]),
        st.integers(0, 3000),  # tokens of the answer
        st.integers(0, 5),  # how many calls go on before one of them ends
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(calls=calls, cents=st.integers(0, 12))
def test_no_interleaving_of_whole_calls_passes_the_ceiling(
    tmp_path_factory: pytest.TempPathFactory, calls: Any, cents: int
) -> None:
    max_usd = Decimal(cents) / 100
    asyncio.run(_interleaved(tmp_path_factory.mktemp("door"), calls, max_usd))


async def _interleaved(folder: Path, calls: Any, max_usd: Decimal) -> None:
    arm = Slow()
    async with opened(folder, arm, max_usd=max_usd) as it:

        def check() -> None:
            assert it.door.ceiling.settled + it.door.ceiling.reserved <= max_usd

        tasks: list[asyncio.Task[Any]] = []
        for max_tokens, end, tokens, patience in calls:
            tasks.append(asyncio.create_task(it.ask({}, raw(max_tokens=max_tokens))))
            await settle_down()
            check()
            if len(arm.waiting) > patience:
                _end(arm, tasks, end, tokens)
                await settle_down()
                check()
        while arm.waiting:
            arm.reply()
            await settle_down()
            check()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        await it.door.close(10)  # whoever gave up did not wait for the line
        check()
        assert it.door.ceiling.reserved == 0
        assert it.spent() == it.door.ceiling.settled <= max_usd
        assert len(it.lines()) == len(calls)


def _end(arm: Slow, tasks: list[asyncio.Task[Any]], end: str, tokens: int) -> None:
    ends: dict[str, Callable[[], Any]] = {
        "reply": lambda: arm.reply(usage=Usage(input=500, output=tokens)),
        "provider": lambda: arm.fail(ProviderFailed("http_500", "no", status=500, billed=False)),
        "bug": lambda: arm.fail(RuntimeError("bug")),
        "cancel": lambda: next(task for task in tasks if not task.done()).cancel(),
    }
    ends[end]()
    arm.waiting = [pair for pair in arm.waiting if not pair[1].cancelled()]
