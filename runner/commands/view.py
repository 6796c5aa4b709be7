"""``bench view``: the pages of a folder's reports on loopback, fresh while runs go on."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runner.errors import UsageError
from runner.reports.terminal import shown


def view(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="Where the reports are. [default: BENCH_RESULTS, else ./results]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0 is a free one.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the address.")] = False,
) -> None:
    """Show the pages of `bench report` in this machine's browser, and keep them fresh.

    A report that is written run by run appears after its first, and so does one that comes later;
    one that cannot be shown is a line that says why. It answers on loopback only, and only by that
    name. It is for the machine it runs on: a container has a loopback of its own. Ctrl-C ends it.
    """
    # The server is imported when there is something to serve.
    from runner.reports.view import serve

    where = Path(os.environ.get("BENCH_RESULTS", "results")) if folder is None else folder
    if where.exists() and not where.is_dir():
        raise UsageError(f"{where} is no folder.", hint="bench view DIR shows all reports in DIR.")
    if folder is not None and not where.exists():
        raise UsageError(f"There is no folder {where}.")
    console, errors = Console(), Console(stderr=True)

    def ready(address: str) -> None:
        console.print(shown(address), soft_wrap=True)
        if not quiet:
            errors.print(shown(f"Reports in {where.resolve()}. Ctrl-C ends it."), soft_wrap=True)

    def told(line: str) -> None:
        if not quiet:
            errors.print(shown(line), soft_wrap=True)

    asyncio.run(serve(where.resolve(), port, ready=ready, told=told))
