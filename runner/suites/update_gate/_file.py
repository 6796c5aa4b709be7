"""The shapes of ``fixtures/pairs/NAME.toml`` and of the published pair files in JSON."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Expected = Literal["changes", "not-changes", "report"]
Prose = str | tuple[str, ...]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ClaimedPart(_Part):
    """One side of a pair."""

    text: Text
    day: date | None = None


class PairPart(_Part):
    """One row."""

    id: Slug
    class_: Slug = Field(alias="class")
    expected: Expected
    older: ClaimedPart
    newer: ClaimedPart
    contradicts: StrictBool
    """Whether the two cannot both be true of one moment."""
    why: Text


class SetFile(_Part):
    """One set of pairs."""

    schema_version: Literal[1] = Field(alias="schema")
    name: Slug
    title: Text
    held_out: StrictBool
    registered: date
    """The day its labels were fixed, before any model was asked a row."""
    about: Text
    pairs: Annotated[tuple[PairPart, ...], Field(alias="pair", min_length=1)]


class _Foreign(BaseModel):
    """What others publish may say more than is read here."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


class UpstreamRow(_Foreign):
    """One row of a published file."""

    id: Text
    class_: Text = Field(alias="class")
    older: Text
    newer: Text
    expected: Literal["changes", "not_changes", "report"]


class UpstreamFile(_Foreign):
    """One published set."""

    about: Prose = ""
    labelled_by: Prose = ""
    rows: Annotated[tuple[UpstreamRow, ...], Field(min_length=1)]
