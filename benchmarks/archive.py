"""Images into a file and out of it: the bench's archive, and what the engine's own commands do.

    python -m benchmarks.archive [--rounds 3] [--level 9] [--threads 2] [--json FILE]

The same images (engine and bench), the same level and threads, in turns on the same machine, each
from the start of its commands to their exit:

1. **Out**: ``bench images archive engine bench`` over ``docker save ... | zstd -9 -T2``.
2. **In**: ``bench images restore`` over ``zstd -d | docker load``, into an engine that holds
   nothing: a second one on this machine, with a data root of its own, emptied before every turn.

What ours does beside: every layer and config is digested on its way out, and all of the archive is
read and digested, compressed and not, before the engine is told anything, and again on its way in;
afterwards it is looked at what the engine holds. Layers that images share are compressed once on
either side. Needs root, ``dockerd`` and ``zstd``.

Ratios are printed beside the target; nothing is asserted.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.figures import Ratio, summary
from runner import images
from runner.paths import root

TARGET = 1.5
BUSY = 1.5
"""The load from which a machine is not quiet."""
NAMES = ("engine", "bench")
BENCH = "import sys; from runner.commands import main; sys.exit(main())"
READY_S = 30.0

Times = Mapping[str, float]
"""Seconds each way took in one round, by its name."""


class Spoiled(Exception):
    """A command that did not do what was to be timed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.archive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3, help="executions of each")
    parser.add_argument("--level", type=int, default=9, help="of zstd")
    parser.add_argument("--threads", type=int, default=2, help="of zstd")
    parser.add_argument("--json", type=Path, help="every measurement, as a file")
    options = parser.parse_args(arguments)
    console = Console(width=80, highlight=False)
    references = [images.ensure(name).name for name in NAMES]
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as name, _engine(Path(name)) as other:
        ways = _Ways(Path(name), references, other, options.level, options.threads)
        load = os.getloadavg()[0]  # what comes after it is of the measured themselves
        ways.round(0)  # warms the page cache
        rounds = [ways.round(number) for number in range(options.rounds)]
        sizes = {side: path.stat().st_size for side, path in ways.files.items()}
    console.print(
        f"{len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, Python "
        f"{platform.python_version()}; {len(rounds)} rounds; load before them {load:.1f}\n"
    )
    if rounds:
        console.print(summary(figures(rounds)))
    console.print("\n" + ", ".join(f"{side}: {size / 1e6:.1f} MB" for side, size in sizes.items()))
    if load > BUSY:
        console.print("\nThe machine was not quiet when it began.")
    if options.json:
        options.json.write_text(json.dumps(rounds, indent=1))
    return 0


def figures(rounds: Sequence[Times]) -> dict[str, Ratio]:
    """Ours over the engine's own commands, both ways."""
    return {
        title: Ratio(
            tuple(each[f"our {way}"] for each in rounds),
            tuple(each[f"their {way}"] for each in rounds),
            TARGET,
        )
        for title, way in (("archive over save", "out"), ("restore over load", "in"))
    }


class _Ways:
    """Both ways out and in."""

    def __init__(
        self, folder: Path, references: Sequence[str], other: str, level: int, threads: int
    ) -> None:
        self.files = {"ours": folder / "ours.bench", "theirs": folder / "theirs.tar.zst"}
        self._other = other
        ours, theirs = (str(path) for path in self.files.values())
        bench = [sys.executable, "-c", BENCH, "images"]
        pack = ["--level", str(level), "--threads", str(threads), "--force", "--quiet"]
        saved = f"docker save {' '.join(references)} | zstd -q -f -{level} -T{threads} -o {theirs}"
        self._out: dict[str, list[str]] = {
            "our out": [*bench, "archive", *references, "-o", ours, *pack],
            "their out": ["bash", "-o", "pipefail", "-c", saved],
        }
        self._in: dict[str, list[str]] = {
            "our in": [*bench, "restore", ours, "--threads", str(threads), "--quiet"],
            "their in": ["bash", "-o", "pipefail", "-c", f"zstd -q -d -c {theirs} | docker load"],
        }

    def round(self, number: int) -> Times:
        """Each way once; every other round backwards, as neither is always to go first."""
        found: dict[str, float] = {}
        for commands, host in ((self._out, None), (self._in, self._other)):
            order = list(commands) if number % 2 == 0 else list(commands)[::-1]
            for name in order:
                if host is not None:
                    self._empty()
                found[name] = _timed(commands[name], host)
        return found

    def _empty(self) -> None:
        there = _docker(self._other, "images", "-aq").split()
        if there:
            _docker(self._other, "rmi", "-f", *dict.fromkeys(there))
        if _docker(self._other, "images", "-aq"):
            raise Spoiled("the other engine cannot be emptied")


def _timed(command: Sequence[str], host: str | None) -> float:
    os.sync()
    env = dict(os.environ) if host is None else {**os.environ, "DOCKER_HOST": host}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=root(), env=env, capture_output=True, text=True, check=False)
    taken = time.perf_counter() - began
    if done.returncode:
        raise Spoiled(f"{command[:6]} ended with {done.returncode}: {done.stderr[-1000:]}")
    return taken


def _docker(host: str, *args: str) -> str:
    return subprocess.run(
        ["docker", "-H", host, *args], capture_output=True, text=True, check=True
    ).stdout


@contextlib.contextmanager
def _engine(folder: Path) -> Iterator[str]:
    """A second engine with nothing in it; its address.

    It has a network namespace of its own: without one it would take the first engine's bridge.
    """
    home = folder / "engine"
    home.mkdir()
    (home / "daemon.json").write_text("{}")
    host = f"unix://{home}/docker.sock"
    off = ("iptables", "ip6tables", "ip-forward", "ip-masq", "userland-proxy")
    command = [
        # It ends with whoever measures, however that ends.
        "setpriv", "--pdeathsig", "TERM", "unshare", "--net", "dockerd", "--data-root",
        f"{home}/data", "--exec-root", f"{home}/exec", "--pidfile", f"{home}/pid", "-H", host,
        "--config-file", f"{home}/daemon.json", "--bridge=none",
        *(f"--{name}=false" for name in off),
    ]  # fmt: skip
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(lambda: _answers(host), process, home / "log")
        yield host
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _answers(host: str) -> bool:
    asked = ["docker", "-H", host, "version"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def _wait(ready: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise Spoiled(f"the second engine does not start: {log.read_text()[-1000:]}")
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
