"""``bench images lock``: what pins the packages of images, looked at again."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner import paths
from runner.errors import UsageError
from runner.images import relock
from runner.images.relock import Change, Kind, Renewed
from runner.plain import plain


def lock(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Images; all that have locks by default."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change no file; exit with 1 where one would change."),
    ] = False,
    only: Annotated[
        list[Kind] | None, typer.Option(help="Only locks of these packages; can be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Renew the lock files of images, and show what changes.

    Debian's packages are those that its archive has now, for amd64 and arm64 alike; those of Python
    and npm are resolved again from what each image asks for. Needs apt-get and npm for theirs.
    """
    known = relock.names()
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"{name} has no locks of its own.", hint=f"These have: {', '.join(known)}."
            )
    errors = Console(stderr=True)

    def told(line: str) -> None:
        if not quiet:
            errors.print(Text(plain(line)), highlight=False, soft_wrap=True)

    # All are looked at before the first is written: they are of one moment, or as they were.
    found = list(relock.relock(names or known, set(only or Kind), told))
    console = Console()
    changed = [one for one in found if one.changes]
    if changed:
        console.print(_table(changed))
    for one in found:
        for remark in one.remarks:
            console.print(Text(plain(remark)), soft_wrap=True)
    for one in [] if check else changed:
        one.write()
        console.print(Text(f"wrote {_shown(one)}"), soft_wrap=True)
    if not changed:
        console.print(f"Nothing changes in {len(found)} lock files.")
    elif check:
        console.print(f"{len(changed)} of {len(found)} lock files would change.")
        raise typer.Exit(1)


def _shown(one: Renewed) -> str:
    return one.file.relative_to(paths.root()).as_posix()


def _table(found: Sequence[Renewed]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("lock", "package", "was", "is now"):
        table.add_column(name, overflow="fold")
    for one in found:
        file = _shown(one)
        for package, platforms, was, now in _together(one.changes):
            where = f" ({platforms})" if platforms else ""
            cells = (file, package + where, was or "new", _now(was, now))
            table.add_row(*(Text(plain(cell)) for cell in cells))
            # Told once.
            file = ""
    return table


def _now(was: str, now: str) -> str:
    if was == now:
        return "other files"
    return now or "gone"


def _together(changes: Sequence[Change]) -> list[tuple[str, str, str, str]]:
    """Changes, one for all architectures where they have it in common."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in changes:
        rows.setdefault((one.package, one.was, one.now), []).append(one.platform)
    return [
        (package, ", ".join(filter(None, platforms)), was, now)
        for (package, was, now), platforms in sorted(rows.items())
    ]
