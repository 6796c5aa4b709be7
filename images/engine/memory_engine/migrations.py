"""The store's schema, one step at a time. Steps are only ever added at the end, never edited.

A step runs in one transaction together with the version number it leads to, so that a store is
always at one version or the next and never between two.
"""

import sqlite3

from memory_engine.errors import StoreTooNew, StoreUnusable

APPLICATION_ID = 0x6D656D31
"""Marks the file as one of ours, so that another program's database is not migrated by mistake."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE notes (
            name TEXT PRIMARY KEY,
            seq INTEGER NOT NULL UNIQUE,
            sha256 TEXT NOT NULL,
            text TEXT NOT NULL,
            day TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('pending', 'done')),
            received_at TEXT NOT NULL,
            finished_at TEXT
        ) STRICT
        """,
        """
        CREATE TABLE claims (
            id TEXT PRIMARY KEY,
            seq INTEGER NOT NULL UNIQUE,
            text TEXT NOT NULL,
            subject TEXT NOT NULL,
            day TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('ACTIVE', 'SUPERSEDED')),
            reason TEXT CHECK (reason IN ('SUPERSEDED_BY_UPDATE', 'SUPERSEDED_BY_RESTATEMENT')),
            restatement INTEGER NOT NULL CHECK (restatement IN (0, 1)),
            restates TEXT REFERENCES claims (id),
            anchor TEXT REFERENCES claims (id),
            retired_by TEXT REFERENCES claims (id) DEFERRABLE INITIALLY DEFERRED,
            valid_until TEXT,
            asserted_at TEXT NOT NULL,
            retired_at TEXT,
            examined_at TEXT,
            CHECK ((status = 'ACTIVE') = (reason IS NULL)),
            CHECK ((status = 'ACTIVE') = (retired_by IS NULL)),
            CHECK ((status = 'ACTIVE') = (retired_at IS NULL)),
            CHECK ((restatement = 1) = (restates IS NOT NULL)),
            CHECK ((restatement = 1) = (anchor IS NOT NULL))
        ) STRICT
        """,
        "CREATE INDEX claims_by_status ON claims (status, seq)",
        """
        CREATE INDEX claims_unexamined ON claims (retired_by)
            WHERE reason = 'SUPERSEDED_BY_UPDATE' AND examined_at IS NULL
        """,
        """
        CREATE TABLE claim_sources (
            claim_id TEXT NOT NULL REFERENCES claims (id),
            note TEXT NOT NULL REFERENCES notes (name),
            PRIMARY KEY (claim_id, note)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE events (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            occurred_at TEXT NOT NULL,
            payload TEXT NOT NULL
        ) STRICT
        """,
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the store to the newest schema; returns the version it was at before.

    The connection must be in autocommit mode (``isolation_level=None``).

    Raises:
        StoreTooNew: the store's version is one this engine does not know; nothing was changed.
        StoreUnusable: the file is another program's database; nothing was changed.
    """
    found = _version(connection)
    if found > SCHEMA_VERSION:
        raise StoreTooNew(
            f"the store has schema {found}, this engine knows up to {SCHEMA_VERSION}: "
            "use a newer engine, or another store folder"
        )
    if found == 0:
        _refuse_foreign(connection)
    for number, statements in enumerate(MIGRATIONS[found:], start=found + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated while this one waited for the lock.
            if _version(connection) < number:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    return found


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    tables = int(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    if tables:
        raise StoreUnusable("the file holds tables but no schema version: it is not this engine's")
