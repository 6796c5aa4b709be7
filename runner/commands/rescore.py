"""``bench rescore``: a saved report, verified and scored again."""

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console

from runner.commands._exit import code_of
from runner.commands._formats import write, write_sheets
from runner.commands._options import FormatOption, Output
from runner.commands._show import print_report
from runner.errors import UsageError
from runner.reports import files, upstream
from runner.reports.formats import json_safe
from runner.reports.rescore import rescore as rescored
from runner.reports.rescore import verify


def rescore(
    report: Annotated[
        Path, typer.Argument(help="A report written by this bench, or by linkedparticles.")
    ],
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

    A report that linkedparticles wrote has no digests: its verdicts are computed again from its
    rows, and every figure that comes out otherwise is listed (exit code 7).
    """
    if upstream.is_upstream(_document(report)):
        return _upstream(report, checks_version, output, format_)
    loaded = files.load(report)
    verify(loaded)
    again = rescored(loaded, loaded.checks_version if checks_version is None else checks_version)
    if output is not None:
        _new(output)
        files.save(again, output)
    print_report(again, format_, Console())
    return code_of(again)


def _upstream(path: Path, checks_version: int | None, output: Path | None, format_: Output) -> int:
    result = upstream.rescore_upstream(path, checks_version)
    document = orjson.dumps(result.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"
    if output is not None:
        _new(output)
        files.write_atomically(output, document)
    if format_ is Output.JSON:
        write(json_safe(document))
    elif format_ is Output.TABLE:
        Console().print(upstream.render(result))
    else:
        write_sheets(upstream.sheets(result), format_)
    return upstream.exit_code(result)


def _new(output: Path) -> None:
    if output.exists():
        raise UsageError(f"{output} exists already.", hint="Choose another --output.")
    files.prepare(output, resume=False)


def _document(path: Path) -> Any:
    """What is in a file, as far as it is JSON; what is wrong with it is said by who reads it."""
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
