"""basic-memory's questions by the driver's one server, and by its own command line.

    python -m benchmarks.basic_memory [--questions 200] [--command-line 20] [--json FILE]

One container of the image, without a network, has the vault of the development set indexed once.
Then, in turns on the same machine,

1. **By the server**: ten questions through the driver's line protocol, as a run asks them, over
   the engine's own command: pages, scores and receipt come back.
2. **By the command line**: one of the ten by ``basic-memory tool search-notes Q --json``, a process
   a question, in the same container, home and environment; timed in there, so that starting it
   from outside costs it nothing.

A question that both were asked must bring the same pages in the same order with the same scores.
Of the command line ``--command-line`` questions are asked, spread evenly, and their mean stands for
all: 200 of them would take a quarter of an hour. What the server's one start takes is printed too,
and counted in the second ratio. Nothing is asserted but that the answers are the same.
"""

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.table import Table

from runner.images import ensure
from runner.suites.memory_honesty import load_set, load_vault

TARGET = 20
VAULT, SETS = "vault1", ("dev", "dev2")
TOP_K = 10
"""As many pages as its command line gives results."""
NEAR = 1e-6
SETTINGS = json.dumps({"model": "none", "pins": {}, "options": {}})
DOCKER = (
    "docker", "run", "--rm", "--interactive", "--network=none", "--user=10001:10001",
    "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--pids-limit=512",
    "--tmpfs=/home/bench:uid=10001,mode=0700", "--tmpfs=/tmp", "--env=HOME=/home/bench",
    f"--env=BENCH_SETTINGS={SETTINGS}",
)  # fmt: skip
BY_COMMAND = """
import json, subprocess, sys, time
command = ["basic-memory", "tool", "search-notes", sys.argv[1], "--json"]
began = time.monotonic()
done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
print(json.dumps([time.monotonic() - began, json.loads(done.stdout)["results"]]))
"""
START = """
import os, sys, time
from basic_memory_driver import settings
from basic_memory_driver.tool import Tool
tool = Tool(os.environ, settings.parse(os.environ["BENCH_SETTINGS"]))
began = time.monotonic()
tool.serve()
print(time.monotonic() - began)
tool.close()
"""

Ranked = list[tuple[str, float]]


class Spoiled(Exception):
    """What was timed did not do what it should have."""


class Driver:
    """The driver in its container, for as long as a block lasts."""

    def __init__(self, image: str) -> None:
        self._name = f"bench-basic-memory-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count(1)
        self._process = subprocess.Popen(
            [*DOCKER, f"--name={self._name}", image],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, verb: str, **payload: Any) -> Mapping[str, Any]:
        """The result of one request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"id": next(self._numbers), "verb": verb, **payload})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        if not reply["ok"]:
            raise Spoiled(f"{verb}: {reply['error']}")
        result: Mapping[str, Any] = reply["result"]
        return result

    def run(self, script: str, *arguments: str) -> Any:
        """What a script prints that is run beside it, in basic-memory's own environment."""
        inside = ("python", "-m", "basic_memory_driver.environment", "python", "-c", script)
        command = ("docker", "exec", self._name, *inside, *arguments)
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where the two do not answer the same."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.basic_memory",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=int, default=200, help="asked of the server")
    parser.add_argument("--command-line", type=int, default=20, help="of these, by it as well")
    parser.add_argument("--json", type=Path, help="every measurement, as a file")
    options = parser.parse_args(arguments)
    every = [question.q for name in SETS for question in load_set(name).questions]
    questions = list(itertools.islice(itertools.cycle(every), options.questions))
    stride = max(1, len(questions) // max(1, options.command_line))
    pages = [{"name": page.name, "text": page.text} for page in load_vault(VAULT).pages]
    load = os.getloadavg()[0]
    served: list[float] = []
    commanded: list[float] = []
    apart: list[str] = []
    with Driver(ensure("basic-memory").config_digest) as driver:
        driver.ask("index", pages=pages)
        start = float(driver.run(START))
        for place, question in enumerate(questions):
            began = time.monotonic()
            answer = driver.ask("ask", question=question, top_k=TOP_K)
            served.append(time.monotonic() - began)
            if place % stride == 0 and len(commanded) < options.command_line:
                took, results = driver.run(BY_COMMAND, question)
                commanded.append(took)
                ours = [(page["name"], page["score"]) for page in answer["pages"]]
                if not same(ours, [(row["file_path"], row["score"]) for row in results]):
                    apart.append(question)
    one, other = sum(served) / len(served), sum(commanded) / len(commanded)
    whole = len(questions) * other
    console = Console(width=80, highlight=False)
    console.print(
        f"{len(os.sched_getaffinity(0))} cores, Linux {platform.release()}; load before {load:.1f};"
        f" {len(pages)} pages\n"
    )
    table = Table("", "questions", "s each", "s for all", box=None)
    table.add_row("by the server", str(len(served)), f"{one:.3f}", f"{sum(served):.1f}")
    table.add_row("its one start", "", "", f"{start:.1f}")
    table.add_row("by the command line", str(len(commanded)), f"{other:.2f}", f"{whole:.0f} (mean)")
    console.print(table)
    console.print(
        f"\n{other / one:.0f} times faster; {whole / (sum(served) + start):.0f} times with the"
        f" server's start counted; target {TARGET}"
    )
    console.print(f"answers that differ: {len(apart)} of {len(commanded)} {apart or ''}")
    if options.json:
        told = {"served": served, "start": start, "commanded": commanded, "apart": apart}
        options.json.write_text(json.dumps(told, indent=1))
    return int(bool(apart))


def same(one: Ranked, other: Ranked) -> bool:
    """Whether both have the same pages in the same order, with the same scores."""
    return len(one) == len(other) and all(
        name == also and abs(score - it) <= NEAR
        for (name, score), (also, it) in zip(one, other, strict=True)
    )


if __name__ == "__main__":
    sys.exit(main())
