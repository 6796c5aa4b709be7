"""``bench honesty``: the right page cited, a correction followed, and refused what is not held."""

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from runner.commands._execute import How, run
from runner.commands._honesty import Wanted, files_in, load_saved, show
from runner.commands._live import Live, with_live
from runner.commands._money import run_ceiling
from runner.commands._options import (
    MODEL,
    Arm,
    ArmOption,
    Ceiling,
    CeilingOption,
    EstimateOnly,
    FormatOption,
    Jobs,
    KeepOption,
    MaxUsd,
    MaxUsdTotal,
    ModelOption,
    Output,
    Pin,
    PriceOption,
    Quiet,
    StepDeadline,
    SystemVersion,
    Yes,
    pairs,
    price_list,
    usd,
)
from runner.errors import UsageError
from runner.reports.files import prepare
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.runs.provider import Provider
from runner.suites.memory_honesty import SETS, TOP_K, Exam, load_exam
from runner.systems.catalog import System, load_all
from runner.systems.catalog import load as load_system

VERBS = frozenset({"index", "ask"})
DEFAULT = "router"


class MarkerChoice(enum.StrEnum):
    """How a replaced page says that it was."""

    FRONT_MATTER = "front-matter"
    PROSE = "prose"
    LINK = "link"


@with_live
def honesty(
    system: Annotated[
        list[str] | None,
        typer.Option(help=f"What is measured; may be repeated.  [default: {DEFAULT}]"),
    ] = None,
    system_version: SystemVersion = None,
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
            help="Also with replaced pages left out and a floor picked on the development set.",
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
        typer.Option("--matrix", help="Every system that calls no model, on every set but dev2."),
    ] = False,
    results: Annotated[
        Path | None, typer.Option(help="Write what came out to a page, such as docs/results.md.")
    ] = None,
    saved: Annotated[
        Path | None,
        typer.Option(
            help="Run nothing: show the reports in this folder, verified, for the sets there are."
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
    price: PriceOption = None,
    live: Live = Live(),  # noqa: B008 - frozen
    estimate_only: EstimateOnly = False,
    yes: Yes = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for the reports.")
    ] = None,
    format_: FormatOption = Output.TABLE,
    keep: KeepOption = None,
    quiet: Quiet = False,
) -> int:
    """Does a memory cite the right page, follow a correction, and refuse what it does not hold?

    A system is given the pages of a vault and then one question after another, in a container that
    reaches nothing. What it cites first is graded; a search that failed is no refusal. Held-out
    sets are told of in aggregates only, and their answers are sealed beside the report.

    `bench honesty learn` is the command `honesty-learn`: what a week of use teaches a memory.
    """
    if saved is not None:
        done = load_saved(saved, system or [], set_ or [])
        wanted = Wanted(
            sets=set_ or list(dict.fromkeys(kind for report, _ in done for kind in _sets(report))),
            systems=system or list(dict.fromkeys(report.system.name for report, _ in done)),
            vs=vs or [],
            vs_matched=vs_matched or [],
            rules=rules,
            curve=curve,
            ci=ci,
            stratified=not unstratified,
            reveal=reveal,
            results=results,
            format_=format_,
        )
        return show(done, wanted)
    answers = arm.value
    if answers in ("record", "replay"):
        raise UsageError("bench honesty has no cassettes: use --arm scripted or live.")
    provider = Provider() if estimate_only else live.provider(answers)
    named = _systems(system, system_version, all_=all_)
    others = [load_system(name) for name in dict.fromkeys((*(vs or ()), *(vs_matched or ())))]
    measured = list({one.name: one for one in (*named, *others)}.values())
    _can(measured)
    names = set_ or ([name for name in SETS if name != "dev2"] if all_ else ["dev"])
    exams = [_exam(name, marker, top_k, seed) for name in dict.fromkeys(names)]
    floors = [_exam(exam.floors_from, marker, top_k, seed) for exam in exams] if rules else []
    asked = list({exam.set: exam for exam in (*exams, *floors)}.values())
    total = usd(max_usd_total)
    each = run_ceiling(usd(max_usd), total, ceiling.value, len(measured) * len(asked) * runs)
    protocols = [
        Protocol(
            case=exam.model_copy(update={"told": "told" in one.capabilities}),
            system=one,
            arm=arm.value,
            model=model,
            runs={exam.set: runs},
            clock=Clock("now"),
            pins=pairs(pin or (), "--pin"),
            options=_options(one, exam),
            max_usd=each,
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            provider=provider,
        )
        for one in measured
        for exam in asked
    ]
    how = How(
        prices=price_list(price or ()),
        jobs=jobs,
        cassettes=[None] * len(protocols),
        max_usd_total=total,
        profiles=None,
        save_profile=False,
        estimate_only=estimate_only,
        yes=yes,
        output=None,
        outputs=files_in(output, protocols) if output else None,
        resume=False,
        format_=format_,
        keep=keep,
        quiet=quiet,
    )
    if results is not None and not estimate_only:
        prepare(results.resolve(), resume=True)
    ran = run(protocols, how)
    if ran is None:
        return 0
    wanted = Wanted(
        sets=[exam.set for exam in exams],
        systems=[one.name for one in named],
        vs=vs or [],
        vs_matched=vs_matched or [],
        rules=rules,
        curve=curve,
        ci=ci,
        stratified=not unstratified,
        reveal=reveal,
        results=results,
        format_=format_,
    )
    return show(ran, wanted)


def _sets(report: Report) -> list[str]:
    return [report.case.set] if isinstance(report.case, Exam) else []


def _systems(names: list[str] | None, version: str | None, *, all_: bool) -> list[System]:
    if all_ and not names:
        return [system for system in _able() if not system.purposes or system.name == DEFAULT]
    return [load_system(name, version) for name in dict.fromkeys(names or [DEFAULT])]


def _able() -> list[System]:
    """Systems that take pages and questions."""
    return [system for system in load_all() if set(system.verbs) >= VERBS]


def _can(systems: Sequence[System]) -> None:
    for system in systems:
        if lacking := sorted(VERBS - set(system.verbs)):
            raise UsageError(
                f"{system.name} does not {' or '.join(lacking)}, which memory-honesty asks of it.",
                hint=f"These do: {', '.join(known.name for known in _able()) or 'none'}.",
            )


def _options(system: System, exam: Exam) -> dict[str, JsonValue]:
    """All settings in force. Floors that come with a system are of the vault's own development
    set; the third vault has none, and takes those of the second."""
    floors = {"floors_from": "dev" if exam.vault == "vault1" else "dev3"}
    return system.settle({name: value for name, value in floors.items() if name in system.options})


def _exam(name: str, marker: MarkerChoice, top_k: int, seed: int) -> Exam:
    return load_exam(name, marker=marker.value, top_k=top_k, seed=seed)
