"""The store: one SQLite file with the pages, what replaced what, and what was learned.

The ranking is worked out from it when it is opened, which takes a few hundredths of a second for
a hundred pages; nothing of it is stored, so nothing can disagree with the pages. The log of what
was asked lies beside, in a file of its own: it is private, and no snapshot takes it along.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from page_router.errors import StoreUnusable
from page_router.rank import Trigger
from page_router.replaced import Replaced

FILE = "router.db"
LOG = "asked.jsonl"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE pages (
    name TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, sha256 TEXT NOT NULL, text TEXT NOT NULL
);
CREATE TABLE replaced (
    page TEXT PRIMARY KEY REFERENCES pages (name), newer TEXT, said_in TEXT NOT NULL,
    words TEXT NOT NULL
);
CREATE TABLE triggers (
    page TEXT NOT NULL, question TEXT NOT NULL, quote TEXT NOT NULL, learned_at TEXT NOT NULL,
    PRIMARY KEY (page, question)
);
"""


class Store:
    """An open store. Close it when done; a kill instead of a close loses nothing committed."""

    def __init__(self, folder: Path) -> None:
        """Open the store in ``folder``, creating it where needed.

        Raises:
            StoreUnusable: it is not a database, or not one of this version.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / FILE
        self._log = folder / LOG
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10.0)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._db.executescript(
                    f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
                )
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise StoreUnusable(f"cannot open {self.path}: {error}") from error
        if version not in (0, SCHEMA_VERSION):
            self._db.close()
            raise StoreUnusable(f"{self.path} has schema {version}; known: {SCHEMA_VERSION}")

    def close(self) -> None:
        """Close it."""
        self._db.close()

    def fill(self, pages: Sequence[tuple[str, str]], replaced: Mapping[str, Replaced]) -> None:
        """Put these pages in the place of all that were there; what was learned stays.

        Args:
            pages: names and texts.
            replaced: the replaced ones among them.
        """
        with _transaction(self._db):
            for table in ("replaced", "pages"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608
            self._db.executemany(
                "INSERT INTO pages (seq, name, sha256, text) VALUES (?, ?, ?, ?)",
                ((seq, name, digest(text), text) for seq, (name, text) in enumerate(pages, 1)),
            )
            self._db.executemany(
                "INSERT INTO replaced (page, newer, said_in, words) VALUES (?, ?, ?, ?)",
                ((old, by.by, by.said_in, by.words) for old, by in sorted(replaced.items())),
            )

    def pages(self) -> list[tuple[str, str]]:
        """Names and texts, as they were put in.

        Raises:
            StoreUnusable: a text is not the one that was put in.
        """
        rows = self._db.execute("SELECT name, text, sha256 FROM pages ORDER BY seq").fetchall()
        for name, text, sha256 in rows:
            if digest(text) != sha256:
                raise StoreUnusable(f"the page {name} is not what was indexed")
        return [(name, text) for name, text, _ in rows]

    def triggers(self) -> list[Trigger]:
        """What was learned, in the order it was."""
        rows = self._db.execute(
            "SELECT page, question, quote FROM triggers ORDER BY rowid"
        ).fetchall()
        return [Trigger(*row) for row in rows]

    def learn(self, triggers: Iterable[Trigger], at: str) -> None:
        """Write what was learned in one go; learned again, it stays as it is."""
        with _transaction(self._db):
            self._db.executemany(
                "INSERT INTO triggers (page, question, quote, learned_at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                ((t.page, t.question, t.quote, at) for t in triggers),
            )

    def log(self, question: str, *, answered: bool, score: float) -> None:
        """Keep a question that was asked, for the learner."""
        line = json.dumps({"question": question, "answered": answered, "score": score})
        with self._log.open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def asked(self) -> list[str]:
        """The questions of the log, in the order they were asked."""
        if not self._log.exists():
            return []
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["question"] for line in lines]

    def forget(self) -> None:
        """Empty the log."""
        self._log.unlink(missing_ok=True)

    def backup(self, target: Path) -> None:
        """Write a consistent copy, as one file."""
        with closing(sqlite3.connect(target)) as copy:
            self._db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class _transaction:  # noqa: N801
    """All of the block's writes, or none."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")
