"""What every command that runs protocols does once it knows them: ask, run, print."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from rich.console import Console
from rich.text import Text

from runner.commands._ask import confirm
from runner.commands._exit import code_of
from runner.commands._formats import write_sheets
from runner.commands._money import most_usd
from runner.commands._options import Output
from runner.commands._paths import beside
from runner.commands._progress import Progress
from runner.commands._show import estimate_sheet, print_estimate, print_reports, print_together
from runner.commands._sitting import Sitting
from runner.errors import UsageError
from runner.estimate import Estimate, NeverMeasured, estimate
from runner.prices import PriceList
from runner.profiles import measure
from runner.profiles import save as save_profiles
from runner.profiles import usual_file as usual_profiles
from runner.reports.produce import new_name
from runner.reports.recording import check_tape
from runner.reports.schema import Report
from runner.runs.ingest_cost import ingestion_estimate
from runner.runs.keep import Keep
from runner.runs.learn_cost import learning_estimate
from runner.runs.plan import tables
from runner.runs.protocol import Protocol, check, check_key
from runner.suites.honesty_learning import Lesson
from runner.suites.memory_honesty import Exam


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How protocols are run, as it was typed.

    Attributes:
        prices: of every model.
        jobs: runs at a time.
        cassettes: of each protocol; none where it has none.
        max_usd_total: US dollars for all runs.
        profiles: where measured usage is; the usual place when none.
        save_profile: whether what the runs took is kept there.
        estimate_only: print what it would cost, and stop.
        yes: spend without asking.
        output: where the report goes; a new name in the usual folder when none.
        outputs: where each report goes, where several have names of their own.
        resume: finish what is there.
        format_: of what is printed.
        keep: a folder for snapshots, calls and logs.
        quiet: no progress.
    """

    prices: PriceList
    jobs: int
    cassettes: Sequence[Path | None]
    max_usd_total: Decimal | None
    profiles: Path | None
    save_profile: bool
    estimate_only: bool
    yes: bool
    output: Path | None
    outputs: Sequence[Path] | None = None
    resume: bool
    format_: Output
    keep: Path | None
    quiet: bool


def execute(protocols: Sequence[Protocol], how: How) -> int:
    """Run protocols, one after another, and print what they come to.

    Returns:
        The exit code.

    Raises:
        BenchError: something is wrong with what was asked, found before anything starts; or no
            report can be written any more.
    """
    done = run(protocols, how)
    if done is None:
        return 0
    console, errors = Console(), Console(stderr=True)
    print_reports([report for report, _ in done], how.format_, console)
    for _, path in done:
        errors.print(Text(f"Report: {path}"), soft_wrap=True)
    return code_of(*(report for report, _ in done))


def run(protocols: Sequence[Protocol], how: How) -> list[tuple[Report, Path]] | None:
    """Run protocols, one after another; those of one system had better stand together.

    Returns:
        Each report and where it lies; none where only an estimate was asked for, and printed.

    Raises:
        BenchError: as ``execute``.
    """
    for protocol in protocols:
        check(protocol, how.prices)
    console, errors = Console(), Console(stderr=True)
    profiles = (how.profiles or usual_profiles()).resolve()
    estimates = [
        _estimate(protocol, how.prices, profiles, asked=how.estimate_only) for protocol in protocols
    ]
    told = [
        (one, protocol.suite.title)
        for one, protocol in zip(estimates, protocols, strict=True)
        if one is not None
    ]
    if how.estimate_only:
        _told(told, how.format_, console, errors)
        return None
    for protocol in protocols:
        tables(protocol)
        check_key(protocol)
        if protocol.arm == "replay":
            check_tape(protocol)
    sitting = Sitting(
        protocols=protocols,
        prices=how.prices,
        estimates=estimates,
        outputs=list(how.outputs or _outputs(protocols, how.output)),
        cassettes=how.cassettes,
        keep=Keep(how.keep.resolve() if how.keep else None),
        max_usd_total=how.max_usd_total,
    )
    if how.resume and how.output is None and how.outputs is None:
        raise UsageError("--resume needs --output: the half-written report to finish.")
    sitting.prepare(resume=how.resume)
    if any(protocol.paid for protocol in protocols):
        most = most_usd(protocols, how.max_usd_total)
        confirm(told, yes=how.yes, most_usd=most, console=errors)
    total = sum(sum(protocol.runs.values()) for protocol in protocols)
    earlier = sitting.earlier
    with Progress(errors, quiet=how.quiet, total=total, earlier=earlier) as progress:
        reports = sitting.run(progress.note, workers=how.jobs, watch=progress)
    if how.save_profile:
        system = protocols[0].system.name
        runs = [one for report in reports for one in report.runs]
        save_profiles(profiles, system, measure(system, runs, how.prices.name_of))
        errors.print(Text(f"Measured usage: {profiles}"), soft_wrap=True)
    return list(zip(reports, sitting.outputs, strict=True))


def _told(
    found: Sequence[tuple[Estimate, str]], format_: Output, console: Console, errors: Console
) -> None:
    """Print what protocols would cost."""
    if format_ is not Output.TABLE:
        write_sheets([estimate_sheet(one) for one, _ in found], format_)
    for one, title in found if format_ is Output.TABLE else ():
        print_estimate(one, title, console)
    said = console if format_ is Output.TABLE else errors
    if len(found) > 1:
        print_together([one for one, _ in found], said)
    if not found:
        said.print(Text("Nothing is asked of a model."))
    said.print(Text("No call was made."))


def _estimate(
    protocol: Protocol, prices: PriceList, profiles: Path, *, asked: bool
) -> Estimate | None:
    """What a protocol will cost; none where no model is asked, or nobody asks what it costs and
    nothing was measured."""
    if not protocol.system.purposes:
        return None
    if isinstance(protocol.case, Lesson):
        return learning_estimate(protocol, prices)
    try:
        if isinstance(protocol.case, Exam):
            return ingestion_estimate(protocol, prices)
        return estimate(
            protocol.case.name,
            protocol.model,
            protocol.runs,
            system=protocol.system.name,
            pins=protocol.pins,
            prices=prices,
            own_file=profiles,
        )
    except NeverMeasured:
        if protocol.suite.asks_a_model or protocol.paid or asked:
            raise
        return None


def _outputs(protocols: Sequence[Protocol], output: Path | None) -> list[Path]:
    """Where each report goes: the named file, with the variant before its ending if several."""
    if output is None:
        folder = Path(os.environ.get("BENCH_RESULTS", "results"))
        return [(folder / new_name(protocol)).resolve() for protocol in protocols]
    return beside(output, [protocol.case for protocol in protocols], ".json")
