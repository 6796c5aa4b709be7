import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from baselines_driver import store
from baselines_driver.pages import Page

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import Store
from runner.systems.baselines.reader import FILE, SCHEMA_VERSION, read

Spoil = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A snapshot as the driver's own code writes it."""
    made = store.Store(tmp_path / "live")
    assert made.put([Page("a.md", "one"), Page("b.md", "二")]) == 2
    (tmp_path / "exchange").mkdir()
    path = made.snapshot(tmp_path / "exchange")
    made.close()
    return path


@pytest.fixture
def spoil(folder: Path) -> Spoil:
    """Runs SQL over the snapshot, as a system that lies would."""

    def run(script: str) -> Path:
        db = sqlite3.connect(folder / FILE)
        db.executescript(script)
        db.close()
        return folder

    return run


def test_the_two_sides_agree_and_there_is_no_claim(folder: Path) -> None:
    assert (FILE, SCHEMA_VERSION) == (store.FILE, store.SCHEMA_VERSION)
    before = (folder / FILE).read_bytes()
    assert read(folder) == Store()
    assert (folder / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("CREATE TABLE more (a TEXT)", "table more is not known"),
        ("ALTER TABLE pages ADD COLUMN mood TEXT", "column pages.mood is not known"),
        ("UPDATE pages SET text = 'other' WHERE name = 'a.md'", "page a.md is not the text"),
        ("UPDATE pages SET text = x'ff' WHERE name = 'a.md'", "a page: text is no text"),
        ("UPDATE pages SET name = CAST(x'ff' AS TEXT) WHERE name = 'a.md'", "a page: name is no"),
    ],
)
def test_what_has_no_place_is_named(spoil: Spoil, script: str, words: str) -> None:
    found = read(spoil(script))
    assert any(words in line for line in found.unmapped), found.unmapped
    assert not found.claims


def test_many_complaints_end_in_a_number(spoil: Spoil) -> None:
    rows = ", ".join(f"('{number}', 'x', 'y')" for number in range(1500))
    found = read(spoil(f"INSERT INTO pages VALUES {rows}"))
    assert len(found.unmapped) == 1001
    assert found.unmapped[-1] == "and 500 more of the kind"


@pytest.mark.parametrize(
    "script",
    [
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON pages BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
    ],
)
def test_what_could_act_is_hostile(spoil: Spoil, script: str) -> None:
    with pytest.raises(HostileSnapshot):
        read(spoil(script))


@pytest.mark.parametrize(
    "script",
    [
        "PRAGMA user_version = 2",
        "DROP TABLE pages",
        "ALTER TABLE pages RENAME COLUMN sha256 TO digest",
    ],
)
def test_another_store_is_unreadable(spoil: Spoil, script: str) -> None:
    with pytest.raises(UnreadableStore):
        read(spoil(script))


def test_no_file_and_no_database_are_unreadable(tmp_path: Path) -> None:
    with pytest.raises((UnreadableStore, HostileSnapshot)):
        read(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database" * 200)
    with pytest.raises(UnreadableStore):
        read(tmp_path)
