"""``bench images``: what is built, what can be, and what nothing will ask for again."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from runner import engine_api, images
from runner.commands import _archive, _images_build, _images_lock
from runner.commands._formats import write_json, write_sheets
from runner.commands._images_list import image_sheet
from runner.commands._options import Output, TableFormat
from runner.errors import CannotStart, NotConfirmed, UsageError
from runner.images import Listed, State
from runner.images.drift import brief
from runner.plain import plain
from runner.reports.formats import Shown
from runner.runs import sandbox

app = typer.Typer(
    help="The images that systems, gateway and bench run from: list, build, lock, archive, remove.",
    rich_markup_mode=None,
)


@app.command("list")
def list_(
    every: Annotated[
        bool, typer.Option("--all", help="Old images one by one, and every version and model.")
    ] = False,
    format_: TableFormat = Output.TABLE,
) -> None:
    """List every image: what the engine holds of it, what is in it, who may have it.

    An image is current when it was built from the files as they are now, and old when they have
    changed since. Sizes count the layers that images share.
    """
    with closing(engine_api.connect()) as client:
        rows = images.survey(client)
    if format_ is Output.JSON:
        write_json([_document(row) for row in rows])
        return
    table = image_sheet(rows, every=every)
    if format_ is not Output.TABLE:
        write_sheets([table], format_)
        return
    console = Console()
    console.print(Shown(table))
    for line in _remarks(rows):
        console.print(Text(plain(line)))


app.command("build")(_images_build.build)
app.command("lock")(_images_lock.lock)


@app.command()
def prune(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Only old images of these.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove them without asking.")] = False,
) -> None:
    """Remove old images: built from files that have changed since, and used by no container.

    What is current stays; `bench clean --images` removes that too. Another checkout on the same
    engine builds from files of its own: its images are old to this one, and would be built again.
    """
    console, errors = Console(), Console(stderr=True)
    domain = sandbox.Domain.at(sandbox.folder(os.environ, Path.home()))
    if domain.living():
        raise CannotStart(
            "A bench is running, and may need images whose files have changed since it started.",
            hint="Nothing was removed. Try again when it is done.",
        )
    with closing(engine_api.connect()) as client:
        rows = images.survey(client)
        if unknown := set(names or ()) - {row.name for row in rows}:
            there_are = ", ".join(sorted({row.name for row in rows}))
            raise UsageError(
                f"There is no image {min(unknown)!r}.", hint=f"There are: {there_are}."
            )
        old = [
            row.held
            for row in rows
            if row.state is State.OLD and row.held and (not names or row.name in names)
        ]
        if not old:
            console.print("No image is old.")
            return
        _confirm(Counter(one.name for one in old), yes=yes, errors=errors)
        done = images.prune(client, old)
    for name in done.removed:
        console.print(Text(f"removed {name}"), soft_wrap=True)
    for reason in done.kept:
        console.print(Text(plain(f"kept {reason}")), soft_wrap=True)


app.command("archive")(_archive.archive)
app.command("restore")(_archive.restore)

# ---------------------------------------------------------------- what is shown


def _remarks(rows: Sequence[Listed]) -> Iterator[str]:
    """What a table has no room for."""
    for name in dict.fromkeys(row.name for row in rows if row.state is not State.OLD):
        choices = {"--version": images.versions(name), "--model": images.models(name)}
        if any(len(known) > 1 for known in choices.values()):
            told = (
                f"{option} {', '.join(known)}" for option, known in choices.items() if known[1:]
            )
            yield f"\n{name} can be built with {' and '.join(told)} (the first is its default)."
    for name, why in dict.fromkeys((row.name, row.restriction) for row in rows if row.restriction):
        yield f"\n{name} is not redistributable: {why}"
    for row in rows:
        if row.drift and row.state is not State.OLD:
            yield f"\n{row.tag} drifted from its locks: {brief(row.drift)}"
    if any(row.state is State.UNDECIDED for row in rows):
        yield "\nUndecided ones are told when what they stand on is built: `bench images build`."
    if count := sum(row.state is State.OLD for row in rows):
        yield f"\n`bench images prune` removes {count} old ones, but none that a container uses."


def _document(row: Listed) -> dict[str, Any]:
    """One image for programs; sizes in bytes."""
    held = row.held
    return {
        "name": row.name,
        "version": row.version,
        "model": row.model,
        "default": row.default,
        "state": row.state.value,
        "redistributable": not row.restriction,
        "restriction": row.restriction,
        "drift": list(row.drift),
        "id": held.id if held else None,
        "tags": list(held.tags) if held else [],
        "bytes": held.bytes if held else None,
        "created": held.created.isoformat() if held else None,
    }


# ---------------------------------------------------------------- what is asked


def _confirm(counts: Counter[str], *, yes: bool, errors: Console) -> None:
    """Go on only when somebody says so.

    Raises:
        NotConfirmed: the user says no, or there is no terminal to ask at.
    """
    what = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items()))
    count = counts.total()
    errors.print(Text(plain(f"Old images: {what}.")), soft_wrap=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"This would remove {count} images, and there is no terminal to ask at.",
            hint="Nothing was removed. Add --yes to remove them.",
        )
    if not typer.confirm(f"Remove {count} images?", default=False, err=True):
        raise NotConfirmed("Not confirmed.", hint="Nothing was removed.")
