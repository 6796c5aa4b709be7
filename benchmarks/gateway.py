"""What the gateway costs a call, beside going direct, mitmproxy and the LiteLLM proxy.

    python -m benchmarks.gateway [--rounds 5] [--seconds 3] [--json FILE] [--without NAME]

All ways lead to the same stand-in provider, in one run, with requests of 2,000 bytes. Ours meters,
holds a reserved ceiling, writes each call's line to the disk and records; the others only pass on.
In each round each way is measured in turn, in another order every time, while the other proxies
are held still; what is printed are medians of the rounds, and what a way adds is paired with going
direct in the same round. Nothing is asserted.

- *added*: milliseconds over going direct, of calls made one by one.
- *1st token*: the same until the first token of a stream, whose rest comes 5 ms later.
- *req/s*: with 16 calls at once. The proxy has one core; the load generator and the stand-in are
  one process on the other, so that *direct* is what that process can do by itself.
- */cpu s*: calls a CPU second of the proxy: what it can do with a core of its own, however busy
  the machine is with other things.
- *MB*: the peak of the proxy's resident memory.
"""

import argparse
import asyncio
import gc
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks import cpu
from benchmarks.comparison import Measured, Round, comparison, targets
from benchmarks.load import Requests, Took, at_once, one_by_one, provider
from benchmarks.ways import Way, all_ways, environment
from runner.paths import state_dir

AT_ONCE = 16
PROXIES = ("ours", "mitmproxy", "litellm")
BASE = "memory-bench"
WARM_UP = 50
SINGLE_S = 8.0
"""About how long calls one by one may take, whole and as streams each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gateway",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of load, a way and round")
    parser.add_argument("--calls", type=int, default=500, help="one by one, a way and round")
    parser.add_argument("--without", action="append", default=[], choices=PROXIES)
    parser.add_argument("--json", type=Path, help="every round, as a file")
    options = parser.parse_args(arguments)
    console, errors = Console(width=100, highlight=False), Console(stderr=True, highlight=False)
    cores = sorted(os.sched_getaffinity(0))
    mine, theirs = cores[0], cores[-1]
    os.sched_setaffinity(0, {mine})
    state = state_dir() / "benchmarks"
    state.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state, prefix="gateway-") as folder:
        names = [name for name in PROXIES if name not in options.without]
        for name in names:
            if name != "ours":
                errors.print(f"looking for {name}'s environment, which is made when it is missing")
                environment(name)
        machine = cpu.busy(Path("/proc/stat").read_text())
        begun, own = time.monotonic(), time.process_time()
        rounds, spent = asyncio.run(_measure(names, Path(folder), theirs, options, errors))
        wall = time.monotonic() - begun
        own = time.process_time() - own + spent
        foreign = (cpu.busy(Path("/proc/stat").read_text()) - machine - own) / wall
    console.print(
        f"Linux {platform.release()}, Python {platform.python_version()}; load on core {mine},"
        f" proxy on core {theirs}{'' if mine != theirs else ' (the same!)'}\n"
        f"{len(rounds)} rounds; everything else on the machine took {foreign:.2f} cores\n"
    )
    console.print(comparison(rounds, BASE))
    if BASE in rounds[0]:
        console.print()
        console.print(targets(rounds, BASE))
    if options.json:
        raw = [{name: asdict(one) for name, one in each.items()} for each in rounds]
        options.json.write_text(json.dumps(raw, indent=1))
    return 0


async def _measure(
    names: Sequence[str], folder: Path, core: int, options: argparse.Namespace, errors: Console
) -> tuple[list[Round], float]:
    """The rounds, and the CPU seconds of all proxies."""
    server, port = await provider()
    rounds: list[Round] = []
    with all_ways(names, folder, port, core, errors.print) as ways:
        for number in range(options.rounds):
            turn = number % len(ways)
            order = ways[turn:] + ways[:turn]
            found: dict[str, Measured] = {}
            for way in order if number % 2 else order[::-1]:
                errors.print(f"round {number + 1}: {way.name}")
                found[way.name] = await _one(way, options)
            rounds.append({way.name: found[way.name] for way in ways})
        spent = sum(way.cpu_s() for way in ways)
    server.close()
    return rounds, spent


async def _one(way: Way, options: argparse.Namespace) -> Measured:
    way.wake(True)
    clients = [await way.connect() for _ in range(AT_ONCE)]
    try:
        whole, streamed = Requests(stream=False), Requests(stream=True)
        warm = await one_by_one(clients[0], whole, WARM_UP)
        await one_by_one(clients[0], streamed, WARM_UP // 5)
        usual = sorted(took.whole for took in warm)[WARM_UP // 2]
        count = max(100, min(options.calls, int(SINGLE_S / usual)))
        gc.collect()
        singles = await one_by_one(clients[0], whole, count)
        streams = await one_by_one(clients[0], streamed, max(100, count // 2))
        await at_once(clients, whole, 0.3)
        before = way.cpu_s()
        calls, seconds = await at_once(clients, whole, options.seconds)
        spent = way.cpu_s() - before
        return Measured(
            whole=tuple(took.whole for took in singles),
            token=tuple(_token(took) for took in streams),
            calls=calls,
            seconds=seconds,
            cpu=spent,
            peak_mb=way.peak_mb(),
        )
    finally:
        for client in clients:
            client.close()
        await asyncio.sleep(0.05)
        way.wake(False)


def _token(took: Took) -> float:
    return took.whole if took.token is None else took.token


if __name__ == "__main__":
    sys.exit(main())
