"""What a killed bench spent is still known: the ledger outlives the gateway that wrote it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.runs.sandbox import (
    DeadLedger,
    Domain,
    Engine,
    EngineSandbox,
    GatewayBox,
    SystemBox,
    _spec,
    clean,
    reap,
)
from tests.containers.conftest import left

pytestmark = pytest.mark.containers

LATE_S = 3.0
GATEWAY = f"""
import sys, time
ledger = open({_spec.CALLS!r}, "a", buffering=1)
ledger.write("before\\n")
print('{{"event": "ready"}}', flush=True)
sys.stdin.read()
time.sleep({LATE_S})
ledger.write("settled\\n")
"""
"""Writes a line at once, and another some seconds after its bench has gone."""

BENCH = f"""
import sys, time
from runner.runs.sandbox import GatewayBox, SystemBox, start
image = sys.argv[1]
command = ("python3", "-I", "-c", {GATEWAY!r})
idle = SystemBox(image, command=("python3", "-I", "-c", "import sys; sys.stdin.read()"))
gateway = GatewayBox(image, sys.argv[2], b"first line", command=command)
with start() as sandbox:
    print(sandbox.lease.name, flush=True)
    with sandbox.open("reader-move-1", idle, gateway, deadline_s=60) as box:
        box.gateway.wait_for("ready", deadline_s=20)
        print("open", flush=True)
        time.sleep(600)
"""


@pytest.fixture
def killed(base_image: str, leases: dict[str, str]) -> Callable[[str], str]:
    """A bench that died of SIGKILL a moment ago; answers with its lease."""

    def kill(network: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-c", BENCH, base_image, network],
            env={**os.environ, **leases},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        lease = process.stdout.readline().strip()
        assert process.stdout.readline() == "open\n"
        process.kill()
        process.wait()
        return lease

    return kill


@pytest.mark.parametrize("how", [reap, clean])
@pytest.mark.parametrize("network", ["none", "bridge"])
def test_what_a_gateway_settles_after_its_bench_has_died_is_read(
    how: Callable[..., object],
    network: str,
    killed: Callable[[str], str],
    engine: Engine,
    leases: dict[str, str],
) -> None:
    lease = killed(network)
    ledgers: list[DeadLedger] = []
    began = time.monotonic()
    how(engine, Domain.at(Path(leases["BENCH_LEASES"])), on_ledger=ledgers.append)
    assert LATE_S - 1 < time.monotonic() - began < 10
    assert [one for one in ledgers if one.lease == lease] == [
        DeadLedger("reader-move-1", lease, network == "bridge", b"before\nsettled\n")
    ]
    assert left(engine, lease) == []


def test_a_ledger_is_the_gateways_alone_and_goes_with_its_box(
    sandbox: EngineSandbox,
    engine: Engine,
    system: Callable[..., SystemBox],
    base_image: str,
) -> None:
    command = ("python3", "-I", "-c", GATEWAY)
    gateway = GatewayBox(base_image, "none", b"first line", command=command)
    with sandbox.open("r", system(), gateway, deadline_s=30) as box:
        box.gateway.wait_for("ready", deadline_s=20)
        assert box.read_file(_spec.CALLS, side="gateway") == b"before\n"
        look = "import os\nvalue = os.path.exists('/run/ledger/calls.jsonl')"
        assert box.system.request("run", {"source": look}, deadline_s=5).result == {"value": False}
        volume = box.names.ledger
        shown = engine.call("GET", f"/volumes/{volume}")
        assert not shown["Options"]  # on the disk: one in memory would go with its container
    assert engine.call("GET", f"/volumes/{volume}", missing_ok=True) is None
