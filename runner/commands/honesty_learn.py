"""``bench honesty learn``: whether what is learned from one week's questions helps with the next's.

The command is ``honesty-learn``; ``bench honesty learn`` is the same, see ``_app._named``.
"""

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._execute import How, run
from runner.commands._exit import code_of
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
    SystemDir,
    SystemVersion,
    Yes,
    measured_by_default,
    pairs,
    price_list,
    usd,
)
from runner.commands._show import print_reports
from runner.errors import UsageError
from runner.plain import plain
from runner.reports.learning import nights
from runner.reports.schema import Report
from runner.reports.terminal import spaced
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.runs.provider import Provider
from runner.suites.honesty_learning import LESSON_KINDS, VAULTS, Lesson, load_lesson
from runner.suites.memory_honesty import TOP_K
from runner.systems.catalog import System
from runner.systems.catalog import load as load_system

DEFAULT = "router"


class VaultChoice(enum.StrEnum):
    """Whose pages and pairs are asked."""

    VAULT1 = "vault1"
    VAULT2 = "vault2"
    BOTH = "both"


@with_live
def honesty_learn(
    system: Annotated[
        str | None,
        typer.Option(
            help="What is measured; it has to learn.  [default: router, or what --system-dir holds]"
        ),
    ] = None,
    system_dir: SystemDir = None,
    system_version: SystemVersion = None,
    vault: Annotated[
        VaultChoice, typer.Option(help="Whose pages and pairs are asked.")
    ] = VaultChoice.BOTH,
    proof: Annotated[
        bool | None,
        typer.Option(
            "--proof/--no-proof",
            help="Whether what is learned needs a sentence of the page.  [default: both, a report"
            " each]",
        ),
    ] = None,
    top_k: Annotated[int, typer.Option(help="Pages that may be cited for a question.")] = TOP_K,
    arm: ArmOption = Arm.SCRIPTED,
    model: ModelOption = MODEL,
    pin: Pin = None,
    max_usd: MaxUsd = None,
    max_usd_total: MaxUsdTotal = None,
    ceiling: CeilingOption = Ceiling.RESERVED,
    step_deadline: StepDeadline = 1800.0,
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
    """Does what a memory learns from one week's questions help it with the next's?

    The same command as `bench honesty learn`. Every intent is asked in two wordings. One run asks
    the second week's; another asks the first week's, which the system keeps in a log of its own,
    lets it learn from that log once, with a model that says which page answers a question, and asks
    the second week's. What was learned is told beside how much of it is wrong, with and without the
    proof: a sentence that the model has to copy from the page.

    Scripted answers are made from the pairs: right about what a page answers, wrong on purpose
    about what none does. They show what a proof keeps out, and nothing of how often a model errs.
    """
    if arm.value in ("record", "replay"):
        raise UsageError("bench honesty learn has no cassettes: use --arm scripted or live.")
    provider = Provider() if estimate_only else live.provider(arm.value)
    named = load_system(system or measured_by_default(DEFAULT), system_version)
    _learns(named)
    lessons = [
        load_lesson(name, top_k=top_k)
        for name in (VAULTS if vault is VaultChoice.BOTH else (vault.value,))
    ]
    needed = [True, False] if proof is None else [proof]
    total = usd(max_usd_total)
    planned = len(lessons) * len(needed) * len(LESSON_KINDS)
    protocols = [
        Protocol(
            case=lesson,
            system=named,
            arm=arm.value,
            model=model,
            runs=dict.fromkeys(LESSON_KINDS, 1),
            clock=Clock("now"),
            pins=pairs(pin or (), "--pin"),
            options=named.settle({"proof": one}),
            max_usd=run_ceiling(usd(max_usd), total, ceiling.value, planned),
            ceiling=ceiling.value,
            step_deadline_s=step_deadline,
            provider=provider,
        )
        for lesson in lessons
        for one in needed
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
        outputs=_files_in(output, protocols) if output else None,
        resume=False,
        format_=format_,
        keep=keep,
        quiet=quiet,
    )
    done = run(protocols, how)
    return 0 if done is None else _show(done, format_)


def _learns(system: System) -> None:
    lacking = {"learn"} - set(system.verbs) or {"proof"} - set(system.options)
    if lacking:
        raise UsageError(
            f"{system.name} does not learn from a log, with and without a proof.",
            hint="The router does; `bench systems` says what each system can do.",
        )


def _files_in(folder: Path, protocols: Sequence[Protocol]) -> list[Path]:
    """A file a vault and way to learn in the folder that was named."""
    found = []
    for one in protocols:
        assert isinstance(one.case, Lesson)
        way = "proof" if one.options["proof"] else "no-proof"
        name = f"honesty-learn-{one.system.name}-{one.case.vault}-{way}.json"
        found.append((folder / name).resolve())
    return found


def _show(done: Sequence[tuple[Report, Path]], format_: Output) -> int:
    console, errors = Console(), Console(stderr=True)
    reports = [report for report, _ in done]
    if format_ is not Output.TABLE or len(reports) == 1:
        print_reports(reports, format_, console)
    else:
        for head, sheets in nights(reports):
            console.print(Text(head), Text(), *spaced(sheets), sep="\n")
        _told(reports, console)
    for _, path in done:
        errors.print(Text(f"Report: {path}"), soft_wrap=True)
    return code_of(*reports)


def _told(reports: Sequence[Report], console: Console) -> None:
    """Runs that came to no verdict, and what a reader of any has to know, each once."""
    for report in reports:
        for one in report.runs:
            if one.ending.kind != "graded":
                told = f"{report.system.name}, {one.spec.id}: {one.ending.outcome.value}"
                console.print(Text(plain(f"{told}, {one.ending.kind}. {one.ending.detail}")))
    for note in dict.fromkeys(note for report in reports for note in report.notes):
        console.print(Text(plain(note)))
