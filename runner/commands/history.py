"""``bench history``: a memory's life as a git repository."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.errors import UsageError
from runner.plain import plain
from runner.reports import files
from runner.reports.history import lives, no_stores, person, write
from runner.suites.registry import SUITES


def history(
    report: Annotated[Path, typer.Argument(help="A report of trip-vs-move.")],
    git: Annotated[
        Path,
        typer.Option("--git", metavar="DIR", help="A folder to make: new, or an empty one."),
    ],
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="One run alone: reader-move-1."),
    ] = None,
) -> None:
    """Write a memory's life as a git repository: what it believed, and when it changed its mind.

    Each run is a branch, runs/KIND-NUMBER; the first move run is checked out. Each step after
    which the store was read is a commit, dated at the day it happened on for the system. Each
    claim is a file: one that is retired stays, and its status changes; one that is not in the
    store any more is removed. The notes lie beside them, as they were handed over.

    Offline: no container, no call. The same report makes the same commits.
    """
    _refuse_without_stores(report)
    loaded = files.load(report)
    author = person(loaded.system.name, loaded.system.version)
    branches = write(lives(loaded, run), author, git)
    console = Console()
    for branch in branches:
        count = len(branch.life.moments)
        told = f"{count} commit{'' if count == 1 else 's'}, {branch.life.outcome}"
        console.print(Text(f"{branch.life.branch}: {told}, {branch.tip[:12]}"), soft_wrap=True)
    console.print(Text(plain(f"Read it with: git -C {git} log -p --reverse")), soft_wrap=True)


def _refuse_without_stores(path: Path) -> None:
    """Before a report is opened, as one of a held-out set opens with its answers alone."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    suite = SUITES.get(str(files.document_of(raw, str(path)).get("suite")))
    if suite is not None and "snapshot" not in suite.verbs:
        raise no_stores(suite.name)
