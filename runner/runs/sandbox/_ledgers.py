"""What a dead bench spent: its gateways' ledgers, read before anything of them is removed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runner.errors import EngineLost, HostileSnapshot
from runner.runs.sandbox import _spec, snapshot
from runner.runs.sandbox._engine import Engine, EngineRefused
from runner.runs.sandbox._lease import LABEL_LEASE, LABEL_ROLE, LABEL_RUN
from runner.runs.sandbox.protocol import MIB

SETTLE_S = 10.0
"""A gateway whose bench has died settles what is in flight and ends by itself within this time."""
LEDGER_BYTES = 256 * MIB
READ_S = 60.0


@dataclass(frozen=True, slots=True)
class DeadLedger:
    """The ledger of a run whose bench died.

    Attributes:
        run_id: of the run.
        lease: of the bench.
        paid: whether its gateway had a way out, so that real money may have been spent.
        content: its lines; none where it cannot be read any more.
        why: what was in the way then.
    """

    run_id: str
    lease: str
    paid: bool
    content: bytes | None
    why: str = ""


OnLedger = Callable[[DeadLedger], None]


def is_gateway(labels: Mapping[str, str]) -> bool:
    """Whether a container with these labels was a run's gateway."""
    return labels.get(LABEL_ROLE) == "gateway"


def rescue(engine: Engine, container: Mapping[str, Any]) -> DeadLedger:
    """Read the ledger of one gateway, once the gateway has ended or had the time to.

    Args:
        engine: the engine.
        container: as the engine lists it.
    """
    labels, name = container["Labels"], container["Id"]
    mode = (container.get("HostConfig") or {}).get("NetworkMode")
    content, why = None, ""
    try:
        _wait(engine, name)
        content = _read(engine, name)
    except (EngineLost, EngineRefused, HostileSnapshot) as error:
        why = str(error)
    return DeadLedger(labels.get(LABEL_RUN, ""), labels[LABEL_LEASE], mode != "none", content, why)


def _wait(engine: Engine, name: str) -> None:
    """Wait for a container to end. One that does not is removed like any other."""
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        found = engine.call("GET", f"/containers/{name}/json", missing_ok=True)
        if found is None or not found["State"]["Running"]:
            return
        time.sleep(0.1)


def _read(engine: Engine, name: str) -> bytes:
    limit = snapshot.transport_limit(LEDGER_BYTES, 1)
    _, archive = engine.download(
        "GET",
        f"/containers/{name}/archive",
        query={"path": _spec.CALLS},
        deadline_s=READ_S,
        max_bytes=limit,
        missing_ok=True,
    )
    # A gateway that was stopped before it opened its door has made no file.
    return b"" if archive is None else snapshot.single_file(archive, max_bytes=LEDGER_BYTES)
