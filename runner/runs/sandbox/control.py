"""The control: that each probe can succeed, so that a table of ``blocked`` means something.

The same probes run in an ordinary container on a bridge, as root and as a user, with what the
sandbox takes away left in place. What they dial are stand-ins inside that container's own network
namespace (:mod:`runner.runs.sandbox.inside.stand_in`), and this machine's own bridge: nothing else
is ever dialled. A probe that does not succeed even there is *unproven* on this machine: its
``blocked`` may mean no more than that there was nothing to reach.
"""

import contextlib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from runner.errors import CannotStart
from runner.model import Escape
from runner.runs.sandbox import _spec
from runner.runs.sandbox._channel import StreamChannel
from runner.runs.sandbox._docker import EngineSandbox
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._inside import PACKAGE, describe, examine
from runner.runs.sandbox.inside import files, network, privileges
from runner.runs.sandbox.protocol import MIB, SystemBox

DEADLINE_S = 60.0
CAPABILITIES = (
    "DAC_READ_SEARCH MKNOD NET_ADMIN NET_RAW SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE"
    " SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_TIME"
)
"""Beyond what an engine grants by itself; not all, as an engine may lack some itself."""
SETUID = "setuid-program"
"""The one probe that is a part of another."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether one probe was seen to succeed.

    Attributes:
        probe: its name.
        proven: whether it got out of the control.
        detail: what it reached, or why it reached nothing.
        unproven: targets of it that were not reached, each with the reason.
    """

    probe: str
    proven: bool
    detail: str
    unproven: tuple[str, ...] = ()


def prove(
    sandbox: EngineSandbox, image: str, *, host_ports: tuple[int, ...] = network.HOST_PORTS
) -> tuple[Proof, ...]:
    """Run every probe where it should succeed.

    Args:
        sandbox: on whose engine, under whose lease.
        image: with a ``python3``; best the one whose sandbox is to be judged.
        host_ports: what to dial on this machine's bridge address; a refusal counts as reached.

    Raises:
        CannotStart: the engine has no such image, or cannot make such a container.
        DeadlineMissed, ContainerDied, EngineLost: the control itself went wrong.
    """
    seen = [row for rows in _rounds(sandbox, image, host_ports) for row in rows]
    return tuple(
        _judge(probe, [row for row in seen if row.probe == probe]) for probe in probe_names()
    )


def probe_names() -> tuple[str, ...]:
    """Every probe there is, in the order a table shows them."""
    probes = (*network.PROBES, *files.PROBES, *privileges.PROBES)
    return (*(probe.__name__.replace("_", "-") for probe in probes), SETUID)


def _judge(probe: str, rows: list[Escape]) -> Proof:
    reached = {row.target: row.detail for row in rows if row.result == "escaped"}
    missed = {row.target: row.detail for row in rows if row.target not in reached}
    unproven = tuple(f"{target}: {detail}" for target, detail in sorted(missed.items()))
    if reached:
        target, detail = next(iter(reached.items()))
        return Proof(probe, True, f"{target}: {detail}", unproven)
    return Proof(probe, False, "; ".join(unproven) or "not tried: no stand-in for it", unproven)


def _rounds(
    sandbox: EngineSandbox, image: str, host_ports: tuple[int, ...]
) -> Iterator[tuple[Escape, ...]]:
    engine, key = sandbox.engine, uuid.uuid4().hex[:8]
    name, guest, volume = (
        f"memory-bench-control-{key}-{role}" for role in ("main", "guest", "volume")
    )
    labels = sandbox.lease.labels("control", "control")
    addresses = sorted(_dialled())
    try:
        engine.call("POST", "/volumes/create", body={"Name": volume, "Labels": labels})
        body = _body(image, labels, addresses)
        mount = {"Type": "volume", "Source": volume, "Target": "/run/control"}
        body["HostConfig"] |= {"NetworkMode": "bridge", "Dns": ["127.0.0.1"], "Mounts": [mount]}
        with _running(engine, name, body) as channel:
            owned = set(channel.wait_for("ready", deadline_s=DEADLINE_S)["owned"])
            config = _config(engine, name, image, host_ports)
            config["probes"] = _safe(owned)
            for user in ("0:0", f"{_spec.USER}:{_spec.USER}"):
                yield examine(engine, name, config, deadline_s=DEADLINE_S, user=user).escapes
            # Seen from a container that shares the network but not the processes.
            body = _body(image, labels, [])
            body["HostConfig"]["NetworkMode"] = f"container:{name}"
            body["Entrypoint"] = ["python3", "-I", "-c", "import sys; sys.stdin.read()"]
            with _running(engine, guest, body):
                config["probes"] = ["abstract-socket"]
                yield examine(engine, guest, config, deadline_s=DEADLINE_S).escapes
    except EngineRefused as error:
        raise CannotStart(f"The control of the probes cannot run: {error.message}") from error
    finally:
        engine.call("DELETE", f"/volumes/{volume}", query={"force": "1"}, missing_ok=True)


def _dialled() -> set[str]:
    """Every address outside this machine that a probe dials."""
    hosts = {host for host, _ in (*network.PUBLIC, *network.IPV6)} | {*network.METADATA}
    return hosts | {host for host in network.RESOLVERS if not host.startswith("127.")}


def _safe(owned: set[str]) -> list[str]:
    """Probes all of whose targets are ours, so that none dials a stranger."""
    unsafe: set[str] = set()
    for address in _dialled() - owned:
        if ":" in address:
            unsafe |= {"ipv6", "metadata"}
        else:
            unsafe |= {"public-address", "dns", "metadata"}
    return [probe for probe in probe_names() if probe not in unsafe]


def _config(engine: Engine, name: str, image: str, host_ports: tuple[int, ...]) -> dict[str, Any]:
    found = engine.call("GET", f"/containers/{name}/json")
    networks: Mapping[str, Any] = found["NetworkSettings"]["Networks"]
    gateways = tuple(network["Gateway"] for network in networks.values() if network.get("Gateway"))
    config = describe(SystemBox(image), gateways)
    del config["limits"]
    return config | {"host_ports": host_ports, "each": True}


def _body(image: str, labels: Mapping[str, str], addresses: list[str]) -> dict[str, Any]:
    """An ordinary container, with every door the sandbox shuts left open."""
    source = resources.files(PACKAGE).joinpath("stand_in.py").read_text()
    return {
        "Image": image,
        "User": "0:0",
        "Labels": dict(labels),
        "Entrypoint": ["python3", "-I", "-c", source, *addresses],
        "Cmd": [],
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": {
            "CapAdd": CAPABILITIES.split(),
            "SecurityOpt": ["seccomp=unconfined", "apparmor=unconfined"],
            "MaskedPaths": [],
            "ReadonlyPaths": [],
            "Devices": [
                # A harmless node under the name of one that is not.
                {
                    "PathOnHost": "/dev/null",
                    "PathInContainer": "/dev/mem",
                    "CgroupPermissions": "rw",
                }
            ],
            "Memory": 256 * MIB,
            "PidsLimit": 128,
            "LogConfig": {"Type": "none"},
        },
    }


@contextlib.contextmanager
def _running(engine: Engine, name: str, body: Mapping[str, Any]) -> Iterator[StreamChannel]:
    def kill() -> None:
        with contextlib.suppress(EngineRefused):
            engine.call("POST", f"/containers/{name}/kill")

    channel = None
    try:
        engine.call("POST", "/containers/create", query={"name": name}, body=body)
        sock, first = engine.hijack(
            f"/containers/{name}/attach",
            query={"stream": "1", "stdin": "1", "stdout": "1", "stderr": "1"},
        )
        channel = StreamChannel(
            "control",
            sock,
            first,
            kill=kill,
            why_ended=lambda: CannotStart(
                "The control of the probes ended early." + (f" {channel.tail()}" if channel else "")
            ),
        )
        engine.call("POST", f"/containers/{name}/start")
        yield channel
    finally:
        if channel is not None:
            channel.close()
        engine.call(
            "DELETE", f"/containers/{name}", query={"force": "1", "v": "1"}, missing_ok=True
        )
