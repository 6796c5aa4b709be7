"""The box a run happens in.

:mod:`runner.runs.sandbox.protocol` says what a run may ask; :func:`start` gives a sandbox on this
machine's container engine.
"""

from runner.runs.sandbox._docker import EngineSandbox, start
from runner.runs.sandbox._engine import Engine, EngineRefused, connect
from runner.runs.sandbox._lease import Domain, folder
from runner.runs.sandbox._ledgers import DeadLedger
from runner.runs.sandbox._reaper import Cleaning, clean, reap
from runner.runs.sandbox.protocol import Box, Channel, GatewayBox, Reply, Sandbox, SystemBox
from runner.runs.sandbox.snapshot import Snapshot, load

__all__ = [
    "Box",
    "Channel",
    "Cleaning",
    "DeadLedger",
    "Domain",
    "Engine",
    "EngineRefused",
    "EngineSandbox",
    "GatewayBox",
    "Reply",
    "Sandbox",
    "Snapshot",
    "SystemBox",
    "clean",
    "connect",
    "folder",
    "load",
    "reap",
    "start",
]
