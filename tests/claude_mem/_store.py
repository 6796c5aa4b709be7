"""Stores as claude-mem 13.25.3 writes them, as far as they are read: its own tables, full text and
triggers, in its own words where they matter."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

FOLDER = "/home/bench/vault"
NOON = 1788264000000
"""2026-09-01, 12:00 UTC, in milliseconds."""
SCHEMA = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE, applied_at TEXT);
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, project TEXT);
CREATE TABLE "observations" (
    id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
    text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,
    concepts TEXT, files_read TEXT, files_modified TEXT, created_at TEXT,
    created_at_epoch INTEGER
);
CREATE TABLE "session_summaries" (
    id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT, investigated TEXT, learned TEXT,
    completed TEXT, next_steps TEXT, notes TEXT, created_at TEXT NOT NULL
);
CREATE VIRTUAL TABLE observations_fts USING fts5(title, narrative, content='observations');
CREATE VIRTUAL TABLE session_summaries_fts USING fts5(request);
CREATE VIRTUAL TABLE user_prompts_fts USING fts5(prompt_text);
CREATE TRIGGER observations_ai AFTER INSERT ON observations BEGIN
    INSERT INTO observations_fts(rowid, title, narrative)
    VALUES (new.id, new.title, new.narrative);
END;
INSERT INTO schema_versions VALUES (1, 4, ''), (2, 52, '');
INSERT INTO session_summaries (request, learned, created_at)
VALUES ('Read it.', 'Much.', '2026-09-01T12:00:00.000Z');
INSERT INTO sdk_sessions VALUES (3, 'session-of-ours', 'vault');
"""


def observation(*facts: str, **fields: Any) -> dict[str, Any]:
    files = fields.pop("files", ["a.md"])
    return {
        "memory_session_id": "m",
        "project": "vault",
        "type": "discovery",
        "title": "A title",
        "facts": json.dumps(facts),
        "narrative": " ".join(facts),
        "files_read": json.dumps([f if f.startswith("/") else f"{FOLDER}/{f}" for f in files]),
        "created_at_epoch": NOON,
        **fields,
    }


def written(file: Path, rows: Iterable[Mapping[str, Any]], *more: str) -> Path:
    """A store with these observations, and whatever else the statements do to it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(SCHEMA)
        for row in rows:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            db.execute(f"INSERT INTO observations ({names}) VALUES ({marks})", [*row.values()])
        for statement in more:
            db.execute(statement)
        db.commit()
    return file


def vectors(file: Path, *pieces: int) -> None:
    """A vector store that holds a piece of the observation of each of these ids."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE embedding_metadata (id, key, string_value, int_value)")
        for number, of in enumerate(pieces):
            kind = (number, "doc_type", "observation", None)
            rows = [kind, (number, "sqlite_id", None, of)]
            db.executemany("INSERT INTO embedding_metadata VALUES (?, ?, ?, ?)", rows)
        # Prompts and summaries have ids of their own, which say nothing of observations.
        other = [(99, "doc_type", "user_prompt", None), (99, "sqlite_id", None, 1)]
        db.executemany("INSERT INTO embedding_metadata VALUES (?, ?, ?, ?)", other)
        db.commit()
