"""``bench systems``: what can be measured."""

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.commands._options import SystemDir
from runner.systems import catalog


def systems(system_dir: SystemDir = None) -> None:
    """List every system that can be measured, and what each can do."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("system", "version", "licence", "can"):
        table.add_column(name, no_wrap=name != "can")
    known = catalog.load_all()
    for system in known:
        can = ", ".join(system.capabilities)
        table.add_row(*(Text(text) for text in (system.name, system.version, system.licence, can)))
    console = Console()
    console.print(table)
    for system in known:
        console.print(Text(f"\n{system.name}: {system.about}"))
        console.print(Text(f"  calls a model for: {', '.join(system.purposes) or 'nothing'}"))
        if system.versions:
            others = ", ".join(system.versions)
            console.print(Text(f"  other versions (--system-version): {others}"))
        if system.image != system.name or system.model:
            baked = f" with {system.model} in it" if system.model else ""
            console.print(Text(f"  runs from the image: {system.image}{baked}"))
        if not system.redistributable:
            console.print(Text(f"  its image is not redistributable: {system.restriction}"))
    if not known:
        raise typer.Exit(code=6)
