"""``bench doctor``: what would fail on this machine, and what to do about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._formats import write_sheets
from runner.commands._options import Output, TableFormat
from runner.errors import CannotStart
from runner.reports.cells import sheet, text, words
from runner.reports.formats import STYLES, Shown
from runner.reports.sheet import Cell, Sheet, Tone
from runner.reports.terminal import shown
from runner.runs import sandbox
from runner.runs.sandbox.control import prove

if TYPE_CHECKING:
    from runner.images.doctor import Finding

_TONES = {"ok": Tone.GOOD, "warning": Tone.UNSURE, "problem": Tone.BAD}


def doctor(
    escapes: Annotated[
        bool,
        typer.Option(
            "--escapes",
            help="Also prove that each escape probe can succeed on this machine (some seconds).",
        ),
    ] = False,
    format_: TableFormat = Output.TABLE,
) -> int:
    """Look at engine, disk, socket, base image and builds: what would fail, and what to do.

    With --escapes and another format than a table there are two tables: what was found, and what
    each probe reached.

    Exits with 6 when a run could not start.
    """
    # Slow to load, and no other command needs it.
    from runner.images.doctor import examine

    console, errors = Console(), Console(stderr=True)
    findings = examine()
    starts = not any(finding.level == "problem" for finding in findings)
    sheets = [finding_sheet(findings)]
    if format_ is Output.TABLE:
        _print(findings, console)
    if starts and escapes:
        sheets.append(_prove(console if format_ is Output.TABLE else errors))
        if format_ is Output.TABLE:
            console.print(Shown(sheets[1]))
    if format_ is not Output.TABLE:
        write_sheets(sheets, format_)
    return 0 if starts else CannotStart.exit_code


def finding_sheet(findings: Sequence["Finding"]) -> Sheet:
    """What was looked at, a line each."""
    columns = [text("level"), text("what"), text("detail"), text("next", "next_step")]
    rows = [
        (
            words(one.level, _TONES[one.level]),
            words(one.what),
            words(one.detail),
            words(one.next_step),
        )
        for one in findings
    ]
    return sheet("findings", "This machine", columns, rows)


def _print(findings: Sequence["Finding"], console: Console) -> None:
    for finding in findings:
        style = STYLES[_TONES[finding.level]]
        told = shown(f"{finding.what}: {finding.detail}")
        console.print(Text.assemble((f"{finding.level:8}", style), told))
        if finding.next_step:
            console.print(shown(f"        next: {finding.next_step}"))


def _prove(said: Console) -> Sheet:
    """The control: the same probes where nothing holds them back."""
    from runner import images

    columns = [text("probe"), text("proven")]
    columns.append(text("what it reached without the sandbox, or why nothing", "detail"))
    rows: list[tuple[Cell, ...]] = []
    base = images.ensure("base", progress=lambda line: said.print(shown(line)))
    with sandbox.start() as opened:
        for proof in prove(opened, base.config_digest):
            proven = Cell("yes", value=True) if proof.proven else Cell("unproven", value=False)
            rows.append((words(proof.probe), proven, words(proof.detail)))
            rows += [
                (Cell("", value=proof.probe), Cell("unproven", value=False), words(target))
                for target in proof.unproven
            ]
    return sheet("escapes", "Escapes without the sandbox", columns, rows)
