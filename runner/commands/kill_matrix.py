"""``bench kill-matrix``: which check catches which fault."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._progress import Progress
from runner.errors import UsageError
from runner.faults import TRIP_VS_MOVE, UPDATE_GATE, Fault, load_faults
from runner.prices import load_prices
from runner.reports.files import prepare, write_atomically
from runner.reports.gate_matrix import gate_markdown, gate_sightings
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

    Every fault runs in containers, in all it can occur in: the cases of trip-vs-move, with the move
    and without, and the sets of update-gate, one sample each. Some minutes.
    """
    trips, pairs = _chosen(only, TRIP_VS_MOVE), _chosen(only, UPDATE_GATE)
    unknown = set(only or ()) - {fault.name for fault in (*trips, *pairs)}
    if unknown:
        known = {f.name for suite in (TRIP_VS_MOVE, UPDATE_GATE) for f in load_faults(suite=suite)}
        raise UsageError(
            f"There is no fault {', '.join(sorted(unknown))}.",
            hint=f"Faults: {', '.join(sorted(known))}.",
        )
    output = output.resolve()
    prepare(output, resume=True)
    errors, prices = Console(stderr=True), load_prices()
    with Progress(errors, quiet=quiet) as progress, place("engine", say=progress.note) as here:
        seen = sightings(trips, here, prices, workers=jobs, watch=progress)
        gated = gate_sightings(pairs, here, prices, workers=jobs, watch=progress)
    page = "\n".join([markdown(trips, seen), gate_markdown(pairs, gated)])
    write_atomically(output, page.encode())
    errors.print(Text(f"Written: {output}"))


def _chosen(only: list[str] | None, suite: str) -> tuple[Fault, ...]:
    faults = load_faults(suite=suite)
    return faults if not only else tuple(fault for fault in faults if fault.name in only)
