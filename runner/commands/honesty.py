"""``bench honesty``: the right page cited, a correction followed, and refused what is not held."""

import enum
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from runner.commands._execute import How, run
from runner.commands._honesty import Wanted, show
from runner.commands._honesty_plan import DEFAULT, Asked, files_in, names_in, plan
from runner.commands._live import Live, with_live
from runner.commands._options import (
    MODEL,
    Arm,
    ArmOption,
    CassetteOption,
    Ceiling,
    CeilingOption,
    EstimateOnly,
    FormatOption,
    ImageOption,
    Jobs,
    KeepOption,
    MaxUsd,
    MaxUsdTotal,
    ModelOption,
    Output,
    Pin,
    PriceOption,
    Quiet,
    Resume,
    StepDeadline,
    SystemDir,
    SystemVersion,
    Yes,
    pairs,
    price_list,
    usd,
)
from runner.commands._saved import load_saved, sets_of, systems_of
from runner.runs.provider import Provider
from runner.suites.memory_honesty import SETS, TOP_K


class MarkerChoice(enum.StrEnum):
    """How a replaced page says that it was."""

    FRONT_MATTER = "front-matter"
    PROSE = "prose"
    LINK = "link"


@with_live
def honesty(
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="What is measured; may be repeated."
            f"  [default: {DEFAULT}, or what --system-dir holds]"
        ),
    ] = None,
    systems: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="The same, several at once.")
    ] = None,
    system_dir: SystemDir = None,
    system_version: SystemVersion = None,
    image: ImageOption = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SET", help=f"{', '.join(SETS)}; may be repeated.  [default: dev]"
        ),
    ] = None,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            help="Also with replaced pages left out and, where there are scores, a floor picked on"
            " the development set. More pages are asked for then; as many count.",
        ),
    ] = False,
    vs: Annotated[
        list[str] | None, typer.Option(help="Minus another system, on the same questions.")
    ] = None,
    vs_matched: Annotated[
        list[str] | None,
        typer.Option(help="The same, with the other held to as many answers as this one gives."),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="How often it is wrong at every coverage.")
    ] = False,
    ci: Annotated[
        bool, typer.Option("--ci", help="Every rate with its 95% interval, also by language.")
    ] = False,
    unstratified: Annotated[
        bool, typer.Option("--unstratified", help="Intervals as published: kinds not kept apart.")
    ] = False,
    all_: Annotated[
        bool,
        typer.Option(
            "--matrix", help="Every plain retriever, or the named systems, on every set but dev2."
        ),
    ] = False,
    results: Annotated[
        Path | None, typer.Option(help="Write what came out to a page, such as docs/results.md.")
    ] = None,
    remark: Annotated[
        str, typer.Option(help="A sentence for that page, such as what else the machine did.")
    ] = "",
    saved: Annotated[
        Path | None,
        typer.Option(
            help="Run nothing: show the reports in this folder, verified, for the sets there are."
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write what was answered to development sets there, as `bench grade` reads it.",
        ),
    ] = None,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal", help="Print question by question; of a held-out set, the register says so."
        ),
    ] = False,
    top_k: Annotated[int, typer.Option(help="Pages that may be cited for a question.")] = TOP_K,
    marker: Annotated[
        MarkerChoice, typer.Option(help="How replaced pages say that they were.")
    ] = MarkerChoice.FRONT_MATTER,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each set, each in another order.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the order, and of the intervals.")] = 0,
    arm: ArmOption = Arm.SCRIPTED,
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
    estimate_only: EstimateOnly = False,
    yes: Yes = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for the reports.")
    ] = None,
    resume: Resume = False,
    format_: FormatOption = Output.TABLE,
    keep: KeepOption = None,
    quiet: Quiet = False,
) -> int:
    """Does a memory cite the right page, follow a correction, and refuse what it does not hold?

    A system is given the pages of a vault and then one question after another, in a container that
    reaches nothing. What it cites first is graded; a search that failed is no refusal. Held-out
    sets are told of in aggregates only, and their answers are sealed beside the report.

    A system that calls a model while it indexes has its calls scripted, from the page's own text,
    unless --arm says otherwise; one that calls none is run as it is, whatever the arm.

    `bench honesty learn` is the command `honesty-learn`: what a week of use teaches a memory.
    """
    named = names_in([*(system or ()), *([systems] if systems else ())])
    wanted = Wanted(
        sets=set_ or [],
        systems=named,
        vs=vs or [],
        vs_matched=vs_matched or [],
        rules=rules,
        curve=curve,
        ci=ci,
        stratified=not unstratified,
        reveal=reveal,
        results=results,
        remark=remark,
        answers=answers,
        format_=format_,
    )
    if saved is not None:
        # Floors and comparisons need more than what is shown for its own sake.
        others = [*named, *(vs or ()), *(vs_matched or ())] if named else []
        done = load_saved(saved, others, [] if rules else (set_ or []))
        return show(
            done, replace(wanted, sets=set_ or sets_of(done), systems=named or systems_of(done))
        )
    total = usd(max_usd_total)
    planned = plan(
        Asked(
            systems=named,
            version=system_version,
            image=image,
            sets=set_ or [],
            matrix=all_,
            others=[*(vs or ()), *(vs_matched or ())],
            rules=rules,
            marker=marker.value,
            top_k=top_k,
            seed=seed,
            runs=runs,
            arm=arm.value,
            model=model,
            pins=pairs(pin or (), "--pin"),
            max_usd=usd(max_usd),
            max_usd_total=total,
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            provider=Provider() if estimate_only else live.provider(arm.value),
            cassette=cassette,
        )
    )
    how = How(
        prices=price_list(price or ()),
        jobs=jobs,
        cassettes=planned.cassettes,
        max_usd_total=total,
        profiles=None,
        save_profile=False,
        estimate_only=estimate_only,
        yes=yes,
        output=None,
        outputs=files_in(output, planned.protocols) if output else None,
        resume=resume,
        format_=format_,
        keep=keep,
        quiet=quiet,
    )
    if not estimate_only:
        wanted.prepare()
    ran = run(planned.protocols, how)
    if ran is None:
        return 0
    return show(ran, replace(wanted, sets=planned.sets, systems=planned.systems))
