"""From a report to an exit code: the gravest ending among its runs decides."""

from runner.model import Outcome
from runner.reports.schema import Report

_GRAVEST_FIRST = (
    (Outcome.INVALID, 4),
    (Outcome.ERRORED, 5),
    (Outcome.INCOMPLETE, 3),
    (Outcome.FAILED, 1),
)


def code_of(*reports: Report) -> int:
    """The exit code of one report or of several; see ``runner.errors`` for the table."""
    outcomes = {run.ending.outcome for report in reports for run in report.runs}
    if any(report.missing for report in reports):
        outcomes.add(Outcome.INCOMPLETE)
    return next((code for outcome, code in _GRAVEST_FIRST if outcome in outcomes), 0)
