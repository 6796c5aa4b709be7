"""``bench submit``: whether a result may be put in public."""

import sys
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.archive.submit import Follows, Submission
from runner.archive.submit import check as checked
from runner.commands._options import Output
from runner.plain import plain

app = typer.Typer(
    help="Putting a result in public: the rules, and whether one follows them.",
    rich_markup_mode=None,
)
_STYLE = {
    Follows.HOLDS: "green",
    Follows.DOES_NOT: "bold red",
    Follows.NOT_APPLICABLE: "yellow",
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
        Output, typer.Option("--format", help="A table for people, or every rule as JSON.")
    ] = Output.TABLE,
) -> int:
    """Hold a report or an archive to the rules for putting a result in public.

    Each rule is told with its reason, what was found, and what to do where it is not followed.
    The file is verified as `bench verify` does. Exit code 0 when no rule is broken, 1 when one is.
    """
    submission = checked(file)
    if format_ is Output.JSON:
        document = {**submission.model_dump(mode="json"), "ready": submission.ready}
        sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        sys.stdout.buffer.flush()
    else:
        _print(submission, Console())
    return 0 if submission.ready else 1


def _print(submission: Submission, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("what it asks and why, and what was found", overflow="fold")
    table.add_column("", no_wrap=True)
    for rule in submission.rules:
        said = Text(f"{rule.rule} {rule.why}")
        for line in filter(None, (rule.found, rule.todo)):
            said.append(f"\n{plain(line)}", _STYLE[rule.follows])
        table.add_row(rule.id, said, Text(rule.follows.value, _STYLE[rule.follows]))
    broken = [rule.id for rule in submission.rules if rule.follows is Follows.DOES_NOT]
    told = (
        Text(f"Not to be put in public as it is: {', '.join(broken)}.", "bold red")
        if broken
        else Text("It follows every rule that applies to it.", "green")
    )
    head = Text(plain(f"{submission.file}: {submission.about}"))
    console.print(head, Text(), table, Text(), told, sep="\n")
