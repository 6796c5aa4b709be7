"""The memory engine's own calls through the door: live, recorded, and replayed to the byte."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import pytest
from memory_engine import consolidate as consolidation
from memory_engine import deposit as taking_in
from memory_engine import store as engine_store
from memory_engine.judge import Judge
from memory_engine.model import Model
from memory_engine.settings import Options, Settings

from runner.gateway.tables import Tables
from runner.model import Call, CheckResult, Store
from runner.paths import fixtures
from runner.suites.trip_vs_move import check_all, load_case, steps
from runner.systems.engine.reader import FILE, read
from runner.systems.engine.wire import EngineWire
from tests.gateway._setup import MODEL, Opened, live, served
from tests.gateway.test_server import over_tcp
from tests.standin.upstream import How, Upstream

pytestmark = pytest.mark.slow
CASE = load_case("reader")
Going = AbstractAsyncContextManager[tuple[Opened, aiohttp.ClientSession]]


def run(folder: Path, url: str, kind: str, at: Callable[[str], None]) -> dict[str, Store]:
    """One run of the engine in this process, whose model is behind ``url``."""
    options = Options(backoff_initial_s=0.01)
    model = Model(Settings(model=MODEL, pins={}, options=options))
    model._sdk = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
    judge = Judge(model)
    store = engine_store.Store(folder)
    stores: dict[str, Store] = {}
    for step in steps(CASE, kind):
        if step.aside:
            continue
        at(step.name)
        assert step.day is not None
        clock = _noon(step.day)
        if step.verb == "deposit":
            said = dict(step.payload)
            digest = engine_store.digest(said["text"])
            note = engine_store.Note(said["name"], said["text"], said["day"], digest)
            taking_in.deposit(store, judge, options, clock, note)
        else:
            consolidation.consolidate(store, judge, options, clock)
        if step.snapshot:
            snapshot = folder / f"after {step.name}"
            snapshot.mkdir()
            store.backup(snapshot / FILE)
            stores[step.name] = read(snapshot)
    store.close()
    model._sdk.close()
    return stores


def _noon(day: date) -> Callable[[], datetime]:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return lambda: noon


async def through(
    folder: Path, going: Going, kind: str
) -> tuple[Opened, dict[str, Store], tuple[CheckResult, ...]]:
    """The same through a door."""
    (folder / "store").mkdir(parents=True)
    async with going as (it, _), over_tcp(it) as url:
        loop = asyncio.get_running_loop()

        def at(name: str) -> None:
            loop.call_soon_threadsafe(setattr, it.door, "step", name)

        stores = await asyncio.to_thread(run, folder / "store", url, kind, at)
        await it.door.close(5)
        assert it.ending is None
        assert it.door.ceiling.reserved == 0
        assert it.spent() == it.door.ceiling.settled
        totals = it.door.totals()
        assert totals.get("unused", []) == []
    return it, stores, check_all(CASE, kind, stores)


def provider() -> Upstream:
    """A provider that reads the case as it is meant, and is not always well."""
    table = fixtures() / "scripted" / "engine" / f"{CASE.script}.toml"
    tables = Tables.load([(table.name, table.read_text("utf-8"))], CASE.names)
    upstream = Upstream(tables=tables, wire=EngineWire())
    upstream.then(
        How(),
        How(status=529, kind="overloaded_error"),
        How(),
        How(status=500),
        How(cut_after=40),
    )
    return upstream


def comparable(lines: list[Call]) -> list[dict[str, Any]]:
    apart = {"latency_ms", "first_byte_ms", "source", "request_id"}
    return [line.model_dump(exclude=apart) for line in lines]


ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def after_ids(*things: Any) -> str:
    """Everything said, its ids numbered as they come."""
    text = "\n".join(thing.model_dump_json() for thing in things)
    numbers = {found: str(number) for number, found in enumerate(dict.fromkeys(ID.findall(text)))}
    return ID.sub(lambda found: numbers[found[0]], text)


@pytest.mark.parametrize("kind", ["move", "trip-alone"])
async def test_a_run_is_the_same_live_recorded_and_replayed(tmp_path: Path, kind: str) -> None:
    set_up: dict[str, Any] = {
        "wire": "runner.systems.engine.wire:EngineWire",
        "max_usd": Decimal("0.5"),
    }
    lived = live(tmp_path / "live", provider(), **set_up)
    recording = live(tmp_path / "record", provider(), arm="record", **set_up)
    for name in ("live", "record", "replay"):
        (tmp_path / name).mkdir()
    alive, seen, verdicts = await through(tmp_path / "live", lived, kind)
    recorded, kept, verdicts_recorded = await through(tmp_path / "record", recording, kind)
    cassette = tuple(recorded.recorded)
    replaying = served(tmp_path / "replay", arm="replay", cassette=cassette, tables=(), **set_up)
    replayed, again, verdicts_again = await through(tmp_path / "replay", replaying, kind)

    assert all(result.passed for result in verdicts)
    everything = after_ids(*seen.values(), *verdicts)
    assert after_ids(*kept.values(), *verdicts_recorded) == everything
    assert after_ids(*again.values(), *verdicts_again) == everything
    assert comparable(replayed.lines()) == comparable(recorded.lines())
    assert replayed.spent() == recorded.spent() > 0
    assert len(cassette) == len(recorded.lines())
    failed = [line.error for line in alive.lines() if line.outcome == "failed"]
    assert failed == ["http_529", "http_500", "cut"][: len(failed)]
    assert {line.purpose for line in alive.lines()} <= {
        "extraction",
        "contradiction",
        "update",
        "verification",
        "reanchor",
    }
    assert any(line.streamed for line in alive.lines())
