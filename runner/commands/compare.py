"""``bench compare``: two reports of one suite, what changed between them, and whether it may."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runner.commands._exit import code_of
from runner.commands._formats import write
from runner.commands._options import LONG, Output, pairs
from runner.errors import UsageError
from runner.model import Outcome
from runner.reports import compare as comparing
from runner.reports import files
from runner.reports.compare import MEASURES, FailOn
from runner.reports.formats import json_bytes
from runner.reports.rescore import verify
from runner.reports.schema import Report

NOT_HELD = 1


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The report that was.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The report that is held to it.")],
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="What exits with 1.  [default: worse for trip-vs-move and update-gate,"
            " significant for memory-honesty and honesty-learning]"
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Below this a p-value, adjusted by Holm, is significant.")
    ] = 0.05,
    max_ratio: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=RATIO",
            help="Also exit with 1 where B takes more than so many times what A takes:"
            f" {', '.join(MEASURES)}. May be repeated.",
        ),
    ] = None,
    checks_version: Annotated[
        int | None,
        typer.Option(help="Grade both by this version of the checks.  [default: B's]"),
    ] = None,
    format_: Annotated[
        Output,
        typer.Option(
            "--format",
            help=f"Tables for people, or for a pull request (markdown); json: all of it. {LONG}",
        ),
    ] = Output.TABLE,
) -> int:
    """Compare two reports of one suite: two versions of a memory, two models, before and after.

    Both are verified first. Then what changed is told run by run and check by check, claim by
    claim, pair by pair and question by question, with the exact test that belongs to it: Fisher's
    over runs, which are not paired; McNemar's over pairs and questions, which are. Of a held-out
    set counts and tests alone are told.

    --fail-on worse: nothing may be worse, not one run, check, pair or question. significant:
    nothing may be worse by a test. changed: nothing may be otherwise, better included. never: the
    difference is told and counts for nothing.

    Exit code 0 when B holds what A held, 1 when it does not; 2 when the two cannot be compared; 3,
    4 or 5 when a run of B has no verdict (incomplete, invalid, errored), whatever the others came
    to; 7 when a report was altered.
    """
    limits = {
        name: _ratio(name, text) for name, text in pairs(max_ratio or (), "--max-ratio").items()
    }
    before, after = _verified(a), _verified(b)
    found = comparing.compare(before, after, checks_version=checks_version)
    judged = comparing.judge(found, fail_on, alpha=alpha, limits=limits)
    code = _unjudged(after) or (0 if judged.holds else NOT_HELD)
    match format_:
        case Output.TABLE:
            Console().print(comparing.table(found, judged))
        case Output.MARKDOWN:
            write(comparing.page(found, judged).encode())
        case Output.CSV:
            write(comparing.spreadsheet(found).encode())
        case Output.JSON:
            write(json_bytes(comparing.document(found, judged, code=code, alpha=alpha)))
    return code


def _verified(path: Path) -> Report:
    report = files.load(path)
    verify(report)
    return report


def _unjudged(report: Report) -> int:
    """The exit code of the runs without a verdict alone; 0 where there is none."""
    judged = {
        run.spec.id for run in report.runs if run.ending.outcome in (Outcome.PASSED, Outcome.FAILED)
    }
    return code_of(
        report.model_copy(
            update={
                "planned": tuple(one for one in report.planned if one.id not in judged),
                "runs": tuple(run for run in report.runs if run.spec.id not in judged),
            }
        )
    )


def _ratio(name: str, text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if not 0 < ratio < float("inf"):
        raise UsageError(f"--max-ratio {name}={text} is no ratio: a number above 0, such as 1.2.")
    return ratio
