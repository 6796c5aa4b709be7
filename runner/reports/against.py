"""A report of ours beside what was published of the same case and model."""

from decimal import Decimal

from runner.profiles import Range
from runner.published import Beside, Count, GateTally, Ours, beside
from runner.reports.schema import Report
from runner.suites.honesty_learning import LessonVerdict
from runner.suites.memory_honesty import HonestyVerdict
from runner.suites.trip_vs_move import Verdict
from runner.suites.update_gate import GateVerdict, SetScore


def published(report: Report) -> Beside | None:
    """The published figures beside this report's; none where it is of other people or of a model
    made wrong on purpose, which nothing published is like, or has no run yet.
    """
    if isinstance(report.verdict, HonestyVerdict | LessonVerdict):
        return None  # on other vaults and questions: see runner.reports.others
    faulty = any(run.spec.fault for run in report.runs)
    if report.verdict is None or report.case.variant is not None or faulty:
        return None
    kinds: dict[str, Count] = {}
    sets: dict[str, GateTally] = {}
    match report.verdict:
        case Verdict() as verdict:
            kinds = {
                tally.kind: Count(hits=tally.passed, of=tally.counted)
                for tally in verdict.tallies
                if tally.counted
            }
        case GateVerdict() as verdict:
            sets = {one.name: _tally(one) for one in verdict.sets if one.counted}
    return beside(
        Ours(
            suite=report.suite,
            case=report.case.name,
            model=report.model,
            kinds=kinds,
            sets=sets,
            run_usd=_spent(report),
            cost_usd=report.spend.cost_usd,
        )
    )


def _tally(one: SetScore) -> GateTally:
    production, before = one.rule("production"), one.rule("before-1.187")
    return GateTally(
        updates=Count(hits=production.positives_retired, of=production.positives),
        controls=Count(hits=production.control_retirements, of=production.control_samples),
        before=Count(hits=before.positives_retired, of=before.positives),
    )


def _spent(report: Report) -> dict[str, Range]:
    found: dict[str, list[Decimal]] = {}
    for run in report.runs:
        found.setdefault(run.spec.kind, []).append(run.cost_usd)
    return {kind: Range(low=min(usd), high=max(usd)) for kind, usd in found.items()}
