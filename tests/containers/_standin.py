"""The stand-in provider as a process of this machine, where a gateway's bridge reaches it."""

import contextlib
import ipaddress
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner.runs.sandbox import Engine
from runner.suites.trip_vs_move import load_case
from runner.systems.catalog import load

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "fixtures" / "scripted"


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running stand-in.

    Attributes:
        url: where it is, as a gateway sees it.
        host: its address alone.
    """

    url: str
    host: str

    @property
    def options(self) -> tuple[str, ...]:
        """What sends a bench there."""
        return ("--anthropic-url", self.url, "--allow-private", self.host)

    def usual(self, **how: Any) -> None:
        """How every call is answered from now on, but for those planned."""
        self._tell("usual", how)

    def then(self, *hows: dict[str, Any]) -> None:
        """How the next calls are answered, one each."""
        self._tell("plan", list(hows))

    def forget(self) -> None:
        """Answer every call as it should be from now on."""
        self._tell("forget", {})

    def seen(self) -> list[dict[str, Any]]:
        """Every request so far."""
        found = self._tell("seen", {})
        assert isinstance(found, list)
        return found

    def _tell(self, what: str, document: Any) -> Any:
        request = urllib.request.Request(
            f"{self.url}/_standin/{what}", data=json.dumps(document).encode(), method="POST"
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as reply:
            return json.load(reply)


def bridge_address(engine: Engine) -> str:
    """This machine's address on the engine's bridge."""
    networks = engine.call("GET", "/networks")
    bridge = next(network for network in networks if network["Name"] == "bridge")
    pool = bridge["IPAM"]["Config"][0]
    return str(pool.get("Gateway") or ipaddress.ip_network(pool["Subnet"])[1]).split("/")[0]


@contextlib.contextmanager
def standing_in(
    engine: Engine, case: str = "reader", *, system: str = "engine", table: Path | None = None
) -> Iterator[StandIn]:
    """Answer for a system on one case, or on the pairs, until the context is left; by a table of
    its own where one is given, which names nothing."""
    host = bridge_address(engine)
    named = {} if case == "update-gate" or table else dict(load_case(case).names)
    names, wire = json.dumps(named), str(load(system).wire)
    table = table or TABLES / system / f"{case}.toml"
    arguments = ("--host", host, "--wire", wire, "--table", str(table), "--names", names)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.standin", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        if not ready:
            pytest.skip("the engine's bridge is not on this machine")
        yield StandIn(f"http://{host}:{json.loads(ready)['port']}", host)
    finally:
        process.terminate()
        process.wait(10)
