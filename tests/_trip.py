"""A report of trip versus move, by its own nouns."""

from runner.reports.schema import Report
from runner.suites.trip_vs_move import Verdict


def verdict_of(report: Report) -> Verdict:
    """What its runs come to, of which there are some."""
    assert isinstance(report.verdict, Verdict)
    return report.verdict
