"""``bench images``: what is built, what can be, and what nothing will ask for again."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from runner import engine_api, images
from runner.commands import _archive
from runner.commands._options import Output
from runner.errors import CannotStart, NotConfirmed, UsageError
from runner.images import Listed, State
from runner.plain import plain
from runner.runs import sandbox
from runner.systems import catalog

app = typer.Typer(
    help="The images that systems, gateway and bench run from: list, build, archive, remove.",
    rich_markup_mode=None,
)

Names = Annotated[list[str], typer.Argument(metavar="NAME", help="See `bench images list`.")]


@app.command("list")
def list_(
    every: Annotated[
        bool, typer.Option("--all", help="Old images one by one, and every version and model.")
    ] = False,
    format_: Annotated[
        Output, typer.Option("--format", help="A table for people, or every image as JSON.")
    ] = Output.TABLE,
) -> None:
    """List every image: what the engine holds of it, what is in it, who may have it.

    An image is current when it was built from the files as they are now, and old when they have
    changed since. Sizes count the layers that images share.
    """
    with closing(engine_api.connect()) as client:
        rows = images.survey(client)
    if format_ is Output.JSON:
        print(json.dumps([_document(row) for row in rows], indent=2))
        return
    console = Console()
    console.print(_table(rows, every=every))
    for line in _remarks(rows):
        console.print(Text(plain(line)))


@app.command()
def build(
    names: Names,
    version: Annotated[
        str | None, typer.Option(help="Another version of what is in it than its default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Another model to bake into it than its default.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Build images that are not there, and what they stand on; print the name of each.

    Runs build what they need by themselves: this is for doing it beforehand, or with a version or
    a model that no system asks for.
    """
    for name in names:
        _check(name, version, model)
    errors = Console(stderr=True)
    with closing(engine_api.connect()) as client:
        for name in names:
            start = time.monotonic()
            with _Steps(errors, name, quiet=quiet) as steps:
                made = images.ensure(
                    name, version=version, model=model, progress=steps.told, client=client
                )
            how = f"built in {time.monotonic() - start:.0f} s" if steps.any else "was there"
            print(made.name, flush=True)
            errors.print(Text(f"{name}: {how}, {made.config_digest[7:19]}"), soft_wrap=True)
            if not made.redistributable:
                errors.print(
                    Text(f"{name} is not redistributable: {made.restriction}"), soft_wrap=True
                )


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


class _Steps:
    """The steps of a build as they come: lines, and on a terminal how long it has been going."""

    def __init__(self, console: Console, name: str, *, quiet: bool) -> None:
        self.any = False
        self._quiet = quiet
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Progress(
            *columns,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._bar.add_task(name, total=None)

    def __enter__(self) -> "_Steps":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def told(self, line: str) -> None:
        """One more step."""
        self.any = True
        if not self._quiet:
            self._bar.console.print(Text(plain(line)), highlight=False, soft_wrap=True)


def _table(rows: Sequence[Listed], *, every: bool) -> Table:
    """The images; old ones only counted, beside the first of their name, unless each is wanted."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("image", overflow="fold")
    table.add_column("holds", overflow="fold")
    table.add_column("digest", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("old", justify="right", no_wrap=True)
    table.add_column("share", no_wrap=True)
    old = Counter(row.name for row in rows if row.state is State.OLD)
    for row in rows:
        count = 0 if every else old.pop(row.name, 0)
        if row.state is State.OLD and not every:
            if count:
                table.add_row(Text(plain(row.name)), "", "", "", "", str(count), "")
        elif every or row.default or row.held is not None:
            table.add_row(
                Text(plain(row.name)),
                Text(plain(" + ".join(filter(None, (row.version, row.model))))),
                row.held.id[7:19] if row.held else "",
                _size(row.held.bytes) if row.held else "",
                row.state,
                str(count) if count else "",
                "no" if row.restriction else "yes",
            )
    return table


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
    if any(row.state is State.UNDECIDED for row in rows):
        yield "\nUndecided ones are told when what they stand on is built: `bench images build`."
    if count := sum(row.state is State.OLD for row in rows):
        yield f"\n`bench images prune` removes {count} old ones, but none that a container uses."


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


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
        "id": held.id if held else None,
        "tags": list(held.tags) if held else [],
        "bytes": held.bytes if held else None,
        "created": held.created.isoformat() if held else None,
    }


# ---------------------------------------------------------------- what is asked


def _check(name: str, version: str | None, model: str | None) -> None:
    """Whether an image can be asked for.

    Raises:
        UsageError: it cannot; a system's name that is no image's is told with its image.
    """
    if name not in images.names():
        for system in catalog.load_all():
            if system.name == name:
                baked = f" --model {system.model}" if system.model else ""
                raise UsageError(
                    f"{name} is a system, not an image.",
                    hint=f"It runs from another's: bench images build {system.image}{baked}",
                )
    images.check(name, version=version, model=model)


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
