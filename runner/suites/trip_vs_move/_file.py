"""The shape of ``fixtures/cases/NAME.toml``."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from runner.suites.trip_vs_move.weekdays import Weekday

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
NoteName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*\.md$")]
Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
VariantName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class NotePart(_Part):
    """One note, in the order they are deposited."""

    name: NoteName
    day: date
    text: Text
    """Markdown, with ``{placeholder}``s."""


class RolesPart(_Part):
    """Which note says what."""

    home_note: NoteName
    """States the residence."""
    trip_note: NoteName
    """States the week away."""
    move_note: NoteName
    """States the move."""
    trip_alone: Annotated[tuple[NoteName, ...], Field(min_length=1)]
    """What a trip-alone run deposits."""


class WordsPart(_Part):
    """What the checks look for, whole and in any case."""

    residence: Words
    flight: Words
    trip: Words
    request: Words
    """Words of the evening's request, which is observed and never scored."""


class AboutPart(_Part):
    """What a good answer would speak of; for whoever reads an answer, and for nothing else."""

    before: Text
    after: Text
    """Once the move is told."""


class Question(_Part):
    """One question that is asked of a system after every step, to read out what comes first."""

    id: Label
    q: Text
    """With ``{placeholder}``s, as every text here."""
    about: AboutPart


class DayPart(_Part):
    """A day that a note speaks of."""

    day: date
    weekday: Weekday


class VariantPart(_Part):
    """Other people, places and days under the same checks. What is not named stays."""

    name: VariantName
    about: Text
    names: dict[Label, Text] = Field(default_factory=dict)
    says: dict[Label, Text] = Field(default_factory=dict)
    days: dict[NoteName, date] = Field(default_factory=dict)
    dates: dict[Label, DayPart] = Field(default_factory=dict)
    notes: dict[NoteName, Text] = Field(default_factory=dict)
    """Whole texts of notes worded apart from the published ones."""


class CaseFile(_Part):
    """A case and its variants."""

    schema_version: Literal[1] = Field(alias="schema")
    title: Text
    source: Text
    """Where the case comes from."""
    script: VariantName
    """Name of the scripted table that answers for it."""
    checks: Annotated[tuple[int, ...], Field(min_length=1)]
    """The versions of the checks that are defined for it, oldest first."""
    end_date_counts: bool
    """Whether a trip that ended by the move, by its own end date, is over."""
    published: date
    """The day of the published runs."""
    comparable_before: date | None = None
    """From this day on, a run on the wall clock is another test; none when it stays the same."""
    roles: RolesPart
    words: WordsPart
    names: dict[Label, Text]
    """Short names: ``home``, ``away``, ``speaker`` and whatever else the notes need."""
    says: dict[Label, Text]
    """Sentences of the notes, with ``{placeholder}``s of names and days."""
    dates: dict[Label, DayPart]
    notes: Annotated[tuple[NotePart, ...], Field(min_length=2)]
    questions: tuple[Question, ...] = ()
    """The same ones for every variant."""
    upstream: dict[Label, Text] = Field(default_factory=dict)
    """Names and sentences as the published notes have them, where those differ."""
    variants: tuple[VariantPart, ...] = ()
