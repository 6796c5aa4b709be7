"""``bench update-gate``: the update rule itself, on registered pairs."""

from typing import Annotated

import typer

from runner.commands._execute import How, execute
from runner.commands._fixtures import published_files, upstream_gate
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
from runner.faults import load_fault
from runner.reports.recording import open_tape
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.runs.provider import Provider
from runner.suites.update_gate import SAMPLES, SETS, load_gate

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SET", help=f"Only these sets: {', '.join(SETS)}."),
]

DEFAULT = "engine"


@with_live
def update_gate(
    set_: SetOption = None,
    samples: Annotated[int, typer.Option(help="How often each pair is asked.")] = SAMPLES,
    fixtures: FixturesOption = FixturesChoice.OWN,
    system: SystemOption = None,
    system_dir: SystemDir = None,
    system_version: SystemVersion = None,
    image: ImageOption = None,
    arm: ArmOption = Arm.LIVE,
    model: ModelOption = MODEL,
    pin: Pin = None,
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
    """Does the update rule retire what it should, and nothing else?

    Four registered sets of pairs, each an older and a newer claim with a label. Every pair is asked
    several times by the system's own probes (does it contradict, does it update), and three rules
    are scored from the same answers. A run is one sample of one set, in two containers of its own.
    There is no aggregate score.
    """
    check_arm(arm, fault=fault, save_profile=save_profile)
    gate = load_gate(set_, samples)
    if fixtures is FixturesChoice.UPSTREAM and not estimate_only:
        gate = upstream_gate(set_, samples, published_files())
    runs = dict.fromkeys(gate.kinds, gate.samples)
    total = usd(max_usd_total)
    [tape] = cassette_files(cassette, arm.value, [gate])
    measured, digest = on_image(system or measured_by_default(DEFAULT), system_version, image)
    protocol = Protocol(
        case=gate,
        system=measured,
        arm=arm.value,
        model=model,
        runs=runs,
        clock=Clock("now"),
        pins=pairs(pin or (), "--pin"),
        max_usd=run_ceiling(usd(max_usd), total, ceiling.value, sum(runs.values())),
        ceiling=ceiling.value,
        step_deadline_s=step_deadline,
        fault=load_fault(fault) if fault else None,
        provider=Provider() if estimate_only else live.provider(arm.value),
        tape=open_tape(tape) if arm is Arm.REPLAY and tape else None,
        image=digest,
    )
    return execute(
        [protocol],
        How(
            prices=price_list(price or ()),
            jobs=jobs,
            cassettes=[tape],
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
