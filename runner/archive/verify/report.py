"""A report, held to itself: its form, its digests, and everything that can be computed again."""

from typing import Any

from runner.archive.verify import subjects
from runner.archive.verify.evidence import Evidence
from runner.archive.verify.sheet import Look, Looking, NotCheckable
from runner.errors import AlteredReport, UsageError
from runner.model import RunRecord, Step
from runner.published import digests as published_digests
from runner.reports import files, integrity, rescore, sealing
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.suites.registry import suite_of
from runner.suites.suite import Suite

REPORT = "report"
DIGESTS = "digests"
RUNS = "runs"
SEALED = "sealed"
CASE = "case"
STEPS = "steps"
CHECKS = "checks"
VALID = "valid"
COSTS = "costs"
VERDICT = "verdict"


def look(evidence: Evidence, looking: Looking) -> Report | None:
    """Make the checks that need a report and its sealed answers alone.

    Returns:
        The report, opened where its sealed answers are there; none where it is none.
    """
    document: dict[str, Any] | None = None
    public: Report | None = None
    name = evidence.report.title
    with looking.check(REPORT, "the report, against its schema") as form:
        form.at()
        document = files.document_of(evidence.report.get(), name)
        public = files.report_of(document, name)
    if document is None or public is None:
        return None
    with looking.check(DIGESTS, "parts of the report, against its digests") as parts:
        parts.at(len(integrity.digests(document)))
        for part in integrity.altered(document):
            parts.amiss(f"{part} was changed after it was written.")
    with looking.check(RUNS, "runs, against the plan and its settings") as runs:
        runs.at(len(public.runs))
        files.check_runs(public, name)
        rescore.verify_models(public)
    whole = _opened(public, evidence, looking)
    report = public if whole is None else whole
    with looking.check(CASE, "files of what was asked, and what they say") as case:
        _case(report, evidence, case)
    if whole is None:
        told = "What was answered is sealed, and cannot be read."
        for id_, what in ((STEPS, _STEPS), (CHECKS, _CHECKS), (VERDICT, _VERDICT)):
            looking.cannot(id_, what, told)
    else:
        _computed(whole, looking)
    with looking.check(VALID, "calls and escapes, allowing the verdicts") as valid:
        judged = [run for run in report.runs if run.ending.outcome in rescore.JUDGED]
        valid.at(sum(1 + len(run.calls) + len(run.escapes) for run in judged))
        rescore.verify_valid(report)
    with looking.check(COSTS, "calls and runs, tokens at their prices") as costs:
        costs.at(sum(1 + len(run.calls) for run in report.runs))
        rescore.verify_costs(report)
    return report


_STEPS = "runs, asked what the protocol asks"
_CHECKS = "checks, observations, endings, made again"
_VERDICT = "runs in the verdict and its intervals"


def _opened(public: Report, evidence: Evidence, looking: Looking) -> Report | None:
    """The whole report; none where it is sealed and cannot be opened."""
    sealed = public.sealed
    if sealed is None:
        if suite_of(public.case).closed(public.case) is not None:
            looking.cannot(SEALED, "sealed answers", "A held-out set, and nothing is sealed.")
        return public
    with looking.check(SEALED, "runs with sealed answers: digest, one whole") as look:
        look.at(len(public.runs))
        return sealing.open_(public, evidence.sealed(sealed.name))
    return None


def _case(report: Report, evidence: Evidence, look: Look) -> None:
    suite: Suite[Any, Any] = suite_of(report.case)
    own = suite.digests(report.case)
    look.at(len(own))
    rescore.verify_case(report)
    if report.case.fixtures == "upstream":
        theirs = set(published_digests().values())
        for name, sha256 in own.items():
            if name.startswith(("notes/", "pairs/")) and sha256 not in theirs:
                look.amiss(f"{name} is not what was published.")
        return
    known = suite.known(report.case)
    if known is not None and suite.digests(known) == own:
        return
    # A bench of another day: the files that were asked from lie in the archive.
    if not evidence.inputs or not subjects.hold(report.case, evidence.inputs):
        raise NotCheckable("This bench has no file of that digest: it is taken as it stands.")


def _computed(report: Report, looking: Looking) -> None:
    """What is computed again from rows, events and answers."""
    with looking.check(STEPS, _STEPS) as steps:
        for run in report.runs:
            with steps.one():
                _asked(report, run)
    again: Report | None = None
    with looking.check(CHECKS, _CHECKS) as checks:
        for run in report.runs:
            checks.at(1 + sum(len(one.checks) for one in run.checks) + len(run.observations))
        again = rescore.rescore(report, report.checks_version)
        rescore.verify_runs(report, again)
    with looking.check(VERDICT, _VERDICT) as verdict:
        verdict.at(len(report.runs))
        if again is None:
            raise NotCheckable("The runs cannot be computed again.")
        rescore.verify_verdict(report, again)


def _asked(report: Report, run: RunRecord) -> None:
    """See that a run was asked what its protocol asks, in its order, on its days.

    Raises:
        AlteredReport: it was not.
        NotCheckable: this bench does not know what it was to be asked.
    """
    suite: Suite[Any, Any] = suite_of(report.case)
    try:
        planned: tuple[Step, ...] = suite.steps(report.case, run.spec.kind, run.spec.index)
    except UsageError as error:
        raise NotCheckable(f"What was to be asked is not known here. {error.message}") from error
    verbs = {record.verb for record in run.steps}
    # A system that does not answer them is not asked; older reports know of none.
    without = set(suite.verbs_where_answered) - verbs
    planned = tuple(step for step in planned if step.verb not in without)
    if run.ending.outcome not in rescore.JUDGED:
        planned = planned[: len(run.steps)]
    clock, where = Clock(report.clock.mode), f"Run {run.spec.id}"
    if len(planned) != len(run.steps):
        raise AlteredReport(f"{where} has {len(run.steps)} steps; {len(planned)} are asked of it.")
    for step, record in zip(planned, run.steps, strict=True):
        if (record.name, record.verb) != (step.name, step.verb):
            raise AlteredReport(f"{where} was asked {record.name!r} in place of {step.name!r}.")
        if record.day != clock.day(step.day):
            raise AlteredReport(f"{where}: {record.name} was on {record.day}, not on its day.")
    taken = [(one.name, one.snapshot) for one in run.steps if one.snapshot is not None]
    if taken != [(one.step, one.sha256) for one in run.snapshots]:
        raise AlteredReport(f"{where} has other snapshots than its steps took.")
    if run.ending.outcome in rescore.JUDGED:
        # Older reports were read where a verdict rests on it, and nowhere else.
        names = {name for name, _ in taken}
        every = [step.name for step in planned if step.snapshot]
        if names not in (set(every), {step.name for step in planned if step.judged}):
            lost = ", ".join(name for name in every if name not in names)
            raise AlteredReport(f"{where} lacks snapshots: after {lost or 'nothing'}.")
