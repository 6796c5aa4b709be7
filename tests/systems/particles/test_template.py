"""The empty store that images of linkedparticles hold: what is left to chance in it is nothing."""

import secrets
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from particles_driver.template import settle

SCHEMA = """
CREATE TABLE trust (id VARCHAR PRIMARY KEY, pattern TEXT, score FLOAT);
CREATE TABLE changes (seq INTEGER PRIMARY KEY, token BLOB NOT NULL);
CREATE TABLE named (id VARCHAR PRIMARY KEY, name TEXT);
CREATE TABLE seen (name TEXT);
"""
INDEXES = [f"CREATE INDEX ix_{column} ON trust ({column})" for column in ("pattern", "score")]


def store(path: Path, *, backwards: bool) -> list[tuple[object, ...]]:
    """One that was filled, settled and read again."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SCHEMA)
        for index in sorted(INDEXES, reverse=backwards):
            made.execute(index)
        for at in range(200):
            made.execute("INSERT INTO trust VALUES (?, ?, 0.5)", (str(uuid.uuid4()), f"site-{at}"))
        made.execute("INSERT INTO changes (token) VALUES (?)", (secrets.token_bytes(8),))
        made.execute("INSERT INTO named VALUES ('general', ?)", (str(uuid.UUID(int=7)),))
        made.commit()
        settle(made)
        return [
            *made.execute("SELECT pattern, score FROM trust ORDER BY rowid"),
            *made.execute("SELECT length(token) FROM changes"),
            *made.execute("SELECT * FROM named"),
            *made.execute("SELECT count(DISTINCT id) FROM trust"),
        ]


def test_two_that_differ_by_chance_are_one(tmp_path: Path) -> None:
    one = store(tmp_path / "one.db", backwards=False)
    other = store(tmp_path / "other.db", backwards=True)
    assert one == other
    assert one[:2] == [("site-0", 0.5), ("site-1", 0.5)]
    assert one[200:] == [(8,), ("general", str(uuid.UUID(int=7))), (200,)]
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "other.db").read_bytes()
    with closing(sqlite3.connect(tmp_path / "one.db")) as made:
        ids = [row[0] for row in made.execute("SELECT id FROM trust")]
        assert all(uuid.UUID(one).version == 4 for one in ids)
        found = made.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'ix%'").fetchall()
        assert sorted(found) == [("ix_pattern",), ("ix_score",)]
