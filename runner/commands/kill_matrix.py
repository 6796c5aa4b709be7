"""``bench kill-matrix``: which check catches which fault."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._progress import Progress
from runner.faults import load_fault, load_faults
from runner.prices import load_prices
from runner.reports.files import prepare, write_atomically
from runner.reports.kill_matrix import markdown, sightings
from runner.runs.place import place


def kill_matrix(
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "docs/kill-matrix.md"
    ),
    only: Annotated[
        list[str] | None, typer.Option(help="Only these faults; the page then holds no others.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run scripted models that are wrong in one way each, and write which check catches which.

    Every fault runs in containers, in every case it can occur in, once with the move and once
    without: some minutes.
    """
    faults = tuple(load_fault(name) for name in only) if only else load_faults()
    output = output.resolve()
    prepare(output, resume=True)
    errors = Console(stderr=True)
    with Progress(errors, quiet=quiet) as progress, place("engine", say=progress.note) as here:
        seen = sightings(faults, here, load_prices(), workers=jobs, watch=progress)
    write_atomically(output, markdown(faults, seen).encode())
    errors.print(Text(f"Written: {output}"))
