"""``bench images build``: images that are not there, of the locked packages, or two times."""

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner import engine_api, images
from runner.commands._options import SystemDir
from runner.commands._work import Steps
from runner.errors import CannotStart, UsageError
from runner.images import drift, locks
from runner.images.twice import Difference, Twice, twice
from runner.model import ImageIdentity
from runner.plain import plain
from runner.systems import catalog

_SHOWN = 100
"""Differences of an image that are told one by one."""
_HEAD = """\
| image | holds | size | layers, own | the same | id | what differs |
|---|---|---:|---:|---|---|---|"""


def build(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="See `bench images list`.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every image of the project.")] = False,
    system_dir: SystemDir = None,
    version: Annotated[
        str | None, typer.Option(help="Another version of what is in it than its default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Another model to bake into it than its default.")
    ] = None,
    locked: Annotated[
        bool,
        typer.Option("--locked", help="Fail where an image holds other packages than its locks."),
    ] = False,
    snapshot: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Build the base, and what installs packages, anew from Debian as it was on a day,"
            " by its snapshot service.",
        ),
    ] = None,
    two: Annotated[
        bool,
        typer.Option(
            "--twice",
            help="Build two times from nothing, and compare file by file; exit with 1 where they"
            " differ. Neither is kept.",
        ),
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With --twice: a table for a document.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Build images that are not there, and what they stand on; print the name of each.

    Runs build what they need by themselves: this is for doing it beforehand, or with a version or
    a model that no system asks for.
    """
    asked = _asked(names or [], every=every)
    if markdown and not two:
        raise UsageError("--markdown is for --twice.")
    if two and (locked or snapshot is not None):
        raise UsageError("--twice goes with neither --locked nor --snapshot.")
    for name in asked:
        _check(name, version, model)
    moment = None if snapshot is None else images.stamp(snapshot)
    errors = Console(stderr=True)
    with closing(engine_api.connect()) as client:
        if two:
            if markdown:
                print(_HEAD, flush=True)
            repeats = True
            for name in asked:
                with Steps(errors, quiet=quiet).of(name) as steps:
                    row = twice(images.Builder(client, steps.told), name, version, model)
                repeats = repeats and row.repeats
                if markdown:
                    print(_markdown(row), flush=True)
                else:
                    _show(row)
            raise typer.Exit(0 if repeats else 1)
        steps = Steps(errors, quiet=quiet)
        builder = images.Builder(client, steps.told, snapshot=moment)
        for name in asked:
            start = time.monotonic()
            with steps.of(name):
                made = builder.ensure(name, version, model)
            how = f"built in {time.monotonic() - start:.0f} s" if steps.any else "was there"
            if locked and made.drift:
                raise _drifted(made)
            print(made.name, flush=True)
            _told(made, f"{name}: {how}, {made.config_digest[7:19]}", name, errors)


def _told(made: ImageIdentity, line: str, name: str, errors: Console) -> None:
    errors.print(Text(line), soft_wrap=True)
    if not made.redistributable:
        errors.print(Text(f"{name} is not redistributable: {made.restriction}"), soft_wrap=True)
    if made.drift:
        errors.print(
            Text(plain(f"{name} drifted from its locks: {drift.brief(made.drift)}")), soft_wrap=True
        )


def _drifted(made: ImageIdentity) -> CannotStart:
    lines = "".join(f"  {line}\n" for line in made.drift)
    base = locks.debian("base")
    back = f" --snapshot {base.moment} takes Debian's packages as they were then." if base else ""
    return CannotStart(
        f"{made.name} holds other packages than its locks:\n{lines}",
        hint=f"`bench images lock` renews the locks.{back}",
    )


# ---------------------------------------------------------------- two times


def _show(row: Twice) -> None:
    """How one image went."""
    one, other = row.seconds
    took = f"{one:.0f} s and {other:.0f} s"
    if row.same:
        print(f"{row.name}: two times {row.ids[0][7:19]}, {len(row.layers[0])} layers, {took}")
    else:
        print(f"{row.name}: {row.ids[0][7:19]} and {row.ids[1][7:19]}, {took}")
    _list(row.differences)
    if row.unsteady:
        print("  In layers, though an engine may leave it out:")
        _list(row.unsteady)
    sys.stdout.flush()


def _list(found: Sequence[Difference]) -> None:
    for one in found[:_SHOWN]:
        print(plain(f"  {one}"))
    if (more := len(found) - _SHOWN) > 0:
        print(f"  and {more} more")


def _markdown(row: Twice) -> str:
    count = len(row.layers[0])
    told = f"{count - row.differing} of {count}"
    return (
        f"| {row.name} | {' + '.join(filter(None, (row.version, row.model)))} |"
        f" {row.bytes / 1e6:,.0f} MB | {count}, {count - row.below} |"
        f" {'bit for bit' if row.repeats else 'by luck' if row.same else told} |"
        f" {' / '.join(f'`{one[7:19]}`' for one in dict.fromkeys(row.ids))} |"
        f" {'; '.join(f'`{plain(str(one))}`' for one in _apart(row)[:_SHOWN])} |"
    )


def _apart(row: Twice) -> tuple[Difference, ...]:
    return (*row.differences, *row.unsteady)


# ---------------------------------------------------------------- what is asked


def _asked(names: Sequence[str], *, every: bool) -> tuple[str, ...]:
    if every and names:
        raise UsageError("--all is every image: name none beside it.")
    if not every and not names:
        raise UsageError("No NAME is given.", hint="`bench images list` shows them; --all is all.")
    return images.names() if every else tuple(dict.fromkeys(names))


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
