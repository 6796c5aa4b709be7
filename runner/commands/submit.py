"""``bench submit``: whether a result may be put in public."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.archive.submit import Follows, Submission
from runner.archive.submit import check as checked
from runner.commands._formats import write_json, write_sheets
from runner.commands._options import Output
from runner.plain import plain
from runner.reports.cells import sheet, text, words
from runner.reports.formats import Shown
from runner.reports.sheet import Sheet, Tone

app = typer.Typer(
    help="Putting a result in public: the rules, and whether one follows them.",
    rich_markup_mode=None,
)
_TONES = {
    Follows.HOLDS: Tone.GOOD,
    Follows.DOES_NOT: Tone.BAD,
    Follows.NOT_APPLICABLE: Tone.UNSURE,
}


@app.callback()
def _group() -> None:
    """Keeps ``check`` a word of its own, also while there is no other."""


@app.command()
def check(
    file: Annotated[
        Path, typer.Argument(help="An archive of `bench images archive`, or a report.")
    ],
    format_: Annotated[
        Output,
        typer.Option(
            "--format",
            help="A table for people, or for a page (markdown); csv: the same for a spreadsheet;"
            " json: every rule, and whether all are followed.",
        ),
    ] = Output.TABLE,
) -> int:
    """Hold a report or an archive to the rules for putting a result in public.

    Each rule is told with its reason, what was found, and what to do where it is not followed.
    The file is verified as `bench verify` does. Exit code 0 when no rule is broken, 1 when one is.
    """
    submission = checked(file)
    if format_ is Output.JSON:
        document = {**submission.model_dump(mode="json"), "ready": submission.ready}
        write_json(document)
    elif format_ is Output.TABLE:
        _print(submission, Console())
    else:
        write_sheets([rule_sheet(submission)], format_)
    return 0 if submission.ready else 1


def rule_sheet(submission: Submission) -> Sheet:
    """Every rule, a line each."""
    columns = [text("rule"), text("what it asks and why, and what was found", "asks")]
    columns += [text("found"), text("to do", "todo"), text("", "follows")]
    rows = [
        (
            words(rule.id),
            words(f"{rule.rule} {rule.why}"),
            words(rule.found, _TONES[rule.follows]),
            words(rule.todo, _TONES[rule.follows]),
            words(rule.follows.value, _TONES[rule.follows]),
        )
        for rule in submission.rules
    ]
    return sheet("rules", f"{submission.file}: {submission.about}", columns, rows)


def _print(submission: Submission, console: Console) -> None:
    table = Shown(rule_sheet(submission), under={"found": "asks", "todo": "asks"})
    broken = [rule.id for rule in submission.rules if rule.follows is Follows.DOES_NOT]
    told = (
        Text(f"Not to be put in public as it is: {', '.join(broken)}.", "bold red")
        if broken
        else Text("It follows every rule that applies to it.", "green")
    )
    head = Text(plain(f"{submission.file}: {submission.about}"))
    console.print(head, Text(), table, Text(), told, sep="\n")
