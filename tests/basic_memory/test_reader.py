import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.errors import HostileSnapshot, UnreadableStore
from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.systems.basic_memory import wire
from runner.systems.basic_memory.reader import MAX_PAGE_BYTES, read

SCHEMA = """
CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE entity (id INTEGER PRIMARY KEY, title TEXT, file_path TEXT, created_at TEXT,
    project_id INTEGER, entity_metadata JSON,
    frontmatter_status TEXT AS (json_extract(entity_metadata, '$.status')) VIRTUAL);
CREATE INDEX idx_entity_frontmatter_status ON entity (frontmatter_status);
CREATE VIRTUAL TABLE search_index USING fts5(content, entity_id UNINDEXED);
INSERT INTO project VALUES (1, 'main'), (2, 'bench');
"""
PAGE = """---
title: reader-01
permalink: bench/reader-01
---

# Session 1

**User:** I live in Delhi. It is hot.

- Tea at four
"""


def snapshot(folder: Path, *entities: tuple[object, ...], schema: str = SCHEMA) -> Path:
    (folder / "vault").mkdir()
    with closing(sqlite3.connect(folder / "memory.db")) as db:
        db.executescript(schema)
        for entity in entities:
            db.execute(
                "INSERT INTO entity (id, title, file_path, created_at, project_id)"
                " VALUES (?, 't', ?, ?, ?)",
                entity,
            )
        db.commit()
    return folder


def test_every_statement_of_a_page_is_a_claim(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, (7, "Daily/reader-01.md", "2026-09-01 12:00:00.5", 2))
    (folder / "vault" / "Daily").mkdir()
    (folder / "vault" / "Daily" / "reader-01.md").write_text(PAGE)
    store = read(folder)
    assert [(claim.id, claim.text) for claim in store.claims] == [
        ("7.1", "User: I live in Delhi."),
        ("7.2", "It is hot."),
        ("7.3", "Tea at four"),
    ]
    for claim in store.claims:
        assert claim.active
        assert claim.sources == ("Daily/reader-01.md",)
        assert claim.asserted_at == datetime(2026, 9, 1, 12, 0, 0, 500_000, UTC)
        assert (claim.restatement, claim.retired_by) == (False, None)
    assert (store.events, store.unmapped) == ((), ())


def test_what_has_no_place_is_named(tmp_path: Path) -> None:
    folder = snapshot(
        tmp_path,
        (1, "gone.md", "2026-09-01 12:00:00", 2),
        (2, "other.md", "2026-09-01 12:00:00", 1),
        (3, "when.md", "yesterday", 2),
        (4, b"\xff.md", "2026-09-01 12:00:00", 2),
        (5, "bytes.md", "2026-09-01 12:00:00", 2),
        (6, "picture.png", "2026-09-01 12:00:00", 2),
    )
    (folder / "vault" / "when.md").write_text("I live in Delhi.")
    (folder / "vault" / "bytes.md").write_bytes(b"\xff\xfe")
    (folder / "vault" / "stray.md").write_text("Nobody's.")
    store = read(folder)
    assert store.claims == ()
    assert store.unmapped == (
        "entity 1: its file gone.md is not there",
        "entity 2: it is of another project",
        "entity 3: created_at is no time: 'yesterday'",
        "entity 4: file_path is no text",
        "entity 5: its file bytes.md is not UTF-8",
        "entity 6: picture.png is no Markdown",
        "file stray.md is in no entity",
    )


@pytest.mark.parametrize("name", ["../outside.md", "/etc/hosts.md", "a/../../b.md"])
def test_a_page_does_not_lead_out(tmp_path: Path, name: str) -> None:
    folder = snapshot(tmp_path, (1, name, "2026-09-01 12:00:00", 2))
    with pytest.raises(HostileSnapshot, match="leads out"):
        read(folder)


def test_a_page_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    folder = snapshot(tmp_path / "s", (1, "in/a.md", "2026-09-01 12:00:00", 2))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.md").write_text("secret")
    (folder / "vault" / "in").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostileSnapshot, match="link"):
        read(folder)


def test_a_page_has_a_size(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, (1, "a.md", "2026-09-01 12:00:00", 2))
    (folder / "vault" / "a.md").write_bytes(b" " * (MAX_PAGE_BYTES + 1))
    with pytest.raises(HostileSnapshot, match="larger"):
        read(folder)


def test_another_store_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableStore):
        read(tmp_path)
    with pytest.raises(UnreadableStore, match="no table entity"):
        read(snapshot(tmp_path, schema="CREATE TABLE project (id, name);"))


def test_what_is_asked_is_a_table(tmp_path: Path) -> None:
    schema = """
    CREATE TABLE project (id, name);
    CREATE VIEW entity AS SELECT 1 AS id, 'a.md' AS file_path, '' AS created_at, 1 AS project_id;
    """
    with pytest.raises(HostileSnapshot, match="no table"):
        read(snapshot(tmp_path, schema=schema))


def test_what_is_asked_is_not_computed(tmp_path: Path) -> None:
    computed = "file_path TEXT GENERATED ALWAYS AS (upper('a.md'))"
    with pytest.raises(HostileSnapshot, match="computes its column file_path"):
        read(snapshot(tmp_path, schema=SCHEMA.replace("file_path TEXT", computed)))


def test_its_wire_knows_no_call() -> None:
    made = wire.BasicMemoryWire()
    assert isinstance(made, Wire)
    assert made.purpose({}, {"messages": []}) == wire.UNATTRIBUTED == UNATTRIBUTED
    with pytest.raises(ValueError, match="call no model"):
        made.fields("any", {})
