"""What the bench costs beside what it cannot do without.

    python -m benchmarks.run_overhead [--rounds 7] [--protocols 3] [--json FILE]

Two ratios, printed beside their targets; nothing is asserted.

1. **A run over its container pair.** The pair is the run's two containers from the same images
   with the same settings and limits, opened and removed by the same sandbox: created, started, the
   gateway listening, the driver having answered ``describe`` and having done all that it does by
   itself at its start, which ends with the import of the model's SDK. No probe, no step, no call.
   Pairs and runs alternate, so that both see the same machine; a round is pair, reader run,
   mid-trip run.
2. **The five-run protocol with two jobs over its own CPU seconds divided by cores.** The command
   as a person types it, from its start to its exit, in a process of its own. Its CPU seconds are
   the command's, its containers', the engine's daemons' and those of the containers' monitors,
   all from the kernel's accounts. That sum leaves out what the kernel does for them by itself and
   runtimes that lived too short a time to be seen, so the ratio is rather too high than too low.
   What the whole machine spent beyond its idle rate is printed as a control: where the two differ
   much, something else was running, and the figure says little; so the quietest executions are
   taken, by that difference, and not by their ratio.
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
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console

from benchmarks.cpu import Cpu, measured
from benchmarks.figures import (
    PROTOCOL_TARGET,
    RUN_TARGET,
    Protocol,
    Ratio,
    breakdown,
    ledger,
    summary,
)
from benchmarks.spans import Spans, TimedSandbox
from runner.model import Outcome
from runner.prices import load_prices
from runner.runs import plan
from runner.runs import protocol as asked
from runner.runs.clock import Clock
from runner.runs.job import Job
from runner.runs.keep import Keep
from runner.runs.place import Place, place
from runner.runs.run import Attempt
from runner.runs.watch import Unwatched
from runner.suites.trip_vs_move import load_case
from runner.systems.catalog import load as load_system

MODEL = "claude-sonnet-5-5"
OPEN_S = 60.0
IDLE_S = 2.0
QUIET = 0.15
"""The share of a protocol's own CPU seconds that anything else on the machine may have spent; the
kernel's work for it is a twentieth."""
BENCH = "import sys; from runner.commands import main; sys.exit(main())"

# The engine's own driver, told to say when what it does by itself at its start is done.
DRIVER = """
import os
from memory_engine import driver

out = os.dup(1)

class Starting(driver.Driver):
    def warm(self):
        super().warm()
        os.write(out, b'{"event": "warm"}\\n')

driver.Driver = Starting
driver.main()
"""


class Spoiled(Exception):
    """A round that measured something else."""


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of one pair and one run of each case, and the spans of the reader's."""

    pair: float
    started: float
    """Of the pair, until both sides answered, imports unfinished: opened, but not removed."""
    reader: float
    mid_trip: float
    spans: dict[str, tuple[float, float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run_overhead",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=7, help="pairs, and runs of each case")
    parser.add_argument("--protocols", type=int, default=3, help="executions of the protocol")
    parser.add_argument("--json", type=Path, help="every measurement, as a file")
    options = parser.parse_args(arguments)
    console, errors = Console(width=80, highlight=False), Console(stderr=True, highlight=False)
    cores = len(os.sched_getaffinity(0))
    with place("engine", say=errors.print) as here:
        engine = here.machine
        jobs = {case: _job(case, here) for case in ("reader", "mid-trip")}
        _round(jobs, here)  # warms the page cache
        rounds = [_round(jobs, here) for _ in range(options.rounds)]
    protocols = _protocols(options.protocols)
    figures: dict[str, Ratio] = {}
    if rounds:
        pair = tuple(one.pair for one in rounds)
        reader = tuple(one.reader for one in rounds)
        mid_trip = tuple(one.mid_trip for one in rounds)
        figures["reader move over its pair"] = Ratio(reader, pair, RUN_TARGET)
        figures["mid-trip move over its pair"] = Ratio(mid_trip, pair)
        # How much of the pair is there when it answers, without the SDK and before its removal.
        started = tuple(one.started for one in rounds)
        figures["  the pair until it answers"] = Ratio(started, pair)
    if protocols:
        figures["protocol over own CPU / cores"] = Ratio(
            tuple(one.wall for one in protocols),
            tuple(one.bound(cores) for one in protocols),
            PROTOCOL_TARGET,
        )
        figures["  the same, by the machine's CPU"] = Ratio(
            tuple(one.wall for one in protocols), tuple(one.machine / cores for one in protocols)
        )
    console.print(
        f"{cores} cores, Linux {platform.release()}, engine {engine.engine}\n"
        f"{len(rounds)} rounds, {len(protocols)} protocols; load {os.getloadavg()[0]:.1f}\n"
    )
    console.print(summary(figures))
    if rounds:
        console.print()
        console.print(breakdown([one.spans for one in rounds]))
    if protocols:
        console.print()
        console.print(ledger(protocols, cores))
        if max(abs(one.foreign) for one in protocols) > QUIET:
            console.print("\nSomething else was running. The protocol's figure says little.")
    if options.json:
        raw = {
            "rounds": [asdict(one) for one in rounds],
            "protocols": [asdict(one) for one in protocols],
        }
        options.json.write_text(json.dumps(raw, indent=1))
    return 0


def _job(case: str, here: Place) -> Job:
    loaded = load_case(case)
    protocol = asked.Protocol(
        case=loaded,
        system=load_system("engine"),
        arm="scripted",
        model=MODEL,
        runs={"move": 1},
        clock=Clock.parse("note", published=loaded.published_day),
        options={"same_slot_admits": True},
    )
    images = plan.Images(system=here.system.config_digest, gateway=here.gateway.config_digest)
    (job,) = plan.jobs(protocol, images, load_prices())
    return job


def _round(jobs: dict[str, Job], here: Place) -> Round:
    pair, started = _pair(jobs["reader"], here)
    spans = Spans()
    reader = _run(jobs["reader"], here, spans)
    mid_trip = _run(jobs["mid-trip"], here, Spans())
    return Round(pair, started, reader, mid_trip, spans.done)


def _pair(job: Job, here: Place) -> tuple[float, float]:
    """Seconds of the containers alone, and until they answered."""
    system = replace(job.system, command=("python", "-c", DRIVER))
    began = time.perf_counter()
    with here.sandbox.open("pair", system, job.gateway, deadline_s=OPEN_S) as box:
        box.gateway.wait_for("ready", deadline_s=OPEN_S)
        box.system.request("describe", {}, deadline_s=OPEN_S)
        started = time.perf_counter() - began
        box.system.wait_for("warm", deadline_s=OPEN_S)
    return time.perf_counter() - began, started


def _run(job: Job, here: Place, spans: Spans) -> float:
    began = time.perf_counter()
    attempt = Attempt(job, TimedSandbox(here.sandbox, spans), watch=Unwatched(), keep=Keep(None))
    record = attempt.run()
    took = time.perf_counter() - began
    if record.ending.outcome is not Outcome.PASSED:
        raise Spoiled(f"{job.spec.id}: {record.ending.outcome.value}: {record.ending.detail}")
    return took


def _protocols(count: int) -> list[Protocol]:
    """The whole command, so many times: the quietest of up to three times as many.

    One that built an image on the way does not count.
    """
    found: list[Protocol] = []
    for _ in range(3 * count):
        if len([one for one in found if abs(one.foreign) <= QUIET]) >= count:
            break
        idle: list[Cpu] = []
        with measured(idle):
            time.sleep(IDLE_S)
        one = _protocol(idle[0].machine / IDLE_S)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: abs(one.foreign))[:count]


def _protocol(idle: float) -> Protocol | None:
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as folder:
        command = [sys.executable, "-c", BENCH, "--arm", "scripted", "--jobs", "2"]
        command += ["--output", str(Path(folder) / "report.json")]
        spent: list[Cpu] = []
        with measured(spent):
            before, began = _children(), time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wall, after = time.perf_counter() - began, _children()
    if done.returncode:
        raise Spoiled(f"the protocol ended with {done.returncode}: {done.stderr[-1000:]}")
    if "building memory-bench" in done.stderr:
        return None
    return Protocol(wall, after - before, spent[0], idle)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
