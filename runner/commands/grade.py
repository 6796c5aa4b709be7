"""``bench grade``: anyone's answers to a set, graded offline."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.commands._formats import write_json, write_sheets
from runner.commands._honesty import reveal as revealed
from runner.commands._options import LONG, Output
from runner.errors import UsageError
from runner.reports.honesty import (
    Row,
    at_coverage_of,
    compared,
    costs,
    curves,
    every_rate,
    exact_rates,
    graded,
    matrix,
    parts,
    title,
    under_rules,
)
from runner.reports.sheet import Sheet
from runner.reports.terminal import shown, spaced
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
    format_: Annotated[
        Output,
        typer.Option(
            "--format",
            help=f"Tables for people, or for a page (markdown); json: the whole result. {LONG}",
        ),
    ] = Output.TABLE,
) -> None:
    """Grade answers that any system gave to a set of the honesty suite. Offline: nothing is run.

    A line that is no answer, a question that is unknown, missing or answered twice, or a page that
    is not in the vault is refused with its line number; nothing is guessed.
    """
    exam = load_exam(set_, top_k=100)
    row = _row(answers, exam, name or answers.stem)
    if format_ is Output.JSON:
        document = {
            "set": exam.set,
            "set_sha256": exam.set_sha256,
            "vault_sha256": exam.vault_sha256,
            "name": row.label,
            "result": row.result.model_dump(mode="json"),
        }
        write_json(document)
        return
    rows = [row]
    if floors is not None:
        dev = load_exam(exam.floors_from, top_k=100)
        rows.append(under_rules(row, _row(floors, dev, row.label)))
    others = [] if vs is None else [_row(vs, exam, vs.stem)]
    if vs_matched is not None:
        others.append(at_coverage_of(_row(vs_matched, exam, vs_matched.stem), row))
    sheets = [matrix(rows, stratified=not unstratified), exact_rates(rows), parts(row), costs(rows)]
    # Of several of a kind each is named after whose it is.
    sheets += [
        _of(every_rate(one, stratified=not unstratified), one.label) for one in (rows if ci else ())
    ]
    sheets += [_of(compared(row, one, stratified=not unstratified), one.label) for one in others]
    if curve:
        sheets.append(curves(rows))
    told = Console() if format_ is Output.TABLE else Console(stderr=True)
    if format_ is Output.TABLE:
        told.print(Text(title(exam)), Text(), *spaced(sheets), sep="\n")
    else:
        write_sheets(sheets, format_)
    for warning in row.result.warnings:
        told.print(shown(warning))
    if reveal:
        revealed(row, told)


def _of(sheet: Sheet, label: str) -> Sheet:
    return replace(sheet, name=f"{sheet.name}/{label}")


def _row(path: Path, exam: Exam, label: str) -> Row:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES >> 20} MB; no file of answers has.")
    return graded(label, exam, parse_answers(raw.split(b"\n"), exam))
