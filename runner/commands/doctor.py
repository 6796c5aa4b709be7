"""``bench doctor``: what would fail on this machine, and what to do about it."""

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.errors import CannotStart
from runner.runs import sandbox
from runner.runs.sandbox.control import prove

_STYLE = {"ok": "green", "warning": "yellow", "problem": "red"}


def doctor(
    escapes: Annotated[
        bool,
        typer.Option(
            "--escapes",
            help="Also prove that each escape probe can succeed on this machine (some seconds).",
        ),
    ] = False,
) -> int:
    """Look at engine, disk, socket, base image and builds: what would fail, and what to do.

    Exits with 6 when a run could not start.
    """
    # Slow to load, and no other command needs it.
    from runner.images.doctor import examine

    console = Console()
    findings = examine()
    for finding in findings:
        console.print(
            Text.assemble(
                (f"{finding.level:8}", _STYLE[finding.level]), f"{finding.what}: {finding.detail}"
            )
        )
        if finding.next_step:
            console.print(Text(f"        next: {finding.next_step}"))
    if any(finding.level == "problem" for finding in findings):
        return CannotStart.exit_code
    if escapes:
        _prove(console)
    return 0


def _prove(console: Console) -> None:
    """The control: the same probes where nothing holds them back."""
    from runner import images

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("probe", no_wrap=True)
    table.add_column("proven", no_wrap=True)
    table.add_column("what it reached without the sandbox, or why nothing", overflow="fold")
    base = images.ensure("base", progress=lambda line: console.print(Text(line)))
    with sandbox.start() as opened:
        for proof in prove(opened, base.config_digest):
            table.add_row(
                Text(proof.probe), "yes" if proof.proven else "unproven", Text(proof.detail)
            )
            for target in proof.unproven:
                table.add_row("", "unproven", Text(target))
    console.print(table)
