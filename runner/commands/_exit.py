"""From a report to an exit code: the gravest ending among its runs decides."""

from runner.model import Outcome
from runner.reports.schema import Report
from runner.suites.update_gate import GateVerdict

_GRAVEST_FIRST = (
    (Outcome.INVALID, 4),
    (Outcome.ERRORED, 5),
    (Outcome.INCOMPLETE, 3),
    (Outcome.FAILED, 1),
)


def code_of(*reports: Report) -> int:
    """The exit code of one report or of several; see ``runner.errors`` for the table.

    The bar of the update gate forgives a sample; where it is met, a sample that failed is no
    failure of the whole.
    """
    outcomes = {
        run.ending.outcome
        for report in reports
        for run in report.runs
        if not (run.ending.outcome is Outcome.FAILED and _forgiven(report))
    }
    if any(report.missing for report in reports):
        outcomes.add(Outcome.INCOMPLETE)
    return next((code for outcome, code in _GRAVEST_FIRST if outcome in outcomes), 0)


def _forgiven(report: Report) -> bool:
    return isinstance(report.verdict, GateVerdict) and report.verdict.bar_met is True
