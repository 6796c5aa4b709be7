"""What it took: money, calls, tokens, time, memory. A run each, and no part of what is better."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from runner.model import Outcome, RunRecord
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that a run takes."""

    title: str
    of: Callable[[RunRecord], float | None]
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Took:
    """What a run takes in A and in B, on the average; none where it is not told."""

    name: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """B by A; none where A took nothing."""
        if self.before is None or self.after is None or not self.before:
            return None
        return self.after / self.before


def _tokens(run: RunRecord, *names: str) -> float:
    return float(sum(getattr(call.usage, name) for call in run.calls for name in names))


def _latency(run: RunRecord) -> float | None:
    took = sorted(call.latency_ms for call in run.calls if call.outcome == "answered")
    return took[math.ceil(len(took) / 2) - 1] if took else None


def _asking(run: RunRecord) -> float | None:
    took = sorted(step.seconds * 1000 for step in run.steps if step.verb == "ask")
    return took[math.ceil(len(took) / 2) - 1] if took else None


def _memory(run: RunRecord) -> float | None:
    return None if run.peak_memory_bytes is None else run.peak_memory_bytes / MB


MEASURES: Mapping[str, Measure] = {
    "cost": Measure("US$ a run", lambda run: float(run.cost_usd), 4),
    "calls": Measure("model calls", lambda run: float(len(run.calls)), 1),
    "input": Measure(
        "input tokens",
        lambda run: _tokens(run, "input", "cache_write_5m", "cache_write_1h", "cache_read"),
    ),
    "output": Measure("output tokens", lambda run: _tokens(run, "output")),
    "latency": Measure("ms a call, median", _latency),
    "answer": Measure("ms a question, median", _asking),
    "seconds": Measure("seconds a run", lambda run: run.seconds, 1),
    "memory": Measure("peak memory, MB", _memory),
}
"""By the name that a limit gives them."""


def effort(a: Report, b: Report) -> tuple[Took, ...]:
    """What a run takes on the average of those that came to a verdict, where either tells it.

    Kinds of runs that both have count alike, however many runs there are of each.
    """
    kinds = {run.spec.kind for run in _judged(a)} & {run.spec.kind for run in _judged(b)}
    found = [
        Took(name, _mean(a, kinds, one.of), _mean(b, kinds, one.of))
        for name, one in MEASURES.items()
    ]
    return tuple(one for one in found if one.before or one.after)


def effort_sheet(found: Sequence[Took], a: Report, b: Report) -> Sheet:
    """A line a measure."""
    columns = (
        Column("a run, on the average", key="measure"),
        Column("A", numeric=True),
        Column("B", numeric=True),
        Column("B by A", numeric=True, key="ratio"),
    )
    rows = tuple(
        (
            Cell(MEASURES[one.name].title, value=one.name),
            *(_cell(value, MEASURES[one.name].digits) for value in (one.before, one.after)),
            _cell(one.ratio, 2),
        )
        for one in found
    )
    notes = []
    simulated = [name for name, one in (("A", a), ("B", b)) if one.spend.simulated]
    if any(one.name == "cost" for one in found) and simulated:
        notes.append(f"Of {' and '.join(simulated)} the money is play money, at list prices.")
    if a.machine != b.machine:
        notes.append("Not made on the same machine: times and memory may be the machine's.")
    return Sheet("effort", "What it took", columns, rows, tuple(notes))


def _judged(report: Report) -> list[RunRecord]:
    return [run for run in report.runs if run.ending.outcome in (Outcome.PASSED, Outcome.FAILED)]


def _mean(
    report: Report, kinds: Collection[str], of: Callable[[RunRecord], float | None]
) -> float | None:
    means = []
    for kind in sorted(kinds):
        told = [of(run) for run in _judged(report) if run.spec.kind == kind]
        known = [value for value in told if value is not None]
        if known:
            means.append(sum(known) / len(known))
    return sum(means) / len(means) if means else None


def _cell(value: float | None, digits: int) -> Cell:
    return Cell("·", Tone.FAINT) if value is None else Cell(f"{value:.{digits}f}", value=value)
