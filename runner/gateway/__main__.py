"""The gateway's process: ``python -m runner.gateway``.

Reads its configuration from the first line of standard input, says ``{"event": "ready"}`` when
the socket listens, and goes on until it is told to close, its standard input ends, or SIGTERM
or SIGINT comes.

Exit codes: 0 closed, whatever became of the run; 2 the configuration cannot be used.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from runner.gateway.arms import Arm
from runner.gateway.arms.scripted import ScriptedArm
from runner.gateway.config import GatewayConfig
from runner.gateway.control import Control
from runner.gateway.door import Door
from runner.gateway.ledger import Ledger
from runner.gateway.lines import Input, Output
from runner.gateway.server import listening
from runner.gateway.tables import Tables
from runner.gateway.wire import Wire, load_wire
from runner.model import Ending

ORPHAN_PATIENCE_S = 5.0
"""How long calls in flight may take to settle once nobody waits for the run any more."""


def main() -> int:
    """Run until the end; returns the exit code."""
    options = _options()
    source, output = Input(sys.stdin.fileno()), Output(sys.stdout.fileno())
    try:
        line = source.read_line()
        if line is None:
            return 0
        config = GatewayConfig.model_validate_json(line)
        wire = load_wire(config.wire)
        arm = _arm(config, wire)
    except ValueError as problem:
        output.say({"event": "failed", "error": {"type": "bad_config", "message": str(problem)}})
        output.close(ORPHAN_PATIENCE_S)
        return 2
    asyncio.run(_serve(options, config, wire, arm, source, output))
    output.close(ORPHAN_PATIENCE_S)
    return 0


async def _serve(
    options: argparse.Namespace,
    config: GatewayConfig,
    wire: Wire,
    arm: Arm,
    source: Input,
    output: Output,
) -> None:
    def follow(line: bytes) -> None:
        output.put(b'{"event":"call","call":' + line + b"}")

    def ended(ending: Ending) -> None:
        output.say({"event": "ended", "ending": ending.model_dump(mode="json")})

    ledger = Ledger(options.ledger, follow)
    door = Door(config, wire, arm, ledger, ended)
    control = Control(door, output, options.door / "clock")
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with listening(door, options.door / "model.sock"):
        output.say({"event": "ready"})
        following = asyncio.create_task(control.follow(source))
        stopping = asyncio.create_task(stopped.wait())
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not (following.done() and following.result()):
            await door.close(ORPHAN_PATIENCE_S)
        for task in (following, stopping):
            task.cancel()
    await ledger.close()


def _arm(config: GatewayConfig, wire: Wire) -> Arm:
    if config.arm != "scripted":
        raise ValueError(f"the {config.arm} arm is not built yet; use the scripted one")
    tables = ((table.name, table.content) for table in config.tables)
    return ScriptedArm(Tables.load(tables, config.names), wire)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.gateway", description=__doc__)
    parser.add_argument("--door", type=Path, default=Path("/run/door"), metavar="DIR")
    parser.add_argument(
        "--ledger", type=Path, default=Path("/run/ledger/calls.jsonl"), metavar="FILE"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
