"""``bench report``: a static site of reports, that opens from disk and loads nothing."""

import gc
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runner.reports.terminal import shown


def report(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Reports, of any suites.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the site."),
    ],
    cassette: Annotated[
        list[Path] | None,
        typer.Option(
            help="A recording that a report was made with: each call is then told in full. One"
            " beside its report is found without. May be repeated."
        ),
    ] = None,
    kept: Annotated[
        Path | None, typer.Option(help="What --keep left, for the logs of the systems.")
    ] = None,
) -> None:
    """Make a site of reports: no server, no outside request, no script.

    An overview across suites, systems and models beside the published figures; a page a report; a
    page a run with its steps, what became of every claim, the checks with the rows that satisfied
    or broke them, and its calls. Every file is verified first. Of held-out sets counts alone are
    told, also where the sealed answers are beside.

    DIR is new, empty, or a site made before, which is replaced. It is written whole or not at all.
    """
    # Drawing is imported when there is something to draw: no other command waits for it.
    from runner.reports import site

    # Nothing is let go before the site is there: to look for garbage costs a tenth of the time.
    gc.disable()
    try:
        reports = [site.load(path) for path in files]
        made = site.build(reports, output, cassettes=cassette or (), kept=kept)
    finally:
        gc.enable()
    told = f"{len(made.pages)} pages, {made.size / 1e6:.1f} MB: {made.index}"
    Console().print(shown(told), soft_wrap=True)
