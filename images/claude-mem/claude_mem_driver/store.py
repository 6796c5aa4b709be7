"""What the worker has stored, read off its database, and whether its vector search has it all."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from claude_mem_driver.errors import Degraded

DATABASE = "claude-mem.db"
VECTORS = "chroma/chroma.sqlite3"


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation as it was stored or found."""

    id: int
    title: str
    narrative: str
    facts: tuple[str, ...]
    files: tuple[str, ...]
    """What it says was read, as paths."""
    day: date
    pieces: int
    """How many pieces of it the vector search keeps: its narrative and each fact."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Observation":
        """From a row of the database, or from what a search brought back.

        Raises:
            Degraded: it is not of that form.
        """
        try:
            facts, files = _texts(row["facts"]), _texts(row["files_read"])
            return cls(
                id=int(row["id"]),
                title=row["title"] or "",
                narrative=row["narrative"] or "",
                facts=facts,
                files=files,
                day=datetime.fromtimestamp(row["created_at_epoch"] / 1000, UTC).date(),
                pieces=bool(row["narrative"]) + bool(row["text"]) + len(facts),
            )
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Degraded(f"an observation of another form: {error!r}") from error

    def names(self, folder: Path) -> tuple[str, ...]:
        """The pages it was made from, each once, in its own order; other files by their path."""
        return tuple(dict.fromkeys(file.removeprefix(f"{folder}/") for file in self.files))

    @property
    def text(self) -> str:
        """All it says."""
        parts = (self.title, self.narrative, *(f"- {fact}" for fact in self.facts))
        return "\n".join(part for part in parts if part)


class Store:
    """The database of a worker that may be running."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def observations(self, ids: Iterable[int] | None = None) -> list[Observation]:
        """Those of these ids, or all of them, in the order they were made."""
        wanted = None if ids is None else set(ids)
        with reading(self._data / DATABASE) as db:
            rows = [Observation.of(row) for row in db.execute("SELECT * FROM observations")]
        return [row for row in rows if wanted is None or row.id in wanted]

    def count(self) -> tuple[int, int]:
        """How many observations and summaries there are."""
        with reading(self._data / DATABASE) as db:
            (observations,) = db.execute("SELECT count(*) FROM observations").fetchone()
            (summaries,) = db.execute("SELECT count(*) FROM session_summaries").fetchone()
        return observations, summaries

    def session(self, id_: str) -> int:
        """The number the worker gave a session.

        Raises:
            Degraded: it knows none of that id.
        """
        asked = "SELECT id FROM sdk_sessions WHERE content_session_id = ?"
        with reading(self._data / DATABASE) as db:
            found = db.execute(asked, (id_,)).fetchone()
        if found is None:
            raise Degraded(f"the worker knows of no session {id_}: the plugin did not watch it")
        return int(found[0])

    def unfindable(self) -> list[int]:
        """Observations that the vector search does not have, or not all of."""
        missing = Counter({one.id: one.pieces for one in self.observations()})
        missing.subtract(self._vectors())
        return [id_ for id_, pieces in missing.items() if pieces > 0]

    def _vectors(self) -> Counter[int]:
        if not (self._data / VECTORS).exists():
            return Counter()
        there = "SELECT 1 FROM sqlite_schema WHERE name = 'embedding_metadata'"
        asked = (
            "SELECT of.int_value FROM embedding_metadata AS kind"
            " JOIN embedding_metadata AS of ON of.id = kind.id AND of.key = 'sqlite_id'"
            " WHERE kind.key = 'doc_type' AND kind.string_value = 'observation'"
        )
        with reading(self._data / VECTORS) as db:
            # The vector store makes its tables when it is first written to.
            made = db.execute(there).fetchone() is not None
            return Counter(row[0] for row in db.execute(asked)) if made else Counter()


@contextmanager
def reading(file: Path) -> Iterator[sqlite3.Connection]:
    """A database for as long as the block lasts, read and never written."""
    opened = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=10)
    opened.row_factory = sqlite3.Row
    with closing(opened):
        yield opened


def _texts(written: Any) -> tuple[str, ...]:
    found = json.loads(written) if written else []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"no list of texts: {written!r:.100}")
    return tuple(found)
