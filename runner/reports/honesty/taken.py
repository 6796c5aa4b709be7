"""What it took: to index, to answer, and of memory. From a run's own steps and ledger."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from runner.model import Call, RunRecord
from runner.plain import plain
from runner.reports.cells import NOTHING, money, number, whole, words
from runner.reports.honesty._cells import table
from runner.reports.remarks import answered_by
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet
from runner.suites.memory_honesty import Exam, HonestyVerdict
from runner.suites.memory_honesty.protocol import ASK, INDEX

SEVERAL = "of_several_files"
"""What a driver may say in its answer to ``index``: how many of its notes of pages name several
files. Which of them an answer cites is then arbitrary."""
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Taken:
    """One system's first graded run of a set."""

    label: str
    pages: int
    index_s: float
    """Until all pages were taken."""
    calls: int
    """Model calls for it: all that were made before the first question."""
    usd: Decimal
    """What they cost, at list prices."""
    later: int
    """Model calls after that."""
    later_usd: Decimal
    simulated: bool
    """Whether nothing of it was spent."""
    answered_by: str
    """Who answered the calls."""
    p50_ms: float
    """Half of the questions took no longer."""
    p95_ms: float
    """19 of 20 took no longer."""
    peak_bytes: int | None
    """The most memory of its container; none where that could not be told."""
    peak_how: str
    """How that was measured."""
    several: int | None
    """Notes of pages that name several files; none where the system does not tell."""


def taken(report: Report) -> Taken | None:
    """What a report's first graded run took; none where there is none."""
    case, verdict = report.case, report.verdict
    if not (isinstance(case, Exam) and isinstance(verdict, HonestyVerdict) and verdict.runs):
        return None
    [run] = [run for run in report.runs if run.spec.id == verdict.runs[0].run]
    before = [call for call in run.calls if not _asked(call)]
    after = [call for call in run.calls if _asked(call)]
    [index] = [step for step in run.steps if step.verb == INDEX]
    several = index.result.get(SEVERAL)
    return Taken(
        label=report.system.name,
        pages=len(case.pages),
        index_s=index.seconds,
        calls=len(before),
        usd=_usd(before),
        later=len(after),
        later_usd=_usd(after),
        simulated=report.spend.simulated,
        answered_by=answered_by(report),
        p50_ms=_quantile(run, 0.5),
        p95_ms=_quantile(run, 0.95),
        peak_bytes=run.peak_memory_bytes,
        peak_how=run.peak_memory_how,
        several=several if type(several) is int else None,
    )


def takings(found: Sequence[Taken]) -> Sheet:
    """What each took, a line each, and what to know of the figures."""
    return table(
        "taken",
        "What it took",
        ("system", "system"),
        (
            ("pages", "pages"),
            ("index s", "index_s"),
            ("calls", "calls"),
            ("US$", "usd"),
            ("p50 ms", "p50_ms"),
            ("p95", "p95_ms"),
            ("MB", "peak_bytes"),
            ("several", "of_several_files"),
        ),
        [(words(one.label), *_cells_of(one)) for one in found],
        tuple(remarks(found)),
    )


def cells(one: Taken, *, none: str = "·") -> tuple[str, ...]:
    """The figures of a line: pages, index, calls, money, latency, memory, several."""
    return tuple(none if cell == NOTHING else cell.text for cell in _cells_of(one))


def _cells_of(one: Taken) -> tuple[Cell, ...]:
    return (
        whole(one.pages),
        number(one.index_s, ".2f" if one.index_s < 10 else ".0f"),
        whole(one.calls),
        money(one.usd) if one.calls else NOTHING,
        number(one.p50_ms, ".0f"),
        number(one.p95_ms, ".0f"),
        NOTHING
        if one.peak_bytes is None
        else Cell(f"{one.peak_bytes / MB:.0f}", value=one.peak_bytes),
        NOTHING if one.several is None else whole(one.several),
    )


def remarks(found: Sequence[Taken]) -> Iterator[str]:
    """What a reader has to know of the figures, a sentence each."""
    asked = [one for one in found if one.calls or one.later]
    if asked:
        by: dict[str, list[str]] = {}
        for one in asked:
            money = "simulated, at list prices" if one.simulated else "spent, at list prices"
            by.setdefault(f"{one.answered_by}; {money}", []).append(one.label)
        yield plain(f"calls, US$: {_each(by)}.")
    for one in asked:
        if one.later:
            yield plain(
                f"{one.label}: {one.later} more calls while it answered, US${one.later_usd:.4f}."
            )
    hows: dict[str, list[str]] = {}
    for one in found:
        if one.peak_bytes is not None:
            # Of samples, how many there were is each run's own.
            how = "largest of samples" if "samples" in one.peak_how else one.peak_how
            hows.setdefault(how, []).append(one.label)
    if hows:
        yield plain(f"MB: {_each(hows)}; files that the kernel keeps for the container included.")
    if any(one.several is not None for one in found):
        yield "several: notes of pages that name several files, of which the first is cited."


def _each(by: dict[str, list[str]]) -> str:
    """Who goes with what; the names only where there are several ways."""
    if len(by) == 1:
        return next(iter(by))
    return "; ".join(f"{', '.join(names)}: {what}" for what, names in by.items())


def _asked(call: Call) -> bool:
    """Whether a call was made for a question; a sealed report leaves out for which."""
    return call.step.partition(" ")[0] == ASK


def _usd(calls: Sequence[Call]) -> Decimal:
    return sum((call.cost_usd for call in calls), Decimal(0))


def _quantile(run: RunRecord, share: float) -> float:
    took = sorted(step.seconds * 1000 for step in run.steps if step.verb == ASK)
    return took[math.ceil(share * len(took)) - 1]
