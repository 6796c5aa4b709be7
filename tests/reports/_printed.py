"""Sheets and whatever else is printed, as a terminal of a given width shows it."""

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType

from runner.reports.formats import Shown
from runner.reports.sheet import Sheet

Printable = RenderableType | Sheet | Iterable[Sheet]


def printed(*things: Printable, width: int = 80) -> list[str]:
    """The lines of it."""
    file = io.StringIO()
    console = Console(file=file, width=width)
    for thing in things:
        for one in _each(thing):
            console.print(one)
    return file.getvalue().splitlines()


def _each(thing: Printable) -> Iterable[RenderableType]:
    if isinstance(thing, Sheet):
        return [Shown(thing)] if thing.rows else thing.notes
    if isinstance(thing, tuple | list):
        return [part for one in thing for part in _each(one)]
    return [thing]  # type: ignore[list-item]
