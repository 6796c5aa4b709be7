"""Cases of trip versus move: read from data, so that another case needs no code."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from runner.errors import UsageError
from runner.model import Fixtures
from runner.paths import fixtures
from runner.placeholders import fill
from runner.suites.trip_vs_move import _validate
from runner.suites.trip_vs_move._file import (
    CaseFile,
    DayPart,
    Question,
    VariantPart,
    WordsPart,
)
from runner.suites.trip_vs_move._validate import Flaw
from runner.suites.trip_vs_move.weekdays import weekday

__all__ = ["Case", "Note", "Question", "case_names", "load_case"]


@dataclass(frozen=True, slots=True)
class Note:
    """One session note, as a system gets it."""

    name: str
    day: date
    text: str

    @property
    def sha256(self) -> str:
        """Digest of its bytes in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Case:
    """One case, for one set of people, places and days."""

    name: str
    variant: str | None
    """None for the published people, places and days."""
    title: str
    about: str
    source: str
    script: str
    """Name of the scripted table that answers for it."""
    names: Mapping[str, str]
    """What ``{placeholders}`` stand for, in the notes and in scripted tables."""
    notes: tuple[Note, ...]
    """In the order they are deposited; the move comes last."""
    home_note: str
    trip_note: str
    move_note: str
    trip_alone: tuple[str, ...]
    """Names of the notes a trip-alone run deposits."""
    words: WordsPart
    end_date_counts: bool
    checks_versions: tuple[int, ...]
    """Oldest first."""
    published_day: date
    comparable_before: date | None
    variants: tuple[str, ...]
    """Names of every variant of this case."""
    sha256: str
    """Digest of the file it was read from."""
    upstream: Mapping[str, str] = field(default_factory=dict)
    """Names and sentences as the published notes have them, where those differ."""
    fixtures: Fixtures = "own"
    """Whose words the notes are: this project's, or the published bytes."""
    questions: tuple[Question, ...] = ()
    """What is read out after every step, in the order it is asked; see ``asked``."""

    def with_notes(self, texts: Mapping[str, str], fixtures: Fixtures) -> "Case":
        """The same case with other words in its notes.

        Args:
            texts: by the note's name; every note of the case.
            fixtures: whose words they are.

        Raises:
            UsageError: a note has no text.
        """
        missing = [note.name for note in self.notes if note.name not in texts]
        if missing:
            raise UsageError(f"There are no words for {', '.join(missing)}.")
        notes = tuple(replace(note, text=texts[note.name]) for note in self.notes)
        said = self.upstream if fixtures == "upstream" else {}
        return replace(self, notes=notes, names={**self.names, **said}, fixtures=fixtures)

    @property
    def home(self) -> str:
        """Where the user lives before the move."""
        return self.names["home"]

    @property
    def away(self) -> str:
        """Where the trip and then the move go."""
        return self.names["away"]

    @property
    def move_day(self) -> date:
        """The day of the move's note."""
        return self.note(self.move_note).day

    @property
    def checks_version(self) -> int:
        """The newest version of the checks defined for it."""
        return self.checks_versions[-1]

    def note(self, name: str) -> Note:
        """The note of that name; ``KeyError`` when there is none."""
        for note in self.notes:
            if note.name == name:
                return note
        raise KeyError(name)

    def asked(self, question: Question) -> str:
        """A question in the words of this case."""
        return fill(question.q, self.names)

    def comparable_on(self, day: date) -> bool:
        """Whether a run on the wall clock of that day is the same test as the published one."""
        return self.comparable_before is None or day < self.comparable_before


def case_names(folder: Path | None = None) -> tuple[str, ...]:
    """Every case there is, by name."""
    return tuple(sorted(path.stem for path in _folder(folder).glob("*.toml")))


def load_case(name: str, variant: str | None = None, *, folder: Path | None = None) -> Case:
    """Read a case, or one of its variants, and make sure that it can be scored.

    Args:
        name: the file's name without ``.toml``.
        variant: one of ``Case.variants``; the published people, places and days when left out.
        folder: where the files lie; the project's own when left out.

    Raises:
        UsageError: no such case or variant, or a file that contradicts itself; it names the
            file and the field.
    """
    path = _folder(folder) / f"{name}.toml"
    if name not in case_names(folder):
        raise UsageError(
            f"There is no case {name!r}.", hint=f"Cases: {', '.join(case_names(folder))}."
        )
    raw = path.read_bytes()
    try:
        file = CaseFile.model_validate(tomllib.loads(raw.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "file"
        raise UsageError(f"{path}: {field}: {first['msg']}") from error
    try:
        _validate.file(file)
        return _assemble(file, name, variant, hashlib.sha256(raw).hexdigest())
    except Flaw as flaw:
        raise UsageError(f"{path}: {flaw}") from flaw


def _folder(folder: Path | None) -> Path:
    return folder if folder is not None else fixtures() / "cases"


def _assemble(file: CaseFile, name: str, variant: str | None, sha256: str) -> Case:
    known = tuple(part.name for part in file.variants)
    part = next((part for part in file.variants if part.name == variant), None)
    if variant is not None and part is None:
        raise UsageError(
            f"Case {name!r} has no variant {variant!r}.",
            hint=f"Variants: {', '.join(known) or 'none'}.",
        )
    days = {note.name: note.day for note in file.notes} | (part.days if part else {})
    dates = file.dates | (part.dates if part else {})
    labels = file.names | (part.names if part else {})
    names = _names(file, part, labels, days, dates)
    case = Case(
        name=name,
        variant=variant,
        title=file.title,
        about=part.about if part else "The published people, places and days.",
        source=file.source,
        script=file.script,
        names=names,
        notes=_notes(file, part, days, names),
        home_note=file.roles.home_note,
        trip_note=file.roles.trip_note,
        move_note=file.roles.move_note,
        trip_alone=file.roles.trip_alone,
        words=file.words,
        end_date_counts=file.end_date_counts,
        checks_versions=file.checks,
        published_day=file.published,
        comparable_before=file.comparable_before,
        variants=known,
        sha256=sha256,
        upstream={
            label: _fill(text, names, f"upstream.{label}", None)
            for label, text in file.upstream.items()
        },
        questions=file.questions,
    )
    _validate.filled(case, labels, dates, at=f"variants.{variant}." if variant else "")
    return case


def _names(
    file: CaseFile,
    variant: VariantPart | None,
    labels: Mapping[str, str],
    days: Mapping[str, date],
    dates: Mapping[str, DayPart],
) -> dict[str, str]:
    roles = file.roles
    all_days = {"home": days[roles.home_note], "trip": days[roles.trip_note]}
    all_days |= {"move": days[roles.move_note]}
    all_days |= {label: part.day for label, part in dates.items()}
    names = dict(labels)
    for label, day in all_days.items():
        names |= {f"{label}_day": day.isoformat(), f"{label}_weekday": weekday(day)}
    sentences = file.says | (variant.says if variant else {})
    spoken = {
        label: _fill(text, names, f"says.{label}", variant) for label, text in sentences.items()
    }
    return names | spoken


def _notes(
    file: CaseFile,
    variant: VariantPart | None,
    days: Mapping[str, date],
    names: Mapping[str, str],
) -> tuple[Note, ...]:
    own = variant.notes if variant else {}
    notes = []
    for part in file.notes:
        here = {**names, "day": days[part.name].isoformat()}
        text = _fill(own.get(part.name, part.text), here, f"notes.{part.name}", variant)
        notes.append(Note(part.name, days[part.name], text + "\n"))
    return tuple(notes)


def _fill(text: str, names: Mapping[str, str], field: str, variant: VariantPart | None) -> str:
    try:
        return fill(text, names)
    except ValueError as error:
        at = f"variants.{variant.name}." if variant else ""
        raise Flaw(f"{at}{field}", str(error)) from error
