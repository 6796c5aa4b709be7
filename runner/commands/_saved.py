"""Reports of ``bench honesty`` that lie in a folder."""

from collections.abc import Sequence
from pathlib import Path

from runner.errors import UsageError
from runner.reports import files
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.suites.memory_honesty import SETS, Exam

Saved = Sequence[tuple[Report, Path]]
"""Each report and where it lies."""


def load_saved(
    folder: Path, systems: Sequence[str], sets: Sequence[str]
) -> list[tuple[Report, Path]]:
    """The reports of this suite in a folder, each verified; of these systems, in that order, and
    sets, where some are named.

    Raises:
        UsageError: there is none.
        AlteredReport: one was changed.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        report = files.load(path)
        if not isinstance(report.case, Exam):
            continue
        if (systems and report.system.name not in systems) or (
            sets and report.case.set not in sets
        ):
            continue
        verify(report)
        found.append((report, path))
    if not found:
        raise UsageError(f"There is no such report of memory-honesty in {folder}.")
    order = {name: place for place, name in enumerate(SETS)}
    named = {name: place for place, name in enumerate(systems)}

    def place(one: tuple[Report, Path]) -> tuple[int, str, int, str]:
        report, path = one
        name = report.system.name
        return named.get(name, 0), name, order[set_of(report)], path.name

    return sorted(found, key=place)


def set_of(report: Report) -> str:
    """What a report of this suite asked."""
    assert isinstance(report.case, Exam)
    return report.case.set


def sets_of(saved: Saved) -> list[str]:
    """Every set that was asked."""
    return list(dict.fromkeys(set_of(report) for report, _ in saved))


def systems_of(saved: Saved) -> list[str]:
    """Every system that was asked."""
    return list(dict.fromkeys(report.system.name for report, _ in saved))
