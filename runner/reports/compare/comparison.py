"""Two reports of one suite beside each other: what is worse, what is better, what is otherwise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runner.errors import UsageError
from runner.model import Outcome
from runner.reports.compare._effort import Took, effort, effort_sheet
from runner.reports.compare._gate import gate
from runner.reports.compare._honesty import honesty
from runner.reports.compare._learning import learning
from runner.reports.compare._trip import trip
from runner.reports.compare.common import Identity, identities, identity_sheet, loud, see_comparable
from runner.reports.compare.nouns import Finding, Part, Way, findings_sheet, found
from runner.reports.rescore import rescore
from runner.reports.schema import Report
from runner.reports.sheet import Sheet
from runner.suites.trip_vs_move import Case

_SUITES: Mapping[str, Callable[[Report, Report], list[Part]]] = {
    "trip-vs-move": trip,
    "update-gate": gate,
    "memory-honesty": honesty,
    "honesty-learning": learning,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """B beside A.

    Attributes:
        suite: of both.
        loud: what a reader has to know before all else, a sentence each.
        findings: everything that is not as it was, what is worse first.
        identities: what was measured, and how.
        compared: the same, to be shown.
        sheets: the figures.
        effort: what it took.
        effort_sheet: the same, to be shown.
        unjudged: runs of B without a verdict, those that were never made included.
    """

    suite: str
    loud: tuple[str, ...]
    findings: tuple[Finding, ...]
    identities: tuple[Identity, ...]
    compared: Sheet
    sheets: tuple[Sheet, ...]
    effort: tuple[Took, ...]
    effort_sheet: Sheet
    unjudged: int

    def count(self, way: Way) -> int:
        """How many findings are of a kind."""
        return sum(finding.way is way for finding in self.findings)

    @property
    def findings_sheet(self) -> Sheet:
        """The findings, to be shown."""
        return findings_sheet(self.findings)


def compare(a: Report, b: Report, *, checks_version: int | None = None) -> Comparison:
    """Lay B beside A.

    Both have to be whole, and verified. Where they were graded by two versions of the checks, both
    are graded again by one.

    Args:
        a: what was.
        b: what is.
        checks_version: by which both are graded; B's own when left out.

    Raises:
        UsageError: they are not of one suite, case, vault and set of questions; the version is
            not defined; A has no run that came to a verdict.
    """
    see_comparable(a, b)
    named = identities(a, b)
    told = tuple(loud(named, a, b))
    if not _judged(a):
        raise UsageError(
            "No run of A came to a verdict, so there is nothing to compare with.",
            hint="The first report is the one that the second is held to.",
        )
    one, other = _alike(a, b, checks_version)
    parts = _SUITES[a.suite](one, other) if _judged(b) else []
    took = effort(a, b)
    return Comparison(
        suite=a.suite,
        loud=told,
        findings=found(parts),
        identities=named,
        compared=identity_sheet(named),
        sheets=tuple(sheet for part in parts for sheet in part.sheets),
        effort=took,
        effort_sheet=effort_sheet(took, a, b),
        unjudged=len(b.planned) - _judged(b),
    )


def _judged(report: Report) -> int:
    return sum(run.ending.outcome in (Outcome.PASSED, Outcome.FAILED) for run in report.runs)


def _alike(a: Report, b: Report, version: int | None) -> tuple[Report, Report]:
    """Both graded by one version of the checks, and by one case file."""
    wanted = b.checks_version if version is None else version
    moved = isinstance(a.case, Case) and a.case != b.case
    if moved:
        a = a.model_copy(update={"case": b.case})
    if moved or a.checks_version != wanted:
        a = rescore(a, wanted)
    return a, b if b.checks_version == wanted else rescore(b, wanted)
