"""What the gateway's tests share: a configuration, a call's bytes, a door that is open."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp

from runner.gateway.arms import Arm
from runner.gateway.arms.choice import arm_of
from runner.gateway.batches import Batches
from runner.gateway.cassette import Entry
from runner.gateway.config import GatewayConfig, TableSource, WayOut
from runner.gateway.door import Door
from runner.gateway.ledger import Ledger
from runner.gateway.server import listening
from runner.model import Call, Ending
from runner.prices import load_prices
from tests.gateway._wire import PlainWire
from tests.standin.upstream import Upstream, serve

MODEL = "claude-sonnet-5-5"
OTHER = "claude-opus-5"

TABLE = """
schema = 1

[[answer]]
id = "hello"
match = { task = "hello" }
reply = { says = "{greeting}" }
usage = { input = 559, output = 66 }

[[answer]]
id = "long"
match = { task = "long" }
text = "0123456789"
usage = { input = 100, output = 1000 }

[[answer]]
id = "cached"
match = { task = "cached" }
text = "ok"
usage = { input = 10, output = 1, cache_write_5m = 20, cache_write_1h = 30, cache_read = 40 }

[[answer]]
id = "unmeasured"
match = { task = "unmeasured" }
text = "four and four"

[[answer]]
id = "empty"
match = { task = "empty" }
text = ""

[[answer]]
id = "overloaded"
match = { task = "overloaded" }
fail = { status = 529, type = "overloaded_error", message = "too busy" }
"""


def table(content: str = TABLE, name: str = "test.toml") -> TableSource:
    return TableSource(
        name=name, content=content, sha256=hashlib.sha256(content.encode()).hexdigest()
    )


def config(**changed: Any) -> GatewayConfig:
    values: dict[str, Any] = {
        "run": "run-1",
        "arm": "scripted",
        "wire": "tests.gateway._wire:PlainWire",
        "tables": (table(),),
        "names": {"greeting": "good day"},
        "model": MODEL,
        "prices": load_prices().models,
        **changed,
    }
    return GatewayConfig(**values)


def body(task: str = "hello", **changed: Any) -> dict[str, Any]:
    return {
        "model": MODEL,
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": json.dumps({"task": task})}],
    } | changed


def raw(task: str = "hello", **changed: Any) -> bytes:
    return json.dumps(body(task, **changed)).encode()


@dataclass(frozen=True)
class Said:
    """What a client got."""

    body: bytes
    headers: dict[str, str]
    broken: bool

    @property
    def document(self) -> dict[str, Any]:
        whole: dict[str, Any] = json.loads(self.body)
        return whole

    @property
    def events(self) -> list[dict[str, Any]]:
        blocks = self.body.decode().removesuffix("\n\n").split("\n\n")
        return [json.loads(block.split("data: ", 1)[1]) for block in blocks]

    @property
    def text(self) -> str:
        if self.body.startswith(b"{"):
            return "".join(block["text"] for block in self.document["content"])
        deltas = [event["delta"] for event in self.events if event["type"].endswith("block_delta")]
        return "".join(delta["text"] for delta in deltas)

    @property
    def stop_reason(self) -> str | None:
        if self.body.startswith(b"{"):
            return str(self.document["stop_reason"])
        (delta,) = [event for event in self.events if event["type"] == "message_delta"]
        return str(delta["delta"]["stop_reason"])


class Opened:
    """A door with what came of it."""

    def __init__(self, folder: Path, settings: GatewayConfig, arm: Arm | None = None) -> None:
        self.socket = folder / "model.sock"
        self.path = folder / "calls.jsonl"
        self.followed: list[Call] = []
        self.endings: list[Ending] = []
        self.ledger = Ledger(
            self.path, lambda line: self.followed.append(Call.model_validate_json(line))
        )
        wire = PlainWire()
        self.recorded: list[Entry] = []
        if arm is None:
            arm = arm_of(settings, wire, self.recorded.append)
        self.arm = arm
        self.door = Door(settings, wire, arm, self.ledger, self.endings.append)
        self.batches = Batches(self.door, arm.batches)

    async def ask(
        self, headers: dict[str, str], sent: bytes, path: str = "/v1/messages", **how: Any
    ) -> "Said":
        """Make a call as the server does, and take all of its answer."""
        passage = await self.door.call(path, headers, sent, **how)
        body = passage.body
        if body is None:
            body = b"".join([piece async for piece in passage.pieces()])
        return Said(body, passage.headers, passage.broken)

    def lines(self) -> list[Call]:
        """The ledger as it lies on the disk."""
        return [Call.model_validate_json(line) for line in self.path.read_text().splitlines()]

    @property
    def ending(self) -> tuple[str, str] | None:
        """How the run ended; told exactly once."""
        assert len(self.endings) <= 1
        return (str(self.endings[0].outcome), self.endings[0].kind) if self.endings else None

    def spent(self) -> Decimal:
        return sum((call.cost_usd for call in self.lines()), Decimal(0))


@asynccontextmanager
async def opened(
    folder: Path, answering: Arm | None = None, **changed: Any
) -> AsyncIterator[Opened]:
    """A door without its socket."""
    it = Opened(folder, config(**changed), answering)
    try:
        yield it
    finally:
        await it.ledger.close()
        await it.arm.close()


@asynccontextmanager
async def served(
    folder: Path, **changed: Any
) -> AsyncIterator[tuple[Opened, aiohttp.ClientSession]]:
    """A door on its socket, and a client to it."""
    async with opened(folder, **changed) as it, listening(it.door, it.batches, it.socket):
        connector = aiohttp.UnixConnector(str(it.socket), limit=0)
        async with aiohttp.ClientSession("http://door", connector=connector) as client:
            yield it, client


async def settle_down(turns: int = 20) -> None:
    """Let every task that can run do so."""
    for _ in range(turns):
        await asyncio.sleep(0)


KEY = "sk-ant-canary-0123456789"


@asynccontextmanager
async def live(
    folder: Path, upstream: Upstream, arm: str = "live", **changed: Any
) -> AsyncIterator[tuple[Opened, aiohttp.ClientSession]]:
    """A door whose model is the stand-in, on its socket, and a client to it."""
    running = await serve(upstream)
    try:
        way_out = {
            "anthropic": running.url(),
            "openai": f"{running.url()}/v1",
            "allow_private": ("127.0.0.1",),
            **changed.pop("way_out", {}),
        }
        async with served(
            folder,
            **{"arm": arm, "key": KEY, "tables": (), "way_out": WayOut(**way_out), **changed},
        ) as pair:
            yield pair
    finally:
        await running.close()
