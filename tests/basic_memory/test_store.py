import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from basic_memory_driver.errors import DriverError
from basic_memory_driver.store import State, Store

SCHEMA = """
CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE entity (id INTEGER PRIMARY KEY, file_path TEXT, created_at TEXT, project_id INTEGER);
CREATE VIRTUAL TABLE search_index USING fts5(content, entity_id UNINDEXED, type UNINDEXED);
INSERT INTO project VALUES (1, 'main'), (2, 'bench');
INSERT INTO entity VALUES (1, 'a.md', '2026-09-01 12:00:00.5', 2), (2, 'b.md',
    '2026-09-02T12:00:00+00:00', 2), (3, 'c.md', '2026-09-02 12:00:00', 1);
INSERT INTO search_index VALUES ('a', 1, 'entity'), ('b', 2, 'entity'), ('b', 2, 'observation'),
    ('c', 3, 'entity');
"""
VECTORS = """
CREATE TABLE search_vector_chunks (id INTEGER PRIMARY KEY, entity_id INTEGER);
CREATE TABLE search_vector_embeddings_rowids (rowid INTEGER PRIMARY KEY, chunk_id INTEGER);
INSERT INTO search_vector_chunks VALUES (1, 1), (2, 1), (3, 2), (4, 3);
INSERT INTO search_vector_embeddings_rowids VALUES (1, 0), (2, 0), (3, 0);
"""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / ".basic-memory").mkdir()
    (tmp_path / "vault").mkdir()
    with closing(sqlite3.connect(tmp_path / ".basic-memory" / "memory.db")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SCHEMA)
        yield db


def test_only_its_own_project_counts(db: sqlite3.Connection, tmp_path: Path) -> None:
    state = Store(tmp_path).state(vectors=False)
    assert state == State(pages=2, findable=2, near=2, bare=0, unwritten=0)
    assert state.settled


def test_vectors_are_asked_for_where_they_are_needed(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    assert not store.state(vectors=True).settled
    db.executescript(VECTORS)
    assert store.state(vectors=True) == State(2, 2, 2, 0, 0)
    db.execute("DELETE FROM search_vector_embeddings_rowids WHERE rowid = 2")
    db.commit()
    assert store.state(vectors=True).bare == 1
    assert not store.state(vectors=True).settled
    db.execute("DELETE FROM search_vector_chunks WHERE entity_id = 2")
    db.commit()
    assert store.state(vectors=True).near == 1


def test_a_file_still_to_be_written_is_waited_for(db: sqlite3.Connection, tmp_path: Path) -> None:
    db.executescript("CREATE TABLE note_content (file_write_status TEXT);")
    db.executescript("INSERT INTO note_content VALUES ('synced'), ('pending');")
    assert Store(tmp_path).state(vectors=False).unwritten == 1
    assert not Store(tmp_path).state(vectors=False).settled


def test_times_are_read_in_either_form(db: sqlite3.Connection, tmp_path: Path) -> None:
    taken = Store(tmp_path).taken()
    assert {name: time.isoformat() for name, time in taken.items()} == {
        "a.md": "2026-09-01T12:00:00.500000+00:00",
        "b.md": "2026-09-02T12:00:00+00:00",
    }


def test_a_copy_has_what_is_only_in_the_log(db: sqlite3.Connection, tmp_path: Path) -> None:
    (tmp_path / "vault" / "a").mkdir()
    (tmp_path / "vault" / "a" / "b.md").write_text("text")
    exchange = tmp_path / "exchange"
    (exchange / "4").mkdir(parents=True)
    folder = Store(tmp_path).snapshot(exchange)
    assert folder == exchange / "5"
    assert (folder / "vault" / "a" / "b.md").read_text() == "text"
    assert (tmp_path / ".basic-memory" / "memory.db-wal").stat().st_size > 0
    with closing(sqlite3.connect(f"file:{folder / 'memory.db'}?immutable=1", uri=True)) as copy:
        assert copy.execute("SELECT count(*) FROM entity").fetchone() == (3,)


def test_no_database_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="no database"):
        Store(tmp_path).state(vectors=False)
