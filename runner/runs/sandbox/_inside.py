"""Looking at a container from inside: probes are sent there, run beside the driver, and report."""

import contextlib
import ipaddress
import itertools
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from runner.errors import ContainerDied, DeadlineMissed, EngineLost
from runner.model import Escape, Limit
from runner.runs.sandbox import _spec
from runner.runs.sandbox._engine import Engine
from runner.runs.sandbox._frames import STDOUT, Demux
from runner.runs.sandbox._gauge import COMMAND, Gauge
from runner.runs.sandbox.protocol import SystemBox

MODULES = ("report", "network", "files", "privileges", "limits", "main")
PACKAGE = "runner.runs.sandbox.inside"
ANSWER_BYTES = 4 * 1024 * 1024

# It waits for its input before it says anything, so nothing can arrive before somebody listens. The
# modules keep their names: they find each other where an import looks first.
LOADER = """
import json, sys, types
job = json.loads(sys.stdin.readline())
package = sys.modules[job["package"]] = types.ModuleType(job["package"])
for name, source in job["modules"]:
    module = types.ModuleType(job["package"] + "." + name)
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(source, name, "exec"), module.__dict__)
module.main(job["config"])
"""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the probes saw."""

    escapes: tuple[Escape, ...]
    limits: tuple[Limit, ...]


def examine(
    engine: Engine,
    container: str,
    config: Mapping[str, Any],
    *,
    deadline_s: float,
    user: str | None = None,
) -> Findings:
    """Run the probes inside a running container.

    Args:
        engine: the engine.
        container: its name or id; it needs a ``python3``.
        config: see :func:`runner.runs.sandbox.inside.main.main`.
        deadline_s: for the whole of it. When it passes the probes may still run: the caller has to
            end the container.
        user: who runs them; none for the container's own user.

    Raises:
        DeadlineMissed: they did not come back in time.
        ContainerDied: they ended without a report.
        EngineLost: the engine stopped answering.
    """
    findings, stream, _ = _examined(engine, container, config, deadline_s, user)
    stream.close()
    return findings


def examine_and_stay(
    engine: Engine, container: str, config: Mapping[str, Any], *, deadline_s: float
) -> tuple[Findings, Gauge]:
    """The same, by the container's own user; what ran the probes stays, to read its memory."""
    staying = {**config, "then": COMMAND}
    findings, stream, demux = _examined(engine, container, staying, deadline_s, None)
    return findings, Gauge(stream, demux)


def _examined(
    engine: Engine,
    container: str,
    config: Mapping[str, Any],
    deadline_s: float,
    user: str | None,
) -> tuple[Findings, socket.socket, Demux]:
    end = time.monotonic() + deadline_s
    body = {
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Cmd": ["python3", "-I", "-S", "-c", LOADER],
        **({"User": user} if user else {}),
    }
    created = engine.call("POST", f"/containers/{container}/exec", body=body, deadline_s=deadline_s)
    sock, first = engine.hijack(
        f"/exec/{created['Id']}/start", body={"Detach": False, "Tty": False}, deadline_s=deadline_s
    )
    demux = Demux(first)
    try:
        report, log = _converse(sock, demux, _job(config), end)
        return _findings(report, log), sock, demux
    except BaseException:
        sock.close()
        raise


def _findings(report: bytes, log: str) -> Findings:
    try:
        answer = json.loads(report)
        return Findings(
            tuple(Escape(**row) for row in answer["escapes"]),
            tuple(Limit(**row) for row in answer["limits"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ContainerDied(
            "The probes ended without a report." + (f" They said: {log[-1000:]}" if log else "")
        ) from error


def describe(box: SystemBox, hosts: tuple[str, ...]) -> dict[str, Any]:
    """What the probes are told of a system's container: what was declared, and so may be."""
    limits: dict[str, float] = {"memory": box.memory_bytes, "pids": box.pids}
    if box.cpus is not None:
        limits["cpus"] = box.cpus
    sizes = {
        _spec.HOME: box.home_bytes,
        "/tmp": box.tmp_bytes,  # noqa: S108
        _spec.EXCHANGE: box.exchange_bytes,
    }
    if box.shm_bytes:
        sizes["/dev/shm"] = box.shm_bytes  # noqa: S108
    return {
        "mounts": _spec.declared_mounts(box),
        "hosts": hosts,
        "sockets": [f"{_spec.DOOR}/"],
        "limits": limits,
        "sizes": sizes,
        "user": str(_spec.USER),
    }


def host_addresses(engine: Engine) -> tuple[str, ...]:
    """Addresses this machine may answer at: gateways of the engine's bridges, and our own."""
    found: set[str] = set()
    for network in engine.call("GET", "/networks") or ():
        for pool in (network.get("IPAM") or {}).get("Config") or ():
            with contextlib.suppress(KeyError, ValueError, IndexError):
                # The default bridge does not always say: then it has the first address.
                subnet = ipaddress.ip_network(pool["Subnet"])
                found.add((pool.get("Gateway") or str(subnet[1])).split("/")[0])
    found.update(_own_addresses())
    return tuple(sorted(found))


def _own_addresses() -> set[str]:
    found: set[str] = set()
    with contextlib.suppress(OSError):
        lines = Path("/proc/net/fib_trie").read_text().splitlines()
        for previous, line in itertools.pairwise(lines):
            if line.strip().startswith("/32 host LOCAL"):
                found.add(previous.split()[-1])
    with contextlib.suppress(OSError):
        for line in Path("/proc/net/route").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1] == "00000000" and fields[2] != "00000000":
                found.add(socket.inet_ntoa(bytes.fromhex(fields[2])[::-1]))
    return {address for address in found if not address.startswith("127.")}


def _job(config: Mapping[str, Any]) -> bytes:
    folder = resources.files(PACKAGE)
    modules = [(name, folder.joinpath(f"{name}.py").read_text()) for name in MODULES]
    return json.dumps({"package": PACKAGE, "modules": modules, "config": config}).encode() + b"\n"


def _converse(sock: socket.socket, demux: Demux, job: bytes, end: float) -> tuple[bytes, str]:
    """Send the job and read the other side's one line, or to the end, and its complaints."""
    log = bytearray()
    try:
        sock.settimeout(max(0.01, end - time.monotonic()))
        sock.sendall(job)
        data = b""
        while True:
            # To the end: only then it has taken in what it told of.
            for stream, piece in list(demux.feed(data)):
                if stream == STDOUT:
                    return piece, _text(log)
                if len(log) < ANSWER_BYTES:
                    log += piece
            sock.settimeout(max(0.01, end - time.monotonic()))
            data = sock.recv(1024 * 1024)
            if not data:
                return b"", _text(log)
    except TimeoutError:
        raise DeadlineMissed("The probes did not come back in time.") from None
    except OSError as error:
        raise EngineLost(f"The stream to the probes broke: {error}.") from error


def _text(log: bytearray) -> str:
    return log.decode(errors="replace").strip()
