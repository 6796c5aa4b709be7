"""Five scripted runs of linkedparticles: in our containers, and by its own harness.

    python -m benchmarks.particles_protocol [--rounds 3] [--json FILE]

Both sides do the reader's case, three moves and two trips alone, out of scripted answers, and both
are timed from the start of the command to its exit, in turns on the same machine:

1. **Ours**: ``bench trip-vs-move --system particles --arm scripted --jobs 2``. A container pair a
   run, all escapes tried, the real encoder, every call through the gateway, snapshots kept.
2. **As shipped**: ``particles benchmark trip-vs-move --arm scripted``, installed beside the project
   out of the same lock (``scripts/particles_venv.py``), with its byte code made. One run after
   another, each a process with a store of its own on the disk; a bag of words for an encoder.
3. **As shipped, in memory**: the same, its stores on a file system in memory, as ours are.

Where ours saves: the engine is imported once a run, and its verbs are forked from there; a store is
migrated when the image is built, and copied; two runs at a time. What it spends beside: containers,
a gateway, the encoder. The Python differs too: the image's beside the machine's.

Ratios are printed beside the target, with the CPU seconds of each side; nothing is asserted.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.cpu import Cpu, measured
from benchmarks.figures import Protocol, Ratio, summary
from runner.paths import root

TARGET = 0.7
BUSY = 1.5
"""The load from which a machine is not quiet."""
IDLE_S = 2.0
MEMORY = Path("/dev/shm")
OURS, SHIPPED, IN_MEMORY = "ours", "as shipped", "as shipped, in memory"
BENCH = "import sys; from runner.commands import main; sys.exit(main())"


class Spoiled(Exception):
    """A command that did not do what was to be timed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.particles_protocol",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3, help="executions of each")
    parser.add_argument("--json", type=Path, help="every measurement, as a file")
    options = parser.parse_args(arguments)
    console = Console(width=80, highlight=False)
    where = _installed()
    sides = [OURS, SHIPPED, *([IN_MEMORY] if MEMORY.is_dir() else [])]
    for side in sides:
        _executed(side, where, idle=0.0)  # builds what is missing, and warms the page cache
    load = os.getloadavg()[0]
    rounds = []
    for number in range(options.rounds):
        idle = _idle()
        # Every other round backwards: neither side is always the one that goes first.
        order = sides if number % 2 == 0 else sides[::-1]
        rounds.append({side: _executed(side, where, idle) for side in order})
    console.print(
        f"{len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, Python "
        f"{platform.python_version()}; {len(rounds)} rounds; load before them {load:.1f}\n"
    )
    if rounds:
        console.print(summary(figures(rounds)))
        console.print()
        console.print(spent(rounds))
    if load > BUSY:
        console.print("\nThe machine was not quiet when it began.")
    if options.json:
        raw = [{side: asdict(one) for side, one in each.items()} for each in rounds]
        options.json.write_text(json.dumps(raw, indent=1))
    return 0


def figures(rounds: Sequence[Mapping[str, Protocol]]) -> dict[str, Ratio]:
    """Ours over each of the others: wall time with the target, CPU seconds without."""
    found: dict[str, Ratio] = {}
    for side in (SHIPPED, IN_MEMORY):
        if side in rounds[0]:
            ours, theirs = ([each[one].wall for each in rounds] for one in (OURS, side))
            target = TARGET if side == SHIPPED else None
            found[f"ours over {side}"] = Ratio(tuple(ours), tuple(theirs), target)
    ours, theirs = ([each[one].own for each in rounds] for one in (OURS, SHIPPED))
    found["  CPU seconds of the same"] = Ratio(tuple(ours), tuple(theirs))
    return found


def spent(rounds: Sequence[Mapping[str, Protocol]]) -> Table:
    """What each side took, and what anything else took meanwhile."""
    table = Table(box=None, pad_edge=False)
    table.add_column("medians")
    for title in ("wall s", "CPU s", "else's CPU s"):
        table.add_column(title, justify="right", no_wrap=True)
    for side in rounds[0]:
        each = [one[side] for one in rounds]
        wall, own = median(one.wall for one in each), median(one.own for one in each)
        other = median(one.cpu.machine - one.own for one in each)
        table.add_row(side, f"{wall:.1f}", f"{own:.1f}", f"{other:.1f}")
    return table


def _installed() -> Mapping[str, str]:
    said = subprocess.run(
        [sys.executable, "scripts/particles_venv.py"],
        cwd=root(),
        stdout=subprocess.PIPE,
        check=True,
    )
    where: dict[str, str] = json.loads(said.stdout)
    return where


def _idle() -> float:
    idle: list[Cpu] = []
    with measured(idle):
        time.sleep(IDLE_S)
    return idle[0].machine / IDLE_S


def _executed(side: str, where: Mapping[str, str], idle: float) -> Protocol:
    """One execution of a side's command, which has to end well."""
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as folder:
        home = Path(folder)
        command, env = _ours(home) if side == OURS else _theirs(home, where, side)
        spent: list[Cpu] = []
        with measured(spent):
            before, began = _children(), time.perf_counter()
            done = subprocess.run(
                command,
                cwd=root() if side == OURS else home,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            wall, after = time.perf_counter() - began, _children()
    if done.returncode:
        raise Spoiled(f"{side} ended with {done.returncode}: {done.stderr[-1000:]}")
    if idle and "building memory-bench" in done.stderr:
        raise Spoiled("an image was built meanwhile: start again")
    return Protocol(wall, after - before, spent[0], idle)


def _ours(home: Path) -> tuple[list[str], dict[str, str]]:
    command = [sys.executable, "-c", BENCH, "trip-vs-move", "--system", "particles"]
    command += ["--arm", "scripted", "--jobs", "2", "--output", str(home / "report.json")]
    return command, dict(os.environ)


def _theirs(home: Path, where: Mapping[str, str], side: str) -> tuple[list[str], dict[str, str]]:
    command = [str(Path(where["python"]).with_name("particles")), "benchmark", "trip-vs-move"]
    command += ["--arm", "scripted", "--output", str(home / "report.json")]
    # Nothing of this process: settings, keys and a virtual environment would come along.
    env = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HF_HOME": where["hub"],
        "TMPDIR": str(MEMORY if side == IN_MEMORY else home),
    }
    return command, env


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
