"""Who a report is about, in a few words: the system, and the model where one was asked."""

from collections import Counter
from collections.abc import Sequence

from runner.model import Outcome
from runner.reports.remarks import answered_by
from runner.reports.schema import Report
from runner.reports.site._page import Entry
from runner.suites.memory_honesty import Exam

_DONE = (Outcome.PASSED, Outcome.FAILED)


def asks_model(report: Report) -> bool:
    """Whether its model has to do with it: not where a system calls none, and not where it could,
    but every run came to its end without."""
    if not report.purposes:
        return False
    ended = [run for run in report.runs if run.ending.outcome in _DONE]
    return any(run.calls for run in report.runs) or not ended


def system(report: Report) -> str:
    """Name and version."""
    return f"{report.system.name} {report.system.version}"


def model(report: Report) -> str:
    """The model and who answered in its place."""
    return f"{report.model} ({answered_by(report)})" if asks_model(report) else "none"


def subject(report: Report) -> str:
    """What it was asked: the case, with its variant, or the set."""
    case = report.case
    if isinstance(case, Exam):
        return case.set
    variant = getattr(case, "variant", None)
    return f"{case.name}, {variant}" if variant else case.name


def told_apart(entries: Sequence[Entry]) -> dict[str, str]:
    """A name for each report by its slug, no two alike: what was asked, of which version of which
    system, on which model; and its file, where that is not enough."""
    named = {one.slug: _name(one.report) for one in entries}
    often = Counter(named.values())
    return {
        one.slug: f"{name} ({one.path.name})" if often[name := named[one.slug]] > 1 else name
        for one in entries
    }


def _name(report: Report) -> str:
    parts = [f"{subject(report)}: {system(report)}"]
    if asks_model(report):
        parts.append(model(report))
    fault = next((run.spec.fault for run in report.runs if run.spec.fault), None)
    if fault:
        parts.append(f"made wrong: {fault}")
    return ", ".join(parts)
