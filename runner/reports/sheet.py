"""A table as data: what a terminal, a page, a spreadsheet and a program are all shown from."""

import enum
from dataclasses import dataclass

from pydantic import JsonValue


class Tone(enum.StrEnum):
    """How a cell is meant. Nothing is told by a tone alone: the words say it too."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    """Ended before it could be told."""
    INVALID = "invalid"
    ERRORED = "errored"
    FAINT = "faint"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    The text may be a stranger's: whoever shows it makes it safe for where it is shown.
    """

    text: str
    tone: Tone = Tone.PLAIN
    value: JsonValue = None
    """What a program is given in place of the text, such as a number that the text rounds; none
    for the text itself."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    name: str
    numeric: bool = False
    """Set to the right, and never folded."""
    key: str = ""
    """Its name for a program; made from ``name`` where it is empty."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Raises:
        ValueError: a row has not as many cells as there are columns.
    """

    name: str
    """For a program and for links: small letters, digits and dashes."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """What a reader has to know of it, a sentence each."""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.name}, row {number}: {len(row)} cells for {len(self.columns)} columns"
                )
