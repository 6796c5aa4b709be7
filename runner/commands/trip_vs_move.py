"""``bench trip-vs-move``, which is also ``bench`` without a command."""

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._ask import confirm
from runner.commands._exit import code_of
from runner.commands._live import (
    AllowMedia,
    AllowPrivate,
    AllowTool,
    AnthropicUrl,
    Authority,
    KeyAsOption,
    KeyFile,
    Live,
    OpenaiUrl,
    Proxy,
)
from runner.commands._money import most_usd, run_ceiling
from runner.commands._options import FormatOption, Output, PriceOption, pairs, price_list, usd
from runner.commands._paths import beside, cassette_files
from runner.commands._progress import Progress
from runner.commands._show import print_estimate, print_report
from runner.commands._sitting import Sitting
from runner.errors import UsageError
from runner.estimate import Estimate, estimate
from runner.faults import load_fault
from runner.prices import PriceList
from runner.profiles import measure
from runner.profiles import save as save_profiles
from runner.profiles import usual_file as usual_profiles
from runner.reports.produce import new_name
from runner.reports.recording import check_tape, open_tape
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.place import place
from runner.runs.plan import Protocol, check, check_key, tables
from runner.runs.provider import Provider
from runner.suites.trip_vs_move import Case, load_case
from runner.systems.catalog import load as load_system

MODEL = "claude-sonnet-5-5"


class Arm(StrEnum):
    """Who answers the system's model calls."""

    SCRIPTED = "scripted"
    LIVE = "live"
    RECORD = "record"
    REPLAY = "replay"


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
        typer.Option(
            help="Who answers model calls: a table, the provider, the provider with a cassette that"
            " is written, or such a cassette (no network, free)."
        ),
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
    max_usd_total: Annotated[
        float | None,
        typer.Option(
            help="Ceiling of all runs together; each leases --max-usd, or an equal share, of it."
        ),
    ] = None,
    ceiling: Annotated[
        Ceiling, typer.Option(help="measured: looked at only between steps, as published.")
    ] = Ceiling.RESERVED,
    step_deadline: Annotated[float, typer.Option(min=1, help="Seconds a step may take.")] = 600.0,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    cassette: Annotated[
        Path | None,
        typer.Option(help="The recording: written by --arm record, read by --arm replay."),
    ] = None,
    price: PriceOption = None,
    key_file: KeyFile = None,
    key_as: KeyAsOption = None,
    anthropic_url: AnthropicUrl = None,
    openai_url: OpenaiUrl = None,
    proxy: Proxy = None,
    ca: Authority = None,
    allow_private: AllowPrivate = None,
    allow_tool: AllowTool = None,
    allow_media: AllowMedia = None,
    profiles: Annotated[
        Path | None, typer.Option(help="Where measured usage is kept and looked for.")
    ] = None,
    save_profile: Annotated[
        bool,
        typer.Option("--save-profile", help="Keep what these runs took, for the next estimate."),
    ] = False,
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
    if save_profile and arm not in (Arm.LIVE, Arm.RECORD):
        raise UsageError("--save-profile needs a live run: a table's usage measures no model.")
    live = Live(
        key_file=key_file,
        key_as=key_as,
        anthropic_url=anthropic_url,
        openai_url=openai_url,
        proxy=proxy,
        ca=ca,
        allow_private=allow_private,
        allow_tool=allow_tool,
        allow_media=allow_media,
    )
    first = load_case(case, variant)
    cases = (
        [first, *(load_case(case, name) for name in first.variants)] if all_variants else [first]
    )
    runs = {"move": move_runs, "trip-alone": trip_alone_runs}
    prices, measured = price_list(price or ()), load_system(system)
    total = usd(max_usd_total)
    each = run_ceiling(usd(max_usd), total, ceiling.value, len(cases) * sum(runs.values()))
    cassettes = cassette_files(cassette, arm.value, cases)
    provider = Provider() if estimate_only else live.provider(arm.value)
    protocols = [
        Protocol(
            case=one,
            system=measured,
            arm=arm.value,
            model=model,
            runs=runs,
            clock=Clock.parse(clock, published=one.published_day),
            pins=pairs(pin or (), "--pin"),
            options={"same_slot_admits": same_slot_admits},
            checks_version=_version(one, checks_version),
            max_usd=each,
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            fault=load_fault(fault) if fault else None,
            provider=provider,
            tape=open_tape(tape) if arm is Arm.REPLAY and tape else None,
        )
        for one, tape in zip(cases, cassettes, strict=True)
    ]
    for protocol in protocols:
        check(protocol, prices)
    console, errors = Console(), Console(stderr=True)
    profiles = (profiles or usual_profiles()).resolve()
    estimates = [_estimate(protocol, prices, profiles) for protocol in protocols]
    if estimate_only:
        for one in estimates:
            print_estimate(one, console)
        console.print(Text("No call was made."))
        return 0
    for protocol in protocols:
        tables(protocol)
        check_key(protocol)
        if arm is Arm.REPLAY:
            check_tape(protocol)
    sitting = Sitting(
        protocols=protocols,
        prices=prices,
        estimates=estimates,
        outputs=_outputs(protocols, output),
        cassettes=cassettes,
        keep=Keep(keep.resolve() if keep else None),
        max_usd_total=total,
    )
    if resume and output is None:
        raise UsageError("--resume needs --output: the half-written report to finish.")
    sitting.prepare(resume=resume)
    if protocols[0].paid:
        confirm(estimates, yes=yes, most_usd=most_usd(protocols, total), console=errors)
    with Progress(errors, quiet=quiet) as progress, place(system, say=progress.note) as here:
        reports = sitting.run(here, workers=jobs, watch=progress)
    for report, path in zip(reports, sitting.outputs, strict=True):
        print_report(report, format_, console)
        errors.print(Text(f"Report: {path}"), soft_wrap=True)
    if save_profile:
        rows = measure(system, [run for report in reports for run in report.runs], prices.name_of)
        save_profiles(profiles, system, rows)
        errors.print(Text(f"Measured usage: {profiles}"), soft_wrap=True)
    return code_of(*reports)


def _version(case: Case, wanted: int | None) -> int:
    version = case.checks_version if wanted is None else wanted
    if version not in case.checks_versions:
        known = ", ".join(str(known) for known in case.checks_versions)
        raise UsageError(
            f"Checks version {version} is not defined for the case {case.name}.",
            hint=f"Versions of this case: {known}.",
        )
    return version


def _estimate(protocol: Protocol, prices: PriceList, profiles: Path) -> Estimate:
    return estimate(
        protocol.case.name,
        protocol.model,
        protocol.runs,
        system=protocol.system.name,
        pins=protocol.pins,
        prices=prices,
        own_file=profiles,
    )


def _outputs(protocols: Sequence[Protocol], output: Path | None) -> list[Path]:
    """Where each report goes: the named file, with the variant before its ending if several."""
    if output is None:
        folder = Path(os.environ.get("BENCH_RESULTS", "results"))
        return [(folder / new_name(protocol)).resolve() for protocol in protocols]
    return beside(output, [protocol.case for protocol in protocols], ".json")
