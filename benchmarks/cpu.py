"""CPU seconds by who spent them, out of /proc and the control groups."""

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
MONITORS = ("containerd-shim", "conmon")
DAEMONS = ("dockerd", "containerd", "podman")
HELPERS = (*MONITORS, "runc", "crun")
SAMPLE_S = 0.025
# Where engines put their containers, in either version of the control groups. A parent keeps what
# its children spent when they are gone.
PARENTS = ("cpuacct/docker", "cpu,cpuacct/docker", "docker", "machine.slice")


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU seconds of one stretch of time.

    Attributes:
        machine: of all processes and the kernel together, whoever they belong to.
        containers: of everything in a container; none where the control groups do not say.
        daemons: of the engine's daemons and the children they waited for.
        helpers: of containers' monitors and runtimes, as far as sampling saw them, which is less
            than all: a runtime lives for less than a tenth of a second.
    """

    machine: float
    containers: float | None
    daemons: float
    helpers: float


def ticks(stat: str, *, children: bool) -> tuple[str, float]:
    """The start time (as an id) and CPU seconds of a ``/proc/PID/stat``.

    The command's name stands in brackets and may hold anything, so fields count from the last one.

    Args:
        stat: the file's content.
        children: with those that ended and were waited for.
    """
    fields = stat.rpartition(")")[2].split()
    spent = sum(int(field) for field in fields[11 : 15 if children else 13])
    return fields[19], spent / os.sysconf("SC_CLK_TCK")


def busy(stat: str) -> float:
    """CPU seconds that ``/proc/stat`` counts as used: neither idle, nor waiting, nor stolen."""
    fields = [int(field) for field in stat.splitlines()[0].split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq = fields[:7]
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def in_containers(root: Path = CGROUPS) -> float | None:
    """CPU seconds that containers have spent since the machine started."""
    for parent in PARENTS:
        folder = root / parent
        with contextlib.suppress(OSError):
            return int((folder / "cpuacct.usage").read_text()) / 1e9
        with contextlib.suppress(OSError):
            rows = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
            return int(rows["usage_usec"]) / 1e6
    return None


@dataclass(slots=True)
class _Sampler:
    """Follows the engine's processes; each is worth what it had spent when last seen."""

    first: dict[tuple[str, str], float] = field(default_factory=dict)
    last: dict[tuple[str, str], float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    daemons: set[tuple[str, str]] = field(default_factory=set)

    def look(self, *, begin: bool = False) -> None:
        """Read all of them once; what is there at the beginning spent that much before."""
        pids = [path.name for path in PROC.iterdir() if path.name.isdigit()]
        for gone in self.names.keys() - set(pids):
            del self.names[gone]
        for pid in pids:
            with contextlib.suppress(OSError):
                name = self.names.get(pid) or (PROC / pid / "comm").read_text().strip()
                # A new process may still turn into another program; old ones are looked up once.
                if begin:
                    self.names[pid] = name
                if name.startswith(HELPERS) or name in DAEMONS:
                    # A monitor waits for its container's processes, which are counted as such.
                    started, spent = ticks(
                        (PROC / pid / "stat").read_text(), children=not name.startswith(MONITORS)
                    )
                    self._note((pid, started), spent, daemon=name in DAEMONS, begin=begin)

    def _note(self, key: tuple[str, str], spent: float, *, daemon: bool, begin: bool) -> None:
        if daemon:
            self.daemons.add(key)
        if begin:
            self.first[key] = spent
        self.last[key] = spent

    def spent(self, *, daemons: bool) -> float:
        """What was spent since the beginning."""
        return sum(
            spent - self.first.get(key, 0.0)
            for key, spent in self.last.items()
            if (key in self.daemons) is daemons
        )


@contextlib.contextmanager
def measured(into: list[Cpu]) -> Iterator[None]:
    """Measure what happens meanwhile, and append it to ``into``."""
    sampler, stop = _Sampler(), threading.Event()
    sampler.look(begin=True)
    containers, machine = in_containers(), busy((PROC / "stat").read_text())

    def follow() -> None:
        while not stop.wait(SAMPLE_S):
            sampler.look()

    thread = threading.Thread(target=follow, name="cpu", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        sampler.look()
        now = in_containers()
        into.append(
            Cpu(
                machine=busy((PROC / "stat").read_text()) - machine,
                containers=None if now is None or containers is None else now - containers,
                daemons=sampler.spent(daemons=True),
                helpers=sampler.spent(daemons=False),
            )
        )
