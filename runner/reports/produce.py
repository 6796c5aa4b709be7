"""From a protocol to its report: runs happen, and each is on disk the moment it ends."""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from runner import __version__
from runner.errors import CannotStart, UsageError
from runner.gateway.cassette import Entry
from runner.model import RunRecord
from runner.prices import PriceList
from runner.reports import files
from runner.reports.recording import Recorder, used
from runner.reports.remarks import against_published, notes
from runner.reports.rescore import verdict
from runner.reports.schema import (
    Clock,
    Fixture,
    Planned,
    Report,
    Spend,
    SystemIdentity,
)
from runner.runs.keep import Keep
from runner.runs.place import Place
from runner.runs.plan import jobs, specs, tables
from runner.runs.pool import run_all
from runner.runs.protocol import Protocol, label
from runner.runs.purse import Purse
from runner.runs.watch import Watch
from runner.systems.outside import described


class OutputLost(CannotStart):
    """A report could not be written any more while runs went on."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a protocol was expected to cost, in US dollars, and by whose account."""

    usd: Decimal
    source: str
    bound_usd: Decimal | None = None
    """At most, where the usage was never measured."""


def blank(
    protocol: Protocol,
    place: Place,
    expected: Expected | None = None,
    max_usd_total: Decimal | None = None,
) -> Report:
    """The report before its first run."""
    tape = protocol.tape
    case = protocol.case
    planned = specs(protocol)
    return Report(
        bench_version=__version__,
        suite=protocol.suite.name,
        case=case,
        system=SystemIdentity(
            name=protocol.system.name,
            version=protocol.system.version,
            licence=protocol.system.licence,
            reader="system" if protocol.system.outside else "bench",
        ),
        arm=protocol.arm,
        model=protocol.model,
        purposes=protocol.purposes,
        mixed=protocol.mixed,
        options=dict(protocol.options),
        checks_version=protocol.version,
        clock=_clock(protocol),
        comparable=against_published(protocol),
        fixtures=(
            *(
                Fixture(name=name, sha256=sha256)
                for name, sha256 in protocol.suite.digests(case).items()
            ),
            *(
                Fixture(name=name, sha256=sha256)
                for name, sha256 in described(protocol.system).items()
            ),
            *(
                Fixture(name=f"scripted/{table.name}", sha256=table.sha256)
                for table in tables(protocol)
            ),
        ),
        cassette=used(tape.name, tape.cassette, tape.sha256) if tape else None,
        images=(place.system, place.gateway, *place.others),
        machine=place.machine,
        started_at=datetime.now(UTC),
        planned=tuple(Planned(id=spec.id, kind=spec.kind, index=spec.index) for spec in planned),
        spend=Spend(
            simulated=not protocol.paid,
            estimate_usd=expected.usd if expected else None,
            estimate_source=expected.source if expected else None,
            estimate_bound_usd=expected.bound_usd if expected else None,
            max_usd_per_run=protocol.max_usd,
            max_usd_total=max_usd_total,
            ceiling=protocol.ceiling,
        ),
        notes=notes(protocol),
    )


def produce(
    protocol: Protocol,
    prices: PriceList,
    place: Place,
    *,
    output: Path,
    workers: int,
    watch: Watch,
    keep: Keep,
    expected: Expected | None = None,
    resume: Report | None = None,
    purse: Purse | None = None,
    recorder: Recorder | None = None,
) -> Report:
    """Run a protocol and write its report to ``output``, run by run.

    Args:
        resume: a half-written report of the same protocol: its finished runs are kept.
        purse: the money of all runs; what was spent on runs that are kept comes out of it.
        recorder: takes what is recorded of each run.

    Raises:
        UsageError: the report to resume is of another protocol.
        OutputLost: the report could not be written; the runs are stopped and what there is lies
            where the message says.
    """
    purse = Purse() if purse is None else purse
    report = blank(protocol, place, expected, purse.total)
    if resume is not None:
        report = _taken_up(report, resume)
        # Also on runs that are made again: that money is gone.
        purse.pay(sum((run.cost_usd for run in resume.runs), Decimal(0)))
    order = [planned.id for planned in report.planned]
    wanted = {planned.id for planned in report.missing}
    todo = [job for job in jobs(protocol, place.images, prices) if job.spec.id in wanted]
    _save(report, output)

    def done(record: RunRecord) -> None:
        nonlocal report
        report = _with(report, record, order)
        if recorder is not None:
            report = report.model_copy(update={"cassette": recorder.used})
        _save(report, output)

    def recorded(run_id: str, entries: Sequence[Entry]) -> None:
        if recorder is not None:
            try:
                recorder(run_id, entries)
            except OSError as error:
                raise OutputLost(
                    f"The cassette cannot be written at {recorder.path} any more:"
                    f" {error.strerror or error}.",
                    hint="The runs were stopped; what was recorded before is whole.",
                ) from error

    run_all(
        todo,
        place.sandbox,
        workers=workers,
        watch=watch,
        keep=keep,
        done=done,
        recorded=recorded,
        purse=purse,
    )
    report = report.model_copy(update={"finished_at": datetime.now(UTC)})
    _save(report, output)
    return report


def _with(report: Report, record: RunRecord, order: Sequence[str]) -> Report:
    others = (run for run in report.runs if run.spec.id != record.spec.id)
    runs = tuple(sorted((*others, record), key=lambda run: order.index(run.spec.id)))
    cost = sum((run.cost_usd for run in runs), Decimal(0))
    return report.model_copy(
        update={
            "runs": runs,
            "verdict": verdict(report, runs, report.checks_version),
            "spend": report.spend.model_copy(update={"cost_usd": cost}),
        }
    )


def _save(report: Report, output: Path) -> None:
    try:
        files.save(report, output)
    except OSError as error:
        rescue = Path(tempfile.gettempdir()) / f"{output.stem}.rescued.json"
        try:
            files.save(report, rescue)
            where = f"What there is was written to {rescue}."
        except OSError:
            where = f"Neither could it be written to {rescue}."
        raise OutputLost(
            f"The report cannot be written at {output} any more: {error.strerror or error}.",
            hint=f"{where} Make room and go on with --resume.",
        ) from error


def _taken_up(report: Report, old: Report) -> Report:
    """The new report with the finished runs of an old one, when both mean the same protocol."""
    for field in (
        "bench_version", "case", "system", "arm", "model", "purposes", "options",
        "checks_version", "clock", "fixtures", "cassette", "images", "planned",
    ):  # fmt: skip
        if getattr(report, field) != getattr(old, field):
            raise UsageError(
                f"The report to resume differs in {field}.",
                hint="Resume with the options it was started with, or start a new report.",
            )
    for field in ("max_usd_per_run", "ceiling"):
        if getattr(report.spend, field) != getattr(old.spend, field):
            raise UsageError(
                f"The report to resume differs in spend.{field}.",
                hint="Resume with the ceiling it was started with, or start a new report.",
            )
    runs = kept(old)
    cost = sum((run.cost_usd for run in runs), Decimal(0))
    return report.model_copy(
        update={
            "started_at": old.started_at,
            "runs": runs,
            "verdict": verdict(report, runs, report.checks_version),
            "spend": report.spend.model_copy(update={"cost_usd": cost}),
        }
    )


def kept(old: Report) -> tuple[RunRecord, ...]:
    """The runs of a half-written report that are not made again when it is resumed."""
    return tuple(run for run in old.runs if not _to_be_made(run))


def _to_be_made(run: RunRecord) -> bool:
    """Whether a run was stopped by the user, or never started for want of money."""
    unleased = run.ending.kind == "ceiling" and not run.system
    return run.ending.kind == "interrupted" or unleased


def _clock(protocol: Protocol) -> Clock:
    steps = [
        step for kind, count in protocol.runs.items() if count for step in protocol.steps(kind, 1)
    ]
    days = {step.name: protocol.clock.day(step.day) for step in steps}
    return Clock(
        mode=protocol.clock.mode,
        days={name: day.isoformat() for name, day in days.items() if day is not None},
    )


def new_name(protocol: Protocol) -> str:
    """A file name that tells one report from another, ending in a digest of the moment."""
    now = datetime.now(UTC)
    mark = hashlib.sha256(now.isoformat().encode()).hexdigest()[:4]
    kinds = list(protocol.runs) if len(protocol.runs) == 1 else []
    parts = list(dict.fromkeys([protocol.suite.name, *label(protocol.case), *kinds]))
    parts += [protocol.system.name, protocol.model, protocol.arm, f"{now:%Y%m%dT%H%M%S}-{mark}"]
    return "-".join(parts) + ".json"
