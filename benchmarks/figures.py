"""The arithmetic of the figures, and the tables they are printed in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rich.table import Table

from benchmarks.cpu import Cpu

RUN_TARGET = 1.5
PROTOCOL_TARGET = 1.2


@dataclass(frozen=True, slots=True)
class Ratio:
    """Paired measurements of one thing over another.

    Attributes:
        of: seconds, a round each.
        over: seconds of the other, in the same rounds.
        target: the most that ``median`` should be; none for a figure without one.
    """

    of: tuple[float, ...]
    over: tuple[float, ...]
    target: float | None = None

    @property
    def rounds(self) -> tuple[float, ...]:
        """The ratio of each round."""
        return tuple(one / other for one, other in zip(self.of, self.over, strict=True))

    @property
    def median(self) -> float:
        """The middle of the rounds' ratios, not the ratio of middles: a round is a pair."""
        return median(self.rounds)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; none without one."""
        return None if self.target is None else self.median <= self.target

    def row(self) -> tuple[str, str, str, str, str]:
        """Cells: seconds, seconds of the other, ratio, its range, target."""
        low, high = min(self.rounds), max(self.rounds)
        target = "" if self.target is None else f"{self.target:.1f} {'met' if self.met else 'NOT'}"
        return (
            f"{median(self.of):.2f}",
            f"{median(self.over):.2f}",
            f"{self.median:.2f}",
            f"{low:.2f}-{high:.2f}",
            target,
        )


@dataclass(frozen=True, slots=True)
class Protocol:
    """One execution of the whole command.

    Attributes:
        wall: seconds from its start to its exit.
        orchestrator: CPU seconds of the command itself.
        cpu: everybody's.
        idle: CPU seconds a second that the machine spent with nothing of ours running.
    """

    wall: float
    orchestrator: float
    cpu: Cpu
    idle: float

    @property
    def own(self) -> float:
        """CPU seconds that can be put down to the protocol, process by process.

        Where containers cannot be counted, all of the machine's beyond its idle rate.
        """
        if self.cpu.containers is None:
            return self.machine
        return self.orchestrator + self.cpu.containers + self.cpu.daemons + self.cpu.helpers

    @property
    def machine(self) -> float:
        """All CPU seconds of the machine meanwhile, beyond its idle rate."""
        return self.cpu.machine - self.idle * self.wall

    @property
    def foreign(self) -> float:
        """What the machine spent on anything else, as a share of the protocol's own."""
        return (self.cpu.machine - self.own) / self.own

    def bound(self, cores: int) -> float:
        """Seconds it would have taken with every core busy on it all the time."""
        return self.own / cores

    def idle_cores(self, cores: int) -> float:
        """Core seconds in which nobody did anything meanwhile: what better packing could save."""
        return cores * self.wall - self.cpu.machine


def summary(rows: Mapping[str, Ratio]) -> Table:
    """The ratios, medians of their rounds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("medians")
    for title in ("s", "over s", "ratio", "range", "target"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, ratio in rows.items():
        table.add_row(name, *ratio.row())
    return table


def breakdown(rounds: Sequence[Mapping[str, tuple[float, float]]]) -> Table:
    """Where a run's time goes: medians of when each part began and how long it took."""
    table = Table(box=None, pad_edge=False)
    table.add_column("part of a run")
    for title in ("begins at ms", "takes ms"):
        table.add_column(title, justify="right")
    for name in merged(rounds):
        begins = median(spans[name][0] for spans in rounds if name in spans)
        takes = median(spans[name][1] - spans[name][0] for spans in rounds if name in spans)
        table.add_row(name, f"{begins * 1000:.0f}", f"{takes * 1000:.0f}")
    return table


def merged(rounds: Sequence[Mapping[str, tuple[float, float]]]) -> list[str]:
    """Every part's name, by when it usually begins."""
    names = {name for spans in rounds for name in spans}
    return sorted(
        names, key=lambda name: median(spans[name][0] for spans in rounds if name in spans)
    )


def ledger(protocols: Sequence[Protocol], cores: int) -> Table:
    """Who spent the CPU seconds of the protocol, and what was left unused."""
    table = Table(box=None, pad_edge=False)
    table.add_column("CPU seconds of the protocol")
    table.add_column("median", justify="right")

    def row(name: str, values: Sequence[float]) -> None:
        table.add_row(name, f"{median(values):.2f}")

    row("orchestrator", [one.orchestrator for one in protocols])
    if all(one.cpu.containers is not None for one in protocols):
        row("containers", [one.cpu.containers or 0.0 for one in protocols])
    row("engine's daemons", [one.cpu.daemons for one in protocols])
    row("monitors and runtimes, as far as seen", [one.cpu.helpers for one in protocols])
    row("sum: its own", [one.own for one in protocols])
    row("machine, less its idle rate", [one.machine for one in protocols])
    row("idle rate before it, in cores", [one.idle for one in protocols])
    row("spent on anything else, as a share of its own", [one.foreign for one in protocols])
    row("unused by anybody", [one.idle_cores(cores) for one in protocols])
    return table
