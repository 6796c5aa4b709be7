"""Every way out is shut in a box, and each of them is open in the control."""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from runner.runs.sandbox import Engine, EngineSandbox, GatewayBox, SystemBox
from runner.runs.sandbox import control as controls
from runner.runs.sandbox._inside import describe, examine, host_addresses

pytestmark = pytest.mark.containers

System = Callable[..., SystemBox]
Gateway = Callable[..., GatewayBox]

UNPROVABLE = {
    "ipv6": "the kernel has no IPv6",
    "vsock": "the kernel has no such sockets",
    "foreign-call": "a kernel without 32-bit calls, or another processor",
    "other-socket": "a kernel without these families",
}
"""Probes that need something of the machine or the image, and what."""


def test_nothing_gets_out_of_a_box(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("r", system(cpus=1.0), gateway(), deadline_s=30) as box:
        box.system.wait_for("ready", deadline_s=10)
        began = time.monotonic()
        rows = box.escapes()
        assert time.monotonic() - began < 5
        limits = box.limits()
        box.system.request("echo", deadline_s=5)  # the driver did not notice
    assert [row for row in rows if row.result == "escaped"] == []
    assert {row.probe for row in rows} == set(controls.probe_names())
    assert {row.probe for row in rows if row.result == "inapplicable"} <= {
        "other-process",
        "foreign-call",
        "setuid-program",
    }
    gateways = {address for address in host_addresses(engine) if address.endswith(".0.1")}
    assert gateways, host_addresses(engine)
    assert {limit.name for limit in limits if not limit.enforced} == set()
    assert {"memory", "pids", "cpus", "root", "system-call filter"} <= {row.name for row in limits}


def test_shared_memory_that_was_asked_for_is_no_escape(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    source = "import multiprocessing\nvalue = repr(multiprocessing.get_context('fork').Lock())"
    with sandbox.open("r", system(shm_bytes=1 << 20), gateway(), deadline_s=30) as box:
        assert (
            "Lock" in box.system.request("run", {"source": source}, deadline_s=10).result["value"]
        )
        assert [row for row in box.escapes() if row.result == "escaped"] == []
        sizes = {limit.name: limit.seen for limit in box.limits()}
    assert sizes["size of /dev/shm"] == str(1 << 20)


def test_a_leak_is_found(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    """A box whose declaration says less than it has: the probes see the difference."""
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        config = describe(system(), ())
        del config["mounts"]["/run/exchange"]
        config["mounts"]["/tmp"] = "ro"
        del config["limits"]["memory"]
        config["limits"]["memory"] = 1024
        found = examine(engine, box.names.system, config, deadline_s=20)
    out = {(row.probe, row.target) for row in found.escapes if row.result == "escaped"}
    assert {("mount", "/run/exchange"), ("write", "/run/exchange"), ("mount", "/tmp")} <= out
    assert [limit.name for limit in found.limits if not limit.enforced] == ["memory"]


@pytest.fixture
def listener(engine: Engine) -> Iterator[tuple[int, list[str]]]:
    """A port of this machine's bridge address, and who called it."""
    networks = engine.call("GET", "/networks")
    bridge = next(network for network in networks if network["Name"] == "bridge")
    with socket.socket() as server:
        try:
            subnet = ipaddress.ip_network(bridge["IPAM"]["Config"][0]["Subnet"])
            server.bind((str(subnet[1]), 0))
        except OSError:
            pytest.skip("the engine's bridge is not on this machine")
        server.listen()
        callers: list[str] = []

        def serve() -> None:
            while True:
                try:
                    sock, (address, _) = server.accept()
                except OSError:
                    return
                callers.append(address)
                sock.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], callers


def test_every_probe_can_succeed(
    engine: Engine,
    sandbox: EngineSandbox,
    base_image: str,
    listener: tuple[int, list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    port, callers = listener
    proofs = controls.prove(sandbox, base_image, host_ports=(port,))
    with capsys.disabled():
        for proof in proofs:
            if not proof.proven:
                print(f"\nunproven on this machine: {proof.probe}: {proof.detail}", end="")
    assert [proof.probe for proof in proofs] == list(controls.probe_names())
    assert {proof.probe for proof in proofs if not proof.proven} <= set(UNPROVABLE)
    assert callers != []
    host = next(proof for proof in proofs if proof.probe == "host")
    assert "connected" in host.detail


def test_the_control_dials_no_stranger() -> None:
    """Probes are left out unless every address they dial was taken over."""
    everything = set(controls._dialled())
    assert set(controls._safe(everything)) == set(controls.probe_names())
    without = set(controls.probe_names()) - set(controls._safe(everything - {"1.1.1.1"}))
    assert without == {"public-address", "dns", "metadata"}
    assert "ipv6" not in controls._safe(everything - {"2606:4700:4700::1111"})


@pytest.mark.parametrize(
    "source",
    [
        "import sqlite3\nc = sqlite3.connect('/home/bench/x.db')\n"
        "c.execute('pragma journal_mode=wal')\nc.execute('create table t(a)')\n"
        "value = c.execute('select count(*) from t').fetchone()[0]",
        "import threading\nt = [threading.Thread(target=len, args=('',)) for _ in range(20)]\n"
        "[x.start() for x in t]; [x.join() for x in t]\nvalue = 0",
        "import subprocess as s\nvalue = s.run(['socat', '-V'], capture_output=True).returncode",
        "import asyncio\nvalue = asyncio.run(asyncio.sleep(0)) or 0",
        "import socket\na, b = socket.socketpair(); a.send(b'x'); value = len(b.recv(1)) - 1",
        "import socket\nvalue = socket.if_nameindex()[0][0] == 'lo' and 0",
        "import os\nos.mkfifo('/tmp/pipe')\nvalue = 0",
        "import subprocess as s\nvalue = s.run(['sh', '-c', 'cat < /dev/null | sort']).returncode",
    ],
)
def test_what_a_memory_needs_still_works(
    source: str, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        assert box.system.request("run", {"source": source}, deadline_s=20).result == {"value": 0}
