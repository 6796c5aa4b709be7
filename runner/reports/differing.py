"""What sets our runs of a memory apart from the published ones of the same memory, in words."""

from collections.abc import Iterator, Sequence

from runner.published import PublishedAnswers, PublishedHonesty, PublishedMemory, load_honesty
from runner.reports.remarks import answered_by
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam


def differing(reports: Sequence[Report]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each system of which something was published on the set it was asked, and what differs.

    Args:
        reports: of one set.
    """
    known = load_honesty()
    for report in reports:
        there = known.like(report.system.name)
        if there is None or not isinstance(report.case, Exam):
            continue
        rows = _rows(known, there, report.case.set)
        if rows:
            yield report.system.name, tuple(_differences(report, there, rows))


def _rows(
    known: PublishedHonesty, there: PublishedMemory, name: str
) -> tuple[PublishedAnswers, ...]:
    return tuple(row for row in known.of(name) if row.system == there.name)


def _differences(
    report: Report, there: PublishedMemory, rows: Sequence[PublishedAnswers]
) -> Iterator[str]:
    versions = list(dict.fromkeys(row.version for row in rows if row.version))
    if versions and versions != [report.system.version]:
        yield f"version {report.system.version} here, {' and '.join(versions)} there"
    encoder = next((run.encoder for run in report.runs if run.encoder), None)
    if encoder or there.embedder:
        yield f"embedder {encoder or 'none'} here, {there.embedder or 'none told'} there"
    if there.observer:
        yield f"notes taken by {_observer(report)} here, by {there.observer} there"
    yield f"there {there.run}"


def _observer(report: Report) -> str:
    """Who took the notes: a model, or a table."""
    if report.spend.simulated and report.cassette is None:
        return f"no model ({answered_by(report)})"
    replayed = " (recorded)" if report.arm == "replay" else ""
    return f"{report.model}{replayed}"
