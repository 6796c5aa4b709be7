"""linkedparticles' own reports: read, turned into the nouns of this bench, and scored again.

What such a report says is first held to its own rows, by the rules it was written under; every
figure that does not come out again is listed. Then the same runs are scored by the rules of this
bench, which differ on purpose in a few places (``docs/differences.md``).
"""

from pathlib import Path

from runner.errors import UsageError
from runner.reports.upstream.gate import rescore_gate
from runner.reports.upstream.read import is_upstream, load, parse
from runner.reports.upstream.render import render, sheets
from runner.reports.upstream.result import (
    Difference,
    GateResult,
    GateSet,
    TripResult,
    TripRun,
    UpstreamResult,
    exit_code,
)
from runner.reports.upstream.schema import GateUpstream, TripUpstream
from runner.reports.upstream.stores import store
from runner.reports.upstream.trip import rescore_trip
from runner.suites.update_gate.pairs import VERSION

__all__ = [
    "Difference",
    "GateResult",
    "GateSet",
    "GateUpstream",
    "TripResult",
    "TripRun",
    "TripUpstream",
    "UpstreamResult",
    "exit_code",
    "is_upstream",
    "load",
    "parse",
    "render",
    "rescore",
    "rescore_upstream",
    "sheets",
    "store",
]


def rescore_upstream(path: Path, version: int | None = None) -> TripResult | GateResult:
    """Read a report that linkedparticles wrote, and score it again.

    Args:
        path: the file.
        version: of the checks of trip versus move; the report's own when left out.

    Raises:
        UsageError: there is no such file, or the version cannot be computed from such a report.
        AlteredReport: it is no such report, or lacks what the checks read; the field is named.
    """
    return rescore(load(path), version, name=path.name)


def rescore(
    report: TripUpstream | GateUpstream, version: int | None = None, *, name: str = "the report"
) -> TripResult | GateResult:
    """Score a report that was read; see ``rescore_upstream``."""
    if isinstance(report, TripUpstream):
        return rescore_trip(report, version, name)
    if version not in (None, VERSION):
        raise UsageError(
            f"Checks version {version} is not defined for the update gate.",
            hint=f"Version: {VERSION}.",
        )
    return rescore_gate(report, name)
