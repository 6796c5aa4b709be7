"""``bench grade``: anyone's answers to a set, graded offline."""

import sys
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.text import Text

from runner.commands._honesty import reveal as shown
from runner.commands._options import FormatOption, Output
from runner.errors import UsageError
from runner.reports.honesty import (
    Row,
    at_coverage_of,
    compared,
    costs,
    curves,
    every_rate,
    graded,
    matrix,
    parts,
    title,
    under_rules,
)
from runner.suites.memory_honesty import SETS, Exam, load_exam, parse_answers

MAX_BYTES = 64 << 20
"""More than any file of answers has."""


def grade(
    answers: Annotated[
        Path, typer.Argument(help="JSON lines: id, cited (in rank order), refused, and scores.")
    ],
    set_: Annotated[
        str, typer.Option("--set", metavar="SET", help=f"What they answer: {', '.join(SETS)}.")
    ],
    name: Annotated[
        str | None, typer.Option(help="What to call them; the file's name by default.")
    ] = None,
    floors: Annotated[
        Path | None,
        typer.Option(
            help="Answers of the same system to the development set: also with replaced pages left"
            " out and the floor that is best there."
        ),
    ] = None,
    vs: Annotated[
        Path | None, typer.Option(help="Minus these answers to the same set, question by question.")
    ] = None,
    vs_matched: Annotated[
        Path | None, typer.Option(help="The same, with the others held to as many answers.")
    ] = None,
    ci: Annotated[
        bool, typer.Option("--ci", help="Every rate with its 95% interval, also by language.")
    ] = False,
    unstratified: Annotated[
        bool, typer.Option("--unstratified", help="Intervals as published: kinds not kept apart.")
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="How often they are wrong at every coverage.")
    ] = False,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal", help="Print question by question; of a held-out set, the register says so."
        ),
    ] = False,
    format_: FormatOption = Output.TABLE,
) -> None:
    """Grade answers that any system gave to a set of the honesty suite. Offline: nothing is run.

    A line that is no answer, a question that is unknown, missing or answered twice, or a page that
    is not in the vault is refused with its line number; nothing is guessed.
    """
    exam = load_exam(set_, top_k=100)
    row = _row(answers, exam, name or answers.stem)
    console = Console()
    if format_ is Output.JSON:
        document = {
            "set": exam.set,
            "set_sha256": exam.set_sha256,
            "vault_sha256": exam.vault_sha256,
            "name": row.label,
            "result": row.result.model_dump(mode="json"),
        }
        sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        return
    rows = [row]
    if floors is not None:
        dev = load_exam(exam.floors_from, top_k=100)
        rows.append(under_rules(row, _row(floors, dev, row.label)))
    others = [] if vs is None else [_row(vs, exam, vs.stem)]
    if vs_matched is not None:
        others.append(at_coverage_of(_row(vs_matched, exam, vs_matched.stem), row))
    console.print(Text(title(exam)), Text(), sep="\n")
    console.print(matrix(rows, stratified=not unstratified), Text(), sep="\n")
    console.print(parts(row), Text(), costs(rows), Text(), sep="\n")
    for one in rows if ci else ():
        console.print(every_rate(one, stratified=not unstratified), Text(), sep="\n")
    for other in others:
        console.print(compared(row, other, stratified=not unstratified), Text(), sep="\n")
    if curve:
        console.print(curves(rows), Text(), sep="\n")
    for warning in row.result.warnings:
        console.print(Text(warning))
    if reveal:
        shown(row, console)


def _row(path: Path, exam: Exam, label: str) -> Row:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES >> 20} MB; no file of answers has.")
    return graded(label, exam, parse_answers(raw.split(b"\n"), exam))
