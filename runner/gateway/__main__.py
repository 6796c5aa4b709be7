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
from runner.gateway.arms.choice import arm_of
from runner.gateway.batches import Batches
from runner.gateway.cassette import Entry
from runner.gateway.config import GatewayConfig
from runner.gateway.control import Control
from runner.gateway.door import Door
from runner.gateway.egress import EgressRefused
from runner.gateway.ledger import Ledger
from runner.gateway.lines import Input, Output
from runner.gateway.server import listening
from runner.gateway.wire import Wire, load_wire
from runner.model import Ending

ORPHAN_PATIENCE_S = 4.0
"""How long calls in flight may take to settle once nobody waits for the run any more."""
LAST_WORDS_S = {True: 10.0, False: 1.0}
"""How long what was said last may take to be read: by whoever told it to close, and by nobody."""


def main() -> int:
    """Run until the end; returns the exit code."""
    options = _options()
    source, output = Input(sys.stdin.fileno()), Output(sys.stdout.fileno())

    def hand_out(entry: Entry) -> None:
        output.say({"event": "recorded", "entry": entry.model_dump(mode="json")})

    try:
        line = source.read_line()
        if line is None:
            return 0
        config = GatewayConfig.model_validate_json(line)
        wire = load_wire(config.wire)
        arm = arm_of(config, wire, hand_out)
    except (ValueError, EgressRefused) as problem:
        output.say({"event": "failed", "error": {"type": "bad_config", "message": str(problem)}})
        output.close(LAST_WORDS_S[True])
        return 2
    told = asyncio.run(_serve(options, config, wire, arm, source, output))
    output.close(LAST_WORDS_S[told])
    return 0


async def _serve(
    options: argparse.Namespace,
    config: GatewayConfig,
    wire: Wire,
    arm: Arm,
    source: Input,
    output: Output,
) -> bool:
    def follow(line: bytes) -> None:
        output.put(b'{"event":"call","call":' + line + b"}")

    def ended(ending: Ending) -> None:
        output.say({"event": "ended", "ending": ending.model_dump(mode="json")})

    ledger = Ledger(options.ledger, follow)
    door = Door(config, wire, arm, ledger, ended)
    batches = Batches(door, arm.batches)
    control = Control(door, output, options.door / "clock")
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with listening(door, batches, options.door / "model.sock"):
        output.say({"event": "ready"})
        following = asyncio.create_task(control.follow(source))
        stopping = asyncio.create_task(stopped.wait())
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        told = following.done() and following.result()
        if not told:
            await door.close(ORPHAN_PATIENCE_S)
        for task in (following, stopping):
            task.cancel()
    await ledger.close()
    await arm.close()
    return told


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.gateway", description=__doc__)
    parser.add_argument("--door", type=Path, default=Path("/run/door"), metavar="DIR")
    parser.add_argument(
        "--ledger", type=Path, default=Path("/run/ledger/calls.jsonl"), metavar="FILE"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
