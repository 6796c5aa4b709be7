"""``bench verify``: an archive or a report, held to all that can be computed again."""

import sys
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console

from runner.archive.verify import verify as verified
from runner.archive.verify.table import render
from runner.commands._options import Output
from runner.errors import DamagedArchive


def verify(
    file: Annotated[
        Path, typer.Argument(help="An archive of `bench images archive`, or a report.")
    ],
    format_: Annotated[
        Output, typer.Option("--format", help="A table for people, or every check as JSON.")
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
        sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        sys.stdout.buffer.flush()
    else:
        Console().print(render(sheet))
    return 0 if sheet.holds else DamagedArchive.exit_code
