"""The real ``bench``, in a process of its own, as a user starts it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from runner.reports import files
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.runs.sandbox import Engine

COMMAND = Path(sys.executable).parent / "bench"


@dataclass(slots=True)
class Bench:
    """Starts the command in one folder, with leases of its own."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    engine: Engine | None = None
    within: tuple[str, ...] = ()
    """A command that runs the bench, such as one that takes its network away."""

    @property
    def leases(self) -> Path:
        return self.folder / "leases"

    def start(self, *args: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.within, str(COMMAND), *map(str, args)],
            cwd=self.folder,
            env={**os.environ, "BENCH_LEASES": str(self.leases), "COLUMNS": "100", **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *args: str | Path, timeout_s: float = 180.0) -> subprocess.CompletedProcess[str]:
        process = self.start(*args)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"no end within {timeout_s} s:\n{out}\n{err}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def report(self, name: str) -> Report:
        """A report in the folder, verified as `bench rescore` does."""
        report = files.load(self.folder / name)
        verify(report)
        return report

    def left(self) -> list[str]:
        """Names of containers and volumes of any bench that was started here."""
        assert self.engine is not None
        domain = (self.leases / "domain").read_text() if self.leases.exists() else "none"
        found = []
        containers = self.engine.call("GET", "/containers/json", query={"all": "1"})
        volumes = self.engine.call("GET", "/volumes")["Volumes"] or []
        for thing in (*containers, *volumes):
            label = (thing.get("Labels") or {}).get("memory-bench.domain", "")
            if label.startswith(domain):
                found.append(thing.get("Name") or thing["Names"][0])
        return found


def processes_of(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def until(what: Callable[[], object], timeout_s: float) -> float:
    """Wait for something to be true; how long that took, in seconds."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < timeout_s, f"not within {timeout_s} s"
        time.sleep(0.05)
    return time.monotonic() - began


def end(process: subprocess.Popen[str]) -> None:
    """Leave no bench behind, whatever a test came to."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.communicate()
