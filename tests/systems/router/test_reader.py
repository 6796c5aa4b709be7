import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from page_router.pages import parse
from page_router.rank import Trigger
from page_router.replaced import replaced
from page_router.store import FILE, SCHEMA_VERSION, Store

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import OtherEvent
from runner.systems import catalog
from runner.systems.router import reader
from runner.systems.router.reader import read

Spoil = Callable[[str], Path]
PAGES = [("new.md", "# New\n"), ("old.md", "> Replaced by [New](new.md)\n"),
         ("gone.md", "---\nstatus: obsolete\n---\n")]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A snapshot that the router itself wrote."""
    store = Store(tmp_path / "store")
    store.fill(PAGES, replaced(parse(*page) for page in PAGES))
    store.learn([Trigger("new.md", "what is new?", "New it is.")], "2026-11-30T12:00:00+00:00")
    target = tmp_path / "snapshot"
    target.mkdir()
    store.backup(target / FILE)
    store.close()
    return target


@pytest.fixture
def spoil(folder: Path) -> Spoil:
    """Runs SQL over the snapshot, as a router that lies would."""

    def run(script: str) -> Path:
        with closing(sqlite3.connect(folder / FILE)) as db:
            db.executescript(script)
        return folder

    return run


def test_what_was_left_out_and_learned_is_read(folder: Path) -> None:
    assert (reader.FILE, reader.SCHEMA_VERSION) == (FILE, SCHEMA_VERSION)
    store = read(folder)
    assert store == catalog.load("router").read(folder)
    assert (store.claims, store.unmapped) == ((), ())
    events = [event for event in store.events if isinstance(event, OtherEvent)]
    assert [(event.type, event.payload["page"]) for event in events] == [
        ("PAGE_REPLACED", "gone.md"),
        ("PAGE_REPLACED", "old.md"),
        ("TRIGGER_LEARNED", "new.md"),
    ]
    assert [event.payload.get("newer") for event in events] == [None, "new.md", None]
    assert events[1].payload["words"] == "Replaced by [New](new.md)"
    assert events[2].payload["quote"] == "New it is."


def test_reading_changes_nothing(folder: Path) -> None:
    before = (folder / FILE).read_bytes(), sorted(os.listdir(folder))  # noqa: PTH208
    assert read(folder) == read(folder)
    assert ((folder / FILE).read_bytes(), sorted(os.listdir(folder))) == before  # noqa: PTH208


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("CREATE TABLE more (a TEXT)", "table more is not known"),
        ("ALTER TABLE triggers ADD COLUMN mood TEXT", "column triggers.mood is not known"),
        ("UPDATE triggers SET quote = CAST(x'ff' AS TEXT)", "quote is no text"),
        ("UPDATE replaced SET newer = 4.5e0 + x'00'", ""),
        ("UPDATE replaced SET words = CAST(x'ff' AS TEXT) WHERE page = 'old.md'", "words is no"),
    ],
)
def test_what_has_no_place_is_named(spoil: Spoil, script: str, words: str) -> None:
    store = read(spoil(script))
    assert not words or any(words in line for line in store.unmapped), store.unmapped


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE triggers",
        "ALTER TABLE pages DROP COLUMN sha256",
        f"PRAGMA user_version = {SCHEMA_VERSION + 1}",
        "PRAGMA user_version = 0",
    ],
)
def test_another_schema_is_not_guessed_at(spoil: Spoil, script: str) -> None:
    with pytest.raises(UnreadableStore):
        read(spoil(script))


@pytest.mark.parametrize(
    "script",
    [
        "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE TRIGGER t AFTER INSERT ON pages BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE v USING fts5 (a)",
    ],
)
def test_a_schema_that_would_run_something_is_hostile(spoil: Spoil, script: str) -> None:
    with pytest.raises(HostileSnapshot):
        read(spoil(script))


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_unreadable(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UnreadableStore):
        read(tmp_path)
