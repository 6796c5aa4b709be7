"""``bench rerun``: a whole result again, from one file, without a network."""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from runner import engine_api
from runner.archive import pack
from runner.archive import rerun as making
from runner.archive.contents import ArchivedImage
from runner.commands._archive import Threads
from runner.commands._exit import code_of
from runner.commands._formats import write_json, write_sheets
from runner.commands._options import Jobs, Output, OutputFile, Quiet
from runner.commands._progress import Progress
from runner.commands._work import Bytes
from runner.errors import NotConfirmed
from runner.plain import plain
from runner.reports import files
from runner.reports.cells import sheet, text, words
from runner.reports.same import Comparison
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet, Tone

DIFFERS = 1
_HELD = (
    "Held to each other: what was asked of which images, endings, stores, steps, checks,"
    " observations, calls, usage and money. Not held: ids, times of day, how long it took, what is"
    " of the machine."
)


def rerun(
    file: Annotated[Path, typer.Argument(help="An archive of a report.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Load and run the images without asking.")
    ] = False,
    output: OutputFile = None,
    jobs: Jobs = 2,
    threads: Threads = None,
    format_: Annotated[
        Output,
        typer.Option(
            "--format",
            help="A line a run for people, or a table for a page (markdown) or a spreadsheet (csv);"
            " json: all of it.",
        ),
    ] = Output.TABLE,
    quiet: Quiet = False,
) -> int:
    """Make a whole result again from an archive alone, and say whether it is the same.

    The archive is verified; its images are loaded where the engine lacks them; the same protocol is
    run on them, with the same options and clock, its model calls answered by the same tables or by
    the recording in the archive: no network, no key. Every run is then held to the one in the
    archive. Answers to a held-out set are not shown.

    Exit code 0 when all runs are identical, 1 when one differs; 3 and 5 when a run came to no
    verdict here for want of time or of an engine, which says nothing of the archive.
    """
    errors = Console(stderr=True)
    if output is not None:
        output = output.resolve()
        files.prepare(output, resume=False)
    with TemporaryDirectory(prefix="bench-rerun-") as room:
        with Bytes(errors, quiet=quiet) as show:
            again = making.read(file, Path(room), show)
        _tell(errors, again.remark)
        workers = threads or pack.threads()
        with closing(engine_api.connect()) as client:
            missing = making.missing(client, again)
            if missing:
                _confirm(missing, yes=yes, errors=errors)
                with Bytes(errors, quiet=quiet) as show:
                    for image in making.load(client, again, show, workers=workers):
                        if not image.was_there:
                            show.line(f"{image.reference}: loaded, {image.config_digest[7:19]}")
        with Progress(errors, quiet=quiet, total=len(again.report.planned)) as progress:
            fresh = making.run(again, output, say=progress.note, watch=progress, workers=jobs)
    found = making.beside(again, fresh)
    if format_ is Output.JSON:
        write_json(_document(found))
    elif format_ is Output.TABLE:
        _print(found, Console())
    else:
        write_sheets([run_sheet(found)], format_)
        for told in (*((str(found.asked),) if found.asked else ()), *found.unseen):
            _tell(errors, told)
    if output is not None:
        _tell(errors, f"Report: {output}")
    return _code(found, fresh, making.stopped(again, fresh))


def _code(found: Comparison, fresh: Report, stopped: Sequence[str]) -> int:
    if found.identical:
        return 0
    only = fresh.model_copy(
        update={"runs": tuple(run for run in fresh.runs if run.spec.id in stopped)}
    )
    return code_of(only) if stopped else DIFFERS


def run_sheet(found: Comparison) -> Sheet:
    """Every run beside the one in the archive, a line each."""
    rows = [
        (
            words(run.run),
            Cell("identical", Tone.GOOD, True)
            if run.difference is None
            else Cell("differs", Tone.BAD, False),
            words("" if run.difference is None else str(run.difference)),
        )
        for run in found.runs
    ]
    columns = [text("run"), text("identical"), text("difference")]
    return sheet("runs", "Every run beside the archived one", columns, rows, (_HELD,))


def _print(found: Comparison, console: Console) -> None:
    for run in found.runs:
        told = "identical" if run.difference is None else str(run.difference)
        style = "green" if run.difference is None else "bold red"
        console.print(Text.assemble(f"{run.run}: ", (plain(told), style)), soft_wrap=True)
    if found.asked is not None:
        console.print(Text(plain(str(found.asked)), "bold red"), soft_wrap=True)
    differing = sum(run.difference is not None for run in found.runs)
    total = len(found.runs)
    if found.identical:
        console.print(Text(f"Identical: {_runs(total)}.", "bold green"))
    elif differing:
        console.print(Text(f"Not identical: {_runs(differing)} of {total}.", "bold red"))
    else:
        console.print(Text("Not identical.", "bold red"))
    console.print()
    for line in (_HELD, *found.unseen):
        console.print(Text(line), soft_wrap=True)


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _document(found: Comparison) -> dict[str, Any]:
    """The comparison for programs."""

    def told(difference: object) -> str | None:
        return None if difference is None else str(difference)

    return {
        "identical": found.identical,
        "asked": told(found.asked),
        "runs": [
            {
                "run": run.run,
                "identical": run.difference is None,
                "difference": told(run.difference),
            }
            for run in found.runs
        ],
        "not_compared": list(found.unseen),
    }


def _tell(errors: Console, text: str) -> None:
    if text:
        errors.print(Text(plain(text)), soft_wrap=True)


def _confirm(missing: Sequence[ArchivedImage], *, yes: bool, errors: Console) -> None:
    """Go on only when somebody says so: what is loaded is a stranger's, and is run.

    Raises:
        NotConfirmed: the user says no, or there is no terminal to ask at.
    """
    if yes:
        return
    size = sum({layer.digest: layer.size for one in missing for layer in one.layers}.values())
    names = ", ".join(image.reference for image in missing)
    what = f"This loads {names} into the engine ({size / 1e6:,.0f} MB packed) and runs them"
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"{what}, and there is no terminal to ask at.",
            hint="Nothing was loaded. Add --yes to do it.",
        )
    _tell(errors, f"{what}.")
    if not typer.confirm("Go on?", default=False, err=True):
        raise NotConfirmed("Not confirmed.", hint="Nothing was loaded.")
