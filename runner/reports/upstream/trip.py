"""Their report of trip versus move, scored again by the checks of this bench."""

import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal

import orjson

from runner.errors import AlteredReport, UsageError
from runner.model import (
    CheckResult,
    Ending,
    Outcome,
    PurposeUsage,
    RunRecord,
    RunSpec,
    SnapshotRecord,
    Store,
    Usage,
)
from runner.published import digests
from runner.reports.upstream.compare import checks_apart, run_apart, spend_apart, verdict_apart
from runner.reports.upstream.result import Difference, TripResult, TripRun
from runner.reports.upstream.schema import SavedFile, SavedRun, TripUpstream
from runner.reports.upstream.stores import store
from runner.suites.trip_vs_move import Case, check, ending, load_case, score
from runner.suites.trip_vs_move.protocol import CONSOLIDATE

VERSIONS = (1, 2)
"""Versions of the checks that their reports hold enough for."""


def rescore_trip(report: TripUpstream, version: int | None, name: str) -> TripResult:
    """Score a report again; see ``rescore_upstream``."""
    case = load_case(report.case)
    versions = tuple(one for one in VERSIONS if one in case.checks_versions)
    asked = _asked(report, version, versions)
    _saves_what_is_read(report, case, name)
    differences: list[Difference] = []
    runs: list[TripRun] = []
    counted: list[bool | None] = []
    for saved in report.runs:
        held = store(saved.rows, saved.events)
        results = tuple(check(case, saved.variant, {CONSOLIDATE: held}, one) for one in versions)
        verified = next((one for one in results if one.version == report.checks_version), None)
        record = _record(report, saved, held, results, asked)
        runs.append(TripRun(saved=saved.passed, verified=verified, record=record))
        found = [] if verified is None else checks_apart(case, saved, held, verified)
        found += run_apart(report, saved, verified, found)
        differences += found
        counted.append(_counted(saved, verified, altered=any(one.altered for one in found)))
    verdict = score(case, [run.record for run in runs], asked)
    differences += verdict_apart(
        report, counted, verdict if asked == report.checks_version else None
    )
    differences += spend_apart(report)
    return TripResult(
        name=name,
        sdk_version=report.sdk_version,
        run_at=report.run_at,
        model=bare(report.model),
        differences=tuple(differences),
        notes=tuple(_notes(report, case, asked, versions)),
        case=report.case,
        arm=report.arm,
        same_slot_admits=report.same_slot_admits,
        saved_version=report.checks_version,
        checks_version=asked,
        runs=tuple(runs),
        saved=report.verdict,
        verdict=verdict,
    )


def bare(model: str) -> str:
    """The name of a model without its provider's."""
    return model.rpartition(":")[2]


def fixture_notes(saved: Iterable[SavedFile], wanted: Iterable[str]) -> list[str]:
    """Whether a report was made from the published files, told where it was not."""
    published, given = digests(), {file.name: file.sha256 for file in saved}
    missing = [name for name in wanted if name not in given]
    other = [name for name, sha256 in given.items() if published.get(name) != sha256]
    notes = []
    if missing:
        notes.append(f"It does not say what it was fed as {', '.join(missing)}.")
    if other:
        notes.append(f"It was fed other files than the published runs: {', '.join(other)}.")
    return notes


def _counted(saved: SavedRun, verified: CheckResult | None, *, altered: bool) -> bool | None:
    """What the report's own sums have to take a run for. What a known difference denies counts as
    it was saved, so that it is told of once.
    """
    if not altered or verified is None:
        return saved.passed
    return None if saved.uncounted else verified.passed


def _asked(report: TripUpstream, version: int | None, versions: Sequence[int]) -> int:
    if version is None:
        return report.checks_version if report.checks_version in versions else versions[-1]
    if version not in versions:
        known = ", ".join(map(str, versions))
        later = (
            " Version 3 reads the store before the move, which these reports do not hold."
            if version == 3
            else ""
        )
        raise UsageError(
            f"Checks version {version} cannot be computed from linkedparticles' own report of the"
            f" case {report.case}.{later}",
            hint=f"Versions: {known}.",
        )
    return version


def _saves_what_is_read(report: TripUpstream, case: Case, name: str) -> None:
    if not case.end_date_counts:
        return
    for number, run in enumerate(report.runs):
        for place, row in enumerate(run.rows):
            if not row.saves_end:
                raise AlteredReport(
                    f"{name}: runs[{number}].rows[{place}] does not say whether its claim has an"
                    f" end, which the checks of the case {case.name} read."
                )


def _record(
    report: TripUpstream,
    saved: SavedRun,
    held: Store,
    results: tuple[CheckResult, ...],
    version: int,
) -> RunRecord:
    rows = orjson.dumps(held.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
    usage = _usage(saved)
    pins = {purpose: bare(model) for purpose, model in report.purposes.items()}
    return RunRecord(
        spec=RunSpec(
            id=f"{saved.variant}-{saved.index}",
            suite=report.suite,
            case=report.case,
            kind=saved.variant,
            index=saved.index,
            system="particles",
            arm=report.arm,
            model=bare(report.model),
            pins={name: model for name, model in pins.items() if model != bare(report.model)},
            options={"same_slot_admits": report.same_slot_admits},
            clock="now",
        ),
        ending=_ending(saved, results, version),
        started_at=report.run_at,
        seconds=0.0,
        snapshots=(
            SnapshotRecord(
                step=CONSOLIDATE,
                sha256=hashlib.sha256(rows).hexdigest(),
                size=len(rows),
                store=held,
            ),
        ),
        checks=results,
        usage=usage,
        cost_usd=sum((row.cost_usd for row in usage), Decimal(0)),
    )


def _ending(saved: SavedRun, results: Sequence[CheckResult], version: int) -> Ending:
    if saved.invalid is not None:
        return Ending(outcome=Outcome.INVALID, kind="wrong_model", detail=saved.invalid)
    if saved.incomplete is not None:
        kind = "ceiling" if saved.incomplete == "budget" else "driver"
        return Ending(outcome=Outcome.INCOMPLETE, kind=kind, detail=saved.incomplete)
    if refused := sum(saved.refused_calls.values()):
        detail = f"{refused} calls that its table had no answer to were refused"
        return Ending(outcome=Outcome.INVALID, kind="script_missing", detail=detail)
    return ending(results, version)


def _usage(saved: SavedRun) -> tuple[PurposeUsage, ...]:
    rows = () if saved.usage is None else saved.usage.rows
    return tuple(
        PurposeUsage(
            purpose=row.purpose,
            model=row.model,
            calls=row.calls,
            answered=row.calls,
            usage=Usage(
                input=row.input_tokens,
                output=row.output_tokens,
                cache_write_5m=row.cache_creation_tokens,
                cache_read=row.cache_read_tokens,
            ),
            cost_usd=Decimal(str(row.cost_usd or 0)),
        )
        for row in rows
        if not row.replayed
    )


def _notes(report: TripUpstream, case: Case, asked: int, versions: Sequence[int]) -> Iterable[str]:
    if report.checks_version not in versions:
        yield (
            f"It was scored under checks version {report.checks_version}, which this bench does not"
            " have: none of its verdicts was verified."
        )
    elif asked != report.checks_version:
        yield (
            f"Verified under checks version {report.checks_version}, by which it was scored; shown"
            f" under version {asked}."
        )
    yield from fixture_notes(report.fixture, (note.name for note in case.notes))
    for note in report.notes:
        yield f"The report itself: {note}"
    yield (
        "It does not hold the store before the move, so a move run that never knew the home"
        " passes; version 3 of the checks would fail it as vacuous."
    )
