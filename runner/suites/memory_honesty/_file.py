"""Words that files of this suite use, and the shape of ``fixtures/honesty/sets.toml``."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

Kind = Literal["correction", "current", "refuse"]
Lang = Literal["en", "zh"]
Marker = Literal["front-matter", "prose", "link"]

KINDS: tuple[Kind, ...] = ("correction", "current", "refuse")
LANGS: tuple[Lang, ...] = ("en", "zh")
MARKERS: tuple[Marker, ...] = ("front-matter", "prose", "link")

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class SetPart(BaseModel):
    """One registered set; what else its table says of it is for people."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)

    name: Text
    vault: Id
    held_out: StrictBool
    floors_from: Text
    """The development set whose floors it is asked with; a development set names itself."""
    registered: date
    """The day its questions were fixed, before any system was asked one."""
    sha256: Sha256
    """Of the questions' lines as they are, not compressed."""
    counts: dict[Kind, Annotated[int, Field(ge=0)]]


class SetsFile(BaseModel):
    """Every registered set."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal[1] = Field(alias="schema")
    sets: Annotated[tuple[SetPart, ...], Field(alias="set", min_length=1)]
