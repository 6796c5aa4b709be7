"""``bench trip-vs-move``, which is also ``bench`` without a command."""

import os
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._exit import code_of
from runner.commands._options import FormatOption, Output, pairs
from runner.commands._progress import Progress
from runner.commands._show import print_estimate, print_report
from runner.errors import UsageError
from runner.estimate import Estimate, estimate
from runner.faults import load_fault
from runner.prices import PriceList, load_prices
from runner.reports import files
from runner.reports.produce import Expected, new_name, produce
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.place import place
from runner.runs.plan import Protocol, check, tables
from runner.suites.trip_vs_move import Case, load_case
from runner.systems.catalog import load as load_system

MODEL = "claude-sonnet-5-5"


class Arm(StrEnum):
    """Who answers the system's model calls."""

    SCRIPTED = "scripted"
    LIVE = "live"


class Ceiling(StrEnum):
    """How a ceiling is held."""

    RESERVED = "reserved"
    MEASURED = "measured"


def trip_vs_move(
    case: Annotated[
        str, typer.Option(help="reader: the reader's own case. mid-trip: a change of plans.")
    ] = "reader",
    system: Annotated[str, typer.Option(help="What is measured; see `bench systems`.")] = "engine",
    arm: Annotated[
        Arm,
        typer.Option(help="Who answers model calls: a table (free, air-gapped) or the provider."),
    ] = Arm.LIVE,
    model: Annotated[str, typer.Option(help="The one model every purpose runs on.")] = MODEL,
    pin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PURPOSE=MODEL", help="Run one purpose on another model (no bar then)."
        ),
    ] = None,
    move_runs: Annotated[int, typer.Option(min=0, help="Runs that deposit every note.")] = 3,
    trip_alone_runs: Annotated[int, typer.Option(min=0, help="Runs without the move.")] = 2,
    same_slot_admits: Annotated[
        bool,
        typer.Option(
            "--same-slot-admits/--no-same-slot-admits",
            help="Off: the update rule as it was before 1.187.",
        ),
    ] = True,
    clock: Annotated[
        str,
        typer.Option(
            metavar="CLOCK", help="note (each note's day), published, now, or YYYY-MM-DD."
        ),
    ] = "note",
    variant: Annotated[
        str | None, typer.Option(help="Other people, places and days; unknown names list them.")
    ] = None,
    all_variants: Annotated[
        bool, typer.Option("--all-variants", help="The case and every variant, a report each.")
    ] = False,
    checks_version: Annotated[
        int | None, typer.Option(help="Which checks decide; the newest of the case by default.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(help="Ceiling of one run in US$; never passed.")
    ] = None,
    ceiling: Annotated[
        Ceiling, typer.Option(help="measured: looked at only between steps, as published.")
    ] = Ceiling.RESERVED,
    step_deadline: Annotated[float, typer.Option(min=1, help="Seconds a step may take.")] = 600.0,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Print what it would cost, and stop.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Spend without asking (scripted runs never ask).")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the report goes (JSON).")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish the half-written report at --output.")
    ] = False,
    format_: FormatOption = Output.TABLE,
    keep: Annotated[
        Path | None, typer.Option(help="Keep snapshots, calls and logs in this folder.")
    ] = None,
    fault: Annotated[
        str | None,
        typer.Option(help="Make the scripted model wrong in one way (see the kill matrix)."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> int:
    """Does a memory tell a trip from a move?

    Each run is two containers that can reach nothing else: the system under test, with a fresh
    home, and its gateway. Notes are deposited one at a time, each on its own day; then the store
    is read and checked, row by row. No model judges anything.
    """
    if variant is not None and all_variants:
        raise UsageError("--variant and --all-variants exclude each other.")
    if fault is not None and arm is not Arm.SCRIPTED:
        raise UsageError("--fault needs --arm scripted: only a table can be made wrong.")
    first = load_case(case, variant)
    cases = (
        [first, *(load_case(case, name) for name in first.variants)] if all_variants else [first]
    )
    prices = load_prices()
    measured = load_system(system)
    protocols = [
        Protocol(
            case=one,
            system=measured,
            arm=arm.value,
            model=model,
            runs={"move": move_runs, "trip-alone": trip_alone_runs},
            clock=Clock.parse(clock, published=one.published_day),
            pins=pairs(pin or (), "--pin"),
            options={"same_slot_admits": same_slot_admits},
            checks_version=_version(one, checks_version),
            max_usd=Decimal(str(max_usd)) if max_usd is not None else None,
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            fault=load_fault(fault) if fault else None,
        )
        for one in cases
    ]
    for protocol in protocols:
        check(protocol, prices)
    console, errors = Console(), Console(stderr=True)
    estimates = [_estimate(protocol, prices) for protocol in protocols]
    if estimate_only:
        for one in estimates:
            print_estimate(one, console)
        return 0
    if arm is Arm.LIVE:
        raise UsageError(
            "The live arm is not part of this version: no provider can be reached through its"
            " gateway yet.",
            hint="Use --arm scripted (free, no key), or --estimate for what a live run would cost.",
        )
    for protocol in protocols:
        tables(protocol)
    outputs = _outputs(protocols, output)
    if resume and output is None:
        raise UsageError("--resume needs --output: the half-written report to finish.")
    halves = [_half(path) if resume else None for path in outputs]
    for path in outputs:
        files.prepare(path, resume=resume)
    kept = Keep(keep.resolve() if keep else None)
    kept.prepare()
    reports: list[Report] = []
    with Progress(errors, quiet=quiet) as progress, place(system, say=progress.note) as here:
        for protocol, one, path, half in zip(protocols, estimates, outputs, halves, strict=True):
            reports.append(
                produce(
                    protocol,
                    prices,
                    here,
                    output=path,
                    workers=jobs,
                    watch=progress,
                    keep=kept,
                    expected=Expected(one.expected_usd, one.source),
                    resume=half,
                )
            )
    for report, path in zip(reports, outputs, strict=True):
        print_report(report, format_, console)
        errors.print(Text(f"Report: {path}"), soft_wrap=True)
    return code_of(*reports)


def _half(path: Path) -> Report | None:
    """The half-written report at a path, verified; none where there is none yet."""
    if not path.exists():
        return None
    report = files.load(path)
    verify(report)
    return report


def _version(case: Case, wanted: int | None) -> int:
    version = case.checks_version if wanted is None else wanted
    if version not in case.checks_versions:
        known = ", ".join(str(known) for known in case.checks_versions)
        raise UsageError(
            f"Checks version {version} is not defined for the case {case.name}.",
            hint=f"Versions of this case: {known}.",
        )
    return version


def _estimate(protocol: Protocol, prices: PriceList) -> Estimate:
    return estimate(
        protocol.case.name,
        protocol.model,
        protocol.runs,
        system=protocol.system.name,
        pins=protocol.pins,
        prices=prices,
    )


def _outputs(protocols: Sequence[Protocol], output: Path | None) -> list[Path]:
    """Where each report goes: the named file, with the variant before its ending if several."""
    if output is None:
        folder = Path(os.environ.get("BENCH_RESULTS", "results"))
        return [(folder / new_name(protocol)).resolve() for protocol in protocols]
    if len(protocols) == 1:
        return [output.resolve()]
    suffix = output.suffix or ".json"
    return [
        output.with_name(f"{output.stem}-{protocol.case.variant or 'published'}{suffix}").resolve()
        for protocol in protocols
    ]
