"""``bench verify``: an archive or a report, held to all that can be computed again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runner.archive.verify import verify as verified
from runner.archive.verify.table import check_sheet, render
from runner.commands._formats import write_json, write_sheets
from runner.commands._options import Output
from runner.errors import DamagedArchive


def verify(
    file: Annotated[
        Path, typer.Argument(help="An archive of `bench images archive`, or a report.")
    ],
    format_: Annotated[
        Output,
        typer.Option(
            "--format",
            help="A table for people, or for a page (markdown); csv: the same for a spreadsheet;"
            " json: every check, and whether all holds.",
        ),
    ] = Output.TABLE,
) -> int:
    """Check an archive, or a report by itself: offline, without an engine, trusting nobody.

    Every digest is computed again, every image's layers are unpacked and its packages read out of
    them, every verdict, interval and cost is computed again from rows, answers and calls, and
    every store is read again from its snapshot. What cannot be checked, because the file does not
    hold what it takes, is said, and counts for nothing.

    Exit code 0 when all that could be checked holds, 7 when something does not.
    """
    sheet = verified(file).sheet
    if format_ is Output.JSON:
        document = {**sheet.model_dump(mode="json"), "holds": sheet.holds}
        write_json(document)
    elif format_ is Output.TABLE:
        Console().print(render(sheet))
    else:
        write_sheets([check_sheet(sheet)], format_)
    return 0 if sheet.holds else DamagedArchive.exit_code
