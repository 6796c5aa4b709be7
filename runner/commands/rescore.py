"""``bench rescore``: a saved report, verified and scored again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runner.commands._exit import code_of
from runner.commands._options import FormatOption, Output
from runner.commands._show import print_report
from runner.errors import UsageError
from runner.reports import files
from runner.reports.rescore import rescore as rescored
from runner.reports.rescore import verify


def rescore(
    report: Annotated[Path, typer.Argument(help="A report written by this bench.")],
    checks_version: Annotated[
        int | None,
        typer.Option(
            help="Score by another version of the checks (mid-trip: 1, 2, 3; reader: 2, 3)."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the re-scored report to a new file.")
    ] = None,
    format_: FormatOption = Output.TABLE,
) -> int:
    """Verify a saved report and compute every check again. Offline: no container, no call.

    The report's digests are verified first; an altered report is refused, and the field named.
    Then checks, observations, costs and verdict are computed from the rows, events and calls it
    holds, and must come to what it says.
    """
    loaded = files.load(report)
    verify(loaded)
    again = rescored(loaded, loaded.checks_version if checks_version is None else checks_version)
    if output is not None:
        if output.exists():
            raise UsageError(f"{output} exists already.", hint="Choose another --output.")
        files.prepare(output, resume=False)
        files.save(again, output)
    print_report(again, format_, Console())
    return code_of(again)
