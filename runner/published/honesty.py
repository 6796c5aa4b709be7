"""What was published of other memories on question sets of the same kinds and counts.

The vaults and the questions are others than this bench's, so only kinds and counts compare.
"""

import datetime
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from runner.errors import UsageError
from runner.model import Noun
from runner.paths import fixtures
from runner.published.data import Count
from runner.published.load import said

FILE = "memory-honesty.toml"
OTHERS = "The vaults and the questions are others', so only kinds and counts compare."


class Percents(Noun):
    """A range of rates as the page prints it."""

    low: int = Field(ge=0, le=100)
    high: int = Field(ge=0, le=100)

    def __str__(self) -> str:
        return f"[{self.low}–{self.high}]"


class PublishedAnswers(Noun):
    """What one system was published to have answered to one set."""

    set: str
    system: str
    version: str = ""
    how: str = ""
    """What was done to its defaults; empty for nothing."""
    table: str
    """Of the page; the page may print a system in two of them."""
    date: datetime.date | None = None
    wrong: Count | None = None
    """Wrong citations, of the questions answered."""
    percent: int | None = Field(default=None, ge=0, le=100)
    """The same as a rate."""
    interval: Percents | None = None
    """95%, of that rate, kinds not kept apart."""
    refused: Count | None = None
    """Of the questions that no page answers."""
    corrections: Count | None = None
    """First citations that are right, of the questions about a replaced page."""
    current: Count | None = None
    """The same, of those about any other page."""
    right: Count | None = None
    """The same, of both."""
    note: str = ""

    @model_validator(mode="after")
    def _one_rate(self) -> "PublishedAnswers":
        if self.wrong is None and self.percent is None:
            raise ValueError("neither wrong nor percent")
        if self.wrong is not None and self.percent is not None:
            # Within a point: the page rounds 1 of 22 down.
            apart = abs(100 * self.wrong.hits - self.percent * self.wrong.of)
            if apart >= max(1, self.wrong.of):
                raise ValueError(f"percent: {self.percent} is not {self.wrong}")
        return self

    @property
    def label(self) -> str:
        """Whose answers, and under what."""
        named = f"{self.system} {self.version}".strip()
        return f"{named} + {self.how}" if self.how else named


class PublishedQuestions(Noun):
    """What was published of one set."""

    name: str
    pages: int
    """Of its vault."""
    counts: dict[str, int]
    """Questions of each kind."""


class PublishedMemory(Noun):
    """How one system was run for it."""

    name: str
    ours: tuple[str, ...]
    """Systems of this bench that are the same thing, in another version or otherwise set up."""
    embedder: str = ""
    """What it embedded with; empty where nothing is told, or it has none."""
    observer: str = ""
    """The model that took its notes; empty where it takes none."""
    run: str
    """How it was given pages and questions."""


class PublishedHonesty(Noun):
    """Everything that was published of the honesty suite, table by table."""

    source: str
    read: datetime.date
    sets: tuple[PublishedQuestions, ...]
    results: tuple[PublishedAnswers, ...]
    systems: tuple[PublishedMemory, ...] = ()

    def like(self, ours: str) -> PublishedMemory | None:
        """The system that one of this bench's is to be laid beside; none where there is none."""
        return next((one for one in self.systems if ours in one.ours), None)

    def of(self, name: str) -> tuple[PublishedAnswers, ...]:
        """The results on a set, in the order of the page; none where nothing was published."""
        return tuple(one for one in self.results if one.set == name)


def load_honesty(*, folder: Path | None = None) -> PublishedHonesty:
    """Everything that was published of the honesty suite.

    Args:
        folder: where the file lies; the project's own when left out.

    Raises:
        UsageError: the file is not there, or says something that is no published result.
    """
    path = (fixtures() / "published" if folder is None else folder) / FILE
    try:
        file = _File.model_validate(tomllib.loads(path.read_text("utf-8")))
        _fits(file)
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"The published results {path} cannot be used: {said(problem)}"
        ) from problem
    return PublishedHonesty(
        source=file.source,
        read=file.read,
        sets=file.set,
        results=file.result,
        systems=file.system,
    )


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal[1] = Field(alias="schema")
    suite: Literal["memory-honesty"]
    source: str
    read: datetime.date
    set: tuple[PublishedQuestions, ...]
    system: tuple[PublishedMemory, ...] = ()
    result: tuple[PublishedAnswers, ...] = Field(min_length=1)


def _fits(file: _File) -> None:
    """See that every figure is of as many questions as its set has."""
    counts = {one.name: one.counts for one in file.set}
    for row in file.result:
        if row.set not in counts:
            raise ValueError(f"{row.set}: {row.label}: no such set")
        asked = counts[row.set]
        of = {
            "refused": asked["refuse"],
            "corrections": asked["correction"],
            "current": asked["current"],
            "right": asked["correction"] + asked["current"],
        }
        for name, many in of.items():
            found: Count | None = getattr(row, name)
            if found is not None and found.of != many:
                raise ValueError(f"{row.set}: {row.label}: {name}: {found}, not of {many}")
        if row.wrong is not None and row.wrong.of > sum(asked.values()):
            raise ValueError(f"{row.set}: {row.label}: wrong: {row.wrong}")
