"""Answers to development sets that are kept as files, with what they were graded as.

A folder a system: ``SET.jsonl`` has the lines that ``bench grade`` reads, and ``answers.toml`` says
who gave them and what they came to. Whoever changes the scorer sees it there: the lines are graded
again, and the figures have to be the same.
"""

import datetime
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.errors import UsageError
from runner.model import Noun, RunRecord
from runner.reports.files import write_atomically
from runner.reports.honesty import row_of
from runner.reports.remarks import answered_by
from runner.reports.schema import Report
from runner.runs.disk import make_folder
from runner.suites.memory_honesty import (
    Answer,
    Exam,
    HonestyVerdict,
    Marker,
    Result,
    load_exam,
    parse_answers,
    result,
)

FILE = "answers.toml"
HEAD = "# Written by `bench honesty --answers`; the figures are what the lines beside come to.\n"


class Figures(Noun):
    """What answers came to, in counts; and two that show the intervals and the curve."""

    answered: int
    right: int
    wrong: int
    stale: int
    neighbour_cited: int
    unrelated: int
    neighbours_refused: int
    corrections_right: int
    current_right: int
    false_refusals: int
    wrong_low: float | None = None
    """Lower end of the interval of the wrong-citation rate; none of nothing."""
    wrong_high: float | None = None
    area: float | None = None
    """Below the risk-coverage curve; none without scores."""

    @classmethod
    def of(cls, found: Result) -> "Figures":
        """Those of a result."""
        counted, wrong = found.metrics, found.intervals.all["wrong_rate"]
        return cls(
            answered=counted.answered,
            right=counted.right,
            wrong=counted.wrong,
            stale=counted.stale,
            neighbour_cited=counted.neighbour_cited,
            unrelated=counted.unrelated,
            neighbours_refused=counted.neighbours_refused.hits,
            corrections_right=counted.corrections_right.hits,
            current_right=counted.current_right.hits,
            false_refusals=counted.false_refusals.hits,
            wrong_low=_short(wrong.low),
            wrong_high=_short(wrong.high),
            area=None if found.curve is None else _short(found.curve.area),
        )


class KeptSet(Noun):
    """The answers to one set: who gave them, to what, and what they came to."""

    name: str
    sha256: str
    """Of the file of lines."""
    set_sha256: str
    vault_sha256: str
    marker: Marker
    top_k: int
    seed: int
    date: datetime.date
    """The day of the run."""
    bench: str
    """The version of the bench that ran it."""
    version: str
    """Of the system."""
    image: str
    """Its image, by digest."""
    encoder: str = ""
    """Its text encoder; empty where it has none."""
    model: str = ""
    """The model it asked; empty where it asked none."""
    answered_by: str = ""
    """Who answered for that model."""
    figures: Figures


class KeptAnswers(BaseModel):
    """All that is kept of one system."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = Field(default=1, alias="schema")
    system: str
    sets: tuple[KeptSet, ...] = Field(default=(), alias="set")


def keep(folder: Path, report: Report) -> Path | None:
    """Write the answers of a report's first graded run, and what is known of them, below a folder.

    What is kept there of other sets stays.

    Returns:
        The file of lines; none for a held-out set, whose answers are told to nobody, and where no
        run came to its end.

    Raises:
        UsageError: what is there is not of this form, or of another system.
        OSError: it cannot be written.
    """
    exam, verdict, system = report.case, report.verdict, report.system.name
    if not (isinstance(exam, Exam) and isinstance(verdict, HonestyVerdict) and verdict.runs):
        return None
    if exam.held_out:
        return None
    if Path(system).name != system:
        raise UsageError(f"The system {system!r} has no name that a folder could have.")
    row = row_of(report)
    lines = as_lines([answer.within(exam.top_k) for answer in row.answers])
    home = folder / system
    known = load_kept(home) if (home / FILE).exists() else KeptAnswers(system=system)
    if known.system != system:
        raise UsageError(f"{home / FILE} is of {known.system}, not of {system}.")
    others = [one for one in known.sets if one.name != exam.set]
    [run] = [run for run in report.runs if run.spec.id == verdict.runs[0].run]
    new = _kept(report, run, exam, row.result, lines)
    kept = sorted([*others, new], key=lambda one: one.name)
    make_folder(home)
    path = home / f"{exam.set}.jsonl"
    write_atomically(path, lines)
    write_atomically(home / FILE, _written(system, kept).encode())
    return path


def as_lines(given: Sequence[Answer]) -> bytes:
    """Answers as ``bench grade`` reads them."""
    return b"".join(json.dumps(_fields(one), ensure_ascii=False).encode() + b"\n" for one in given)


def load_kept(home: Path) -> KeptAnswers:
    """What is kept of one system.

    Raises:
        UsageError: it is not there, or not of this form.
    """
    path = home / FILE
    try:
        return KeptAnswers.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise UsageError(f"{path} holds no kept answers: {error}") from error


def regrade(home: Path, kept: KeptSet) -> Figures:
    """What kept answers come to now.

    Raises:
        UsageError: the lines are others than were kept, or about another set or vault than the
            bench has.
    """
    exam = load_exam(kept.name, marker=kept.marker, top_k=kept.top_k, seed=kept.seed)
    path = home / f"{kept.name}.jsonl"
    raw = path.read_bytes()
    for what, found, wanted in (
        (str(path), hashlib.sha256(raw).hexdigest(), kept.sha256),
        (kept.name, exam.set_sha256, kept.set_sha256),
        (exam.vault, exam.vault_sha256, kept.vault_sha256),
    ):
        if found != wanted:
            raise UsageError(f"{what} is not what the answers in {home / FILE} were kept of.")
    return Figures.of(result(exam, parse_answers(raw.splitlines(), exam)))


def _kept(report: Report, run: RunRecord, exam: Exam, found: Result, lines: bytes) -> KeptSet:
    return KeptSet(
        name=exam.set,
        sha256=hashlib.sha256(lines).hexdigest(),
        set_sha256=exam.set_sha256,
        vault_sha256=exam.vault_sha256,
        marker=exam.marker,
        top_k=exam.top_k,
        seed=exam.seed,
        date=report.started_at.date(),
        bench=report.bench_version,
        version=report.system.version,
        image=report.images[0].config_digest,
        encoder=run.encoder or "",
        model=report.model if run.calls else "",
        answered_by=answered_by(report) if run.calls else "",
        figures=Figures.of(found),
    )


def _fields(answer: Answer) -> dict[str, Any]:
    fields = {"id": answer.question, "cited": list(answer.cited), "refused": answer.refused}
    scored = any(score is not None for score in answer.scores)
    return {**fields, "scores": list(answer.scores)} if scored else fields


def _written(system: str, sets: Sequence[KeptSet]) -> str:
    return HEAD + "\n".join(_toml(system, sets)) + "\n"


def _toml(system: str, sets: Sequence[KeptSet]) -> Iterator[str]:
    yield "schema = 1"
    yield f"system = {_value(system)}"
    for one in sets:
        yield ""
        yield "[[set]]"
        for name, value in one.model_dump(exclude_defaults=True).items():
            yield f"{name} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{name} = {_value(one)}" for name, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
