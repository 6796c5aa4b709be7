"""``bench systems``: what can be measured."""

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._formats import write_sheets
from runner.commands._options import Output, SystemDir, TableFormat
from runner.reports.cells import sheet, text, words
from runner.reports.formats import Shown
from runner.reports.sheet import Cell, Sheet
from runner.reports.terminal import shown
from runner.systems import catalog
from runner.systems.catalog import System


def systems(system_dir: SystemDir = None, format_: TableFormat = Output.TABLE) -> None:
    """List every system that can be measured, and what each can do."""
    known = catalog.load_all()
    if format_ is not Output.TABLE:
        write_sheets([system_sheet(known, whole=True)], format_)
    else:
        _print(known, Console())
    if not known:
        raise typer.Exit(code=6)


def system_sheet(known: Sequence[System], *, whole: bool) -> Sheet:
    """Systems, a line each.

    Args:
        known: the systems.
        whole: with all that a terminal has no room for in a table.
    """
    columns = [text("system"), text("version"), text("licence"), text("can")]
    rows = [
        (
            words(one.name),
            words(one.version),
            words(one.licence),
            Cell(", ".join(one.capabilities), value=[*one.capabilities]),
        )
        for one in known
    ]
    if not whole:
        return sheet("systems", "Systems", columns, rows)
    columns += [text("about"), text("calls a model for", "purposes")]
    columns += [text("other versions", "versions"), text("image"), text("model in it", "model")]
    columns += [text("redistributable"), text("restriction")]
    more = [
        (
            words(one.about),
            Cell(", ".join(one.purposes), value=[*one.purposes]),
            Cell(", ".join(one.versions), value=[*one.versions]),
            words(one.image),
            words(one.model or ""),
            Cell("yes" if one.redistributable else "no", value=one.redistributable),
            words(one.restriction or ""),
        )
        for one in known
    ]
    both = [(*row, *rest) for row, rest in zip(rows, more, strict=True)]
    return sheet("systems", "Systems", columns, both)


def _print(known: Sequence[System], console: Console) -> None:
    console.print(Shown(system_sheet(known, whole=False)))
    for system in known:
        console.print(shown(f"\n{system.name}: {system.about}"))
        console.print(Text(f"  calls a model for: {', '.join(system.purposes) or 'nothing'}"))
        if system.versions:
            others = ", ".join(system.versions)
            console.print(Text(f"  other versions (--system-version): {others}"))
        if system.image != system.name or system.model:
            baked = f" with {system.model} in it" if system.model else ""
            console.print(Text(f"  runs from the image: {system.image}{baked}"))
        if not system.redistributable:
            console.print(shown(f"  its image is not redistributable: {system.restriction}"))
