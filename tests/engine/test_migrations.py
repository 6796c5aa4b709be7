import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from memory_engine import migrations
from memory_engine.errors import StoreTooNew, StoreUnusable
from memory_engine.migrations import SCHEMA_VERSION, migrate
from memory_engine.store import FILE, Store


def connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, isolation_level=None)


def schema(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()


def test_a_fresh_store_is_brought_to_the_newest_schema_once(tmp_path: Path) -> None:
    db = connect(tmp_path / "a.db")
    assert migrate(db) == 0
    made = schema(db)
    assert migrate(db) == SCHEMA_VERSION
    assert schema(db) == made
    assert db.execute("PRAGMA application_id").fetchone() == (migrations.APPLICATION_ID,)


def test_every_step_leads_to_the_same_store_from_wherever_it_begins(tmp_path: Path) -> None:
    whole = connect(tmp_path / "whole.db")
    migrate(whole)
    for begun in range(SCHEMA_VERSION + 1):
        part = connect(tmp_path / f"{begun}.db")
        for statements in migrations.MIGRATIONS[:begun]:
            for statement in statements:
                part.execute(statement)
        part.execute(f"PRAGMA user_version = {begun}")
        assert migrate(part) == begun
        assert schema(part) == schema(whole)


def test_a_step_that_fails_leaves_the_store_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = connect(tmp_path / "a.db")
    migrate(db)
    made = schema(db)
    later = (*migrations.MIGRATIONS, ("CREATE TABLE more (a) STRICT",))
    monkeypatch.setattr(migrations, "MIGRATIONS", later)
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", len(later))
    with pytest.raises(sqlite3.OperationalError):
        migrate(db)
    assert schema(db) == made
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)

    mended = (*migrations.MIGRATIONS[:-1], ("CREATE TABLE more (a TEXT) STRICT",))
    monkeypatch.setattr(migrations, "MIGRATIONS", mended)
    assert migrate(db) == SCHEMA_VERSION
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)


def test_a_later_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    db = connect(tmp_path / FILE)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreTooNew, match=f"schema {SCHEMA_VERSION + 1}.*up to {SCHEMA_VERSION}"):
        Store(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_strangers_database_and_a_file_that_is_none_are_refused(tmp_path: Path) -> None:
    db = connect(tmp_path / FILE)
    db.execute("CREATE TABLE theirs (a TEXT)")
    db.close()
    with pytest.raises(StoreUnusable, match="not this engine's"):
        Store(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreUnusable, match="cannot open"):
        Store(tmp_path)


def test_two_processes_that_open_a_fresh_store_at_once_both_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from memory_engine.store import Store;"
        "Store(Path(sys.argv[1])).close()"
    )
    racing = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in racing:
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
    Store(tmp_path).close()
