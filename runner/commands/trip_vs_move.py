"""``bench trip-vs-move``, which is also ``bench`` without a command."""

from typing import Annotated

import typer
from pydantic import JsonValue

from runner.commands._execute import How, execute
from runner.commands._fixtures import published_files, upstream_case
from runner.commands._image import on_image
from runner.commands._live import Live, with_live
from runner.commands._money import run_ceiling
from runner.commands._options import (
    MODEL,
    Arm,
    ArmOption,
    CassetteOption,
    Ceiling,
    CeilingOption,
    EstimateOnly,
    FaultOption,
    FixturesChoice,
    FixturesOption,
    FormatOption,
    ImageOption,
    Jobs,
    KeepOption,
    MaxUsd,
    MaxUsdTotal,
    ModelOption,
    Output,
    OutputFile,
    Pin,
    PriceOption,
    Profiles,
    Quiet,
    Resume,
    SaveProfile,
    StepDeadline,
    SystemDir,
    SystemOption,
    SystemVersion,
    Yes,
    check_arm,
    measured_by_default,
    pairs,
    price_list,
    usd,
)
from runner.commands._paths import cassette_files
from runner.errors import UsageError
from runner.faults import load_fault
from runner.reports.recording import open_tape
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.runs.provider import Provider
from runner.suites.trip_vs_move import Case, load_case
from runner.systems.catalog import System

DEFAULT = "engine"


@with_live
def trip_vs_move(
    case: Annotated[
        str, typer.Option(help="reader: the reader's own case. mid-trip: a change of plans.")
    ] = "reader",
    system: SystemOption = None,
    system_dir: SystemDir = None,
    system_version: SystemVersion = None,
    image: ImageOption = None,
    arm: ArmOption = Arm.LIVE,
    model: ModelOption = MODEL,
    pin: Pin = None,
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
    fixtures: FixturesOption = FixturesChoice.OWN,
    variant: Annotated[
        str | None, typer.Option(help="Other people, places and days; unknown names list them.")
    ] = None,
    all_variants: Annotated[
        bool, typer.Option("--all-variants", help="The case and every variant, a report each.")
    ] = False,
    checks_version: Annotated[
        int | None, typer.Option(help="Which checks decide; the newest of the case by default.")
    ] = None,
    max_usd: MaxUsd = None,
    max_usd_total: MaxUsdTotal = None,
    ceiling: CeilingOption = Ceiling.RESERVED,
    step_deadline: StepDeadline = 600.0,
    jobs: Jobs = 2,
    cassette: CassetteOption = None,
    price: PriceOption = None,
    live: Live = Live(),  # noqa: B008 - frozen
    profiles: Profiles = None,
    save_profile: SaveProfile = False,
    estimate_only: EstimateOnly = False,
    yes: Yes = False,
    output: OutputFile = None,
    resume: Resume = False,
    format_: FormatOption = Output.TABLE,
    keep: KeepOption = None,
    fault: FaultOption = None,
    quiet: Quiet = False,
) -> int:
    """Does a memory tell a trip from a move?

    Each run is two containers that can reach nothing else: the system under test, with a fresh
    home, and its gateway. Notes are deposited one at a time, each on its own day; then the store
    is read and checked, row by row. No model judges anything.
    """
    if variant is not None and all_variants:
        raise UsageError("--variant and --all-variants exclude each other.")
    if fixtures is FixturesChoice.UPSTREAM and (variant is not None or all_variants):
        raise UsageError("--fixtures upstream has no variants: the published notes are one case.")
    check_arm(arm, fault=fault, save_profile=save_profile)
    first = load_case(case, variant)
    cases = (
        [first, *(load_case(case, name) for name in first.variants)] if all_variants else [first]
    )
    if fixtures is FixturesChoice.UPSTREAM and not estimate_only:
        cases = [upstream_case(first, published_files())]
    runs = {"move": move_runs, "trip-alone": trip_alone_runs}
    prices = price_list(price or ())
    measured, digest = on_image(system or measured_by_default(DEFAULT), system_version, image)
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
            options=_options(measured, same_slot_admits),
            checks_version=_version(one, checks_version),
            max_usd=each,
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            fault=load_fault(fault) if fault else None,
            provider=provider,
            tape=open_tape(tape) if arm is Arm.REPLAY and tape else None,
            image=digest,
        )
        for one, tape in zip(cases, cassettes, strict=True)
    ]
    return execute(
        protocols,
        How(
            prices=prices,
            jobs=jobs,
            cassettes=cassettes,
            max_usd_total=total,
            profiles=profiles,
            save_profile=save_profile,
            estimate_only=estimate_only,
            yes=yes,
            output=output,
            resume=resume,
            format_=format_,
            keep=keep,
            quiet=quiet,
        ),
    )


def _options(system: System, same_slot_admits: bool) -> dict[str, JsonValue]:
    """The rule in force, for a system that has it. One that has not can be told nothing but to
    keep it, and says that it takes no such option."""
    has_it = "same_slot_admits" in system.options
    return {"same_slot_admits": same_slot_admits} if has_it or not same_slot_admits else {}


def _version(case: Case, wanted: int | None) -> int:
    version = case.checks_version if wanted is None else wanted
    if version not in case.checks_versions:
        known = ", ".join(str(known) for known in case.checks_versions)
        raise UsageError(
            f"Checks version {version} is not defined for the case {case.name}.",
            hint=f"Versions of this case: {known}.",
        )
    return version
