"""What basic-memory has written: its database looked at from outside, and copies of all of it.

Nothing here writes into the database; the server keeps it, and this only reads beside it. Tables
are looked at by the columns that every supported version has.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from basic_memory_driver.errors import DriverError

FILE = "memory.db"
VAULT = "vault"
PROJECT = "bench"
BUSY_S = 30.0

_WORDS = """
WITH ours AS (
    SELECT entity.id FROM entity JOIN project ON project.id = entity.project_id
    WHERE project.name = ?)
SELECT (SELECT count(*) FROM ours),
       (SELECT count(DISTINCT entity_id) FROM search_index
        WHERE type = 'entity' AND entity_id IN ours)
"""
# A chunk without its vector is found by nobody. The rowids are a plain table beside the virtual
# one, which cannot be opened without the extension.
_VECTORS = """
WITH ours AS (
    SELECT entity.id FROM entity JOIN project ON project.id = entity.project_id
    WHERE project.name = ?)
SELECT (SELECT count(DISTINCT entity_id) FROM search_vector_chunks WHERE entity_id IN ours),
       (SELECT count(*) FROM search_vector_chunks WHERE entity_id IN ours
        AND id NOT IN (SELECT rowid FROM search_vector_embeddings_rowids))
"""
_UNWRITTEN = "SELECT count(*) FROM note_content WHERE file_write_status <> 'synced'"
_TAKEN = """
SELECT file_path, entity.created_at FROM entity JOIN project ON project.id = entity.project_id
WHERE project.name = ?
"""


@dataclass(frozen=True)
class State:
    """How far basic-memory is with what it was given."""

    pages: int
    """Pages it knows of."""
    findable: int
    """Those of them that full text finds."""
    near: int
    """Those that have a part with a vector; as many as there are where none is needed."""
    bare: int
    """Parts that still want their vector."""
    unwritten: int
    """Notes whose file is still to be written."""

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be done."""
        return self.findable == self.near == self.pages and not self.bare and not self.unwritten


class Store:
    """The database and the pages of one home."""

    def __init__(self, home: Path) -> None:
        self._file = home / ".basic-memory" / FILE
        self.vault = home / VAULT

    def state(self, vectors: bool) -> State:
        """Where things stand.

        Args:
            vectors: whether pages need vectors to be found.

        Raises:
            DriverError: there is no such database.
        """
        with self._reading() as db:
            pages, findable = db.execute(_WORDS, (PROJECT,)).fetchone()
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            near, bare = (0 if vectors else pages), 0
            if vectors and "search_vector_embeddings_rowids" in tables:
                near, bare = db.execute(_VECTORS, (PROJECT,)).fetchone()
            unwritten = 0
            if "note_content" in tables:
                (unwritten,) = db.execute(_UNWRITTEN).fetchone()
        return State(pages, findable, near, bare, unwritten)

    def written(self) -> tuple[int, int]:
        """A mark that changes whenever something is written into the database."""
        log = self._file.with_name(f"{FILE}-wal")
        try:
            about = log.stat()
        except FileNotFoundError:
            return (0, 0)
        return (about.st_size, about.st_mtime_ns)

    def taken(self) -> dict[str, datetime]:
        """When each page was taken in, by its file: the database's own word."""
        with self._reading() as db:
            rows = db.execute(_TAKEN, (PROJECT,)).fetchall()
        return {str(file): _time(said) for file, said in rows}

    def snapshot(self, exchange: Path) -> Path:
        """Write database and pages into a fresh numbered folder of ``exchange`` and return it.

        The folder gets its name last, so that one that is there is whole.

        Raises:
            OSError: the folder cannot be written.
            sqlite3.Error: the copy failed, for instance for want of room.
        """
        taken = (int(folder.name) for folder in exchange.iterdir() if folder.name.isdecimal())
        number = 1 + max(taken, default=0)
        partial = exchange / f".partial-{number}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o755)
        with self._reading() as db, closing(sqlite3.connect(partial / FILE)) as copy:
            # Page by page, what is only in the log included: what comes out needs no log.
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        shutil.copytree(self.vault, partial / VAULT)
        return partial.rename(exchange / str(number))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True, timeout=BUSY_S)
        except sqlite3.Error as error:
            raise DriverError(f"basic-memory has no database: {error}") from error
        with closing(db):
            yield db


def _time(said: str) -> datetime:
    """A time as the database keeps it: in UTC, with or without saying so."""
    time = datetime.fromisoformat(said)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
