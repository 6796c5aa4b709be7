"""A provider for a run that is live: the stand-in, answering out of the case's own table."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.gateway.config import GatewayConfig, WayOut
from runner.paths import fixtures, root
from runner.suites.trip_vs_move import Case
from tests.particles._run import WIRE, scripted

KEY = "sk-ant-of-no-worth-at-all"


@contextmanager
def provider(case: Case) -> Iterator[str]:
    """The stand-in as a process of its own; gives its address."""
    table = fixtures() / "scripted" / "particles" / f"{case.script}.toml"
    command = [
        sys.executable,
        "-m",
        "tests.standin",
        "--wire",
        WIRE,
        "--table",
        str(table),
    ]
    command += ["--names", json.dumps(dict(case.names))]
    process = subprocess.Popen(command, cwd=root(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def towards(case: Case, address: str, arm: str, **changed: Any) -> GatewayConfig:
    """A gateway whose one way out leads to ``address``."""
    way_out = WayOut(anthropic=address, allow_private=("127.0.0.1",))
    return scripted(case, arm=arm, tables=(), names={}, key=KEY, way_out=way_out, **changed)


def replaying(case: Case, cassette: tuple[Any, ...]) -> GatewayConfig:
    """A gateway that answers what was recorded, and could not reach anybody."""
    return scripted(case, arm="replay", tables=(), names={}, cassette=cassette)
