"""A stand-in for the installed basic-memory, as a program of that name: its commands, its server.

It keeps the same tables as far as the driver looks at them, searches by whether a page holds the
question's first word, and goes wrong in the ways a file ``wrong`` in its home names.
"""

import json
import os
import sqlite3
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HOME = Path(os.environ["HOME"])
DATABASE = HOME / ".basic-memory" / "memory.db"
SCHEMA = """
CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT, path TEXT);
CREATE TABLE entity (id INTEGER PRIMARY KEY, title TEXT, file_path TEXT, created_at TEXT,
    project_id INTEGER);
CREATE TABLE note_content (entity_id INTEGER, file_write_status TEXT);
CREATE VIRTUAL TABLE search_index USING fts5(content, entity_id UNINDEXED, type UNINDEXED);
"""


def wrong(way: str) -> bool:
    """Whether it is to go wrong in that way."""
    file = HOME / "wrong"
    return file.exists() and way in file.read_text().split()


def database() -> sqlite3.Connection:
    """Its database, made where it is missing."""
    DATABASE.parent.mkdir(exist_ok=True)
    db = sqlite3.connect(DATABASE)
    if not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SCHEMA)
    return db


def take(db: sqlite3.Connection, name: str, text: str) -> None:
    """Keep a page."""
    now = datetime.now(UTC).replace(tzinfo=None)
    said = "2020-01-01 00:00:00" if wrong("time") else str(now)
    made = db.execute(
        "INSERT INTO entity (title, file_path, created_at, project_id) VALUES (?, ?, ?, 1)",
        (Path(name).stem, name, said),
    )
    if not wrong("unindexed"):
        row = (text, made.lastrowid, "entity")
        db.execute("INSERT INTO search_index (content, entity_id, type) VALUES (?, ?, ?)", row)
    db.commit()


def command(name: str, *rest: str) -> int:
    """One of its commands."""
    if wrong(name):
        print("it went wrong")
        return 3
    with closing(database()) as db:
        if name == "project":
            db.execute("INSERT INTO project (name, path) VALUES (?, ?)", rest[1:3])
            db.commit()
        if name == "reindex":
            (vault,) = db.execute("SELECT path FROM project").fetchone()
            files = sorted(Path(vault).rglob("*.md"))
            for file in files[: -1 if wrong("missing") else None]:
                take(db, file.relative_to(vault).as_posix(), file.read_text())
    return 0


def search(db: sqlite3.Connection, asked: dict[str, Any]) -> Any:
    """Answers ``search_notes``."""
    if wrong("search"):
        return "# Search Failed\n\nThe embedder is gone."
    word = f"%{asked['query'].split()[0]}%"
    rows = db.execute(
        "SELECT file_path, content FROM search_index JOIN entity ON entity.id = entity_id"
        " WHERE content LIKE ? ORDER BY file_path",
        (word,),
    ).fetchall()
    if wrong("strange"):
        rows.append(("Nobody's.md", "x"))
    start = (asked["page"] - 1) * asked["page_size"]
    some = rows[start : start + asked["page_size"]]
    results = [
        {"file_path": name, "content": text, "score": -2.5 + place}
        for place, (name, text) in enumerate(some)
    ]
    return {"results": results, "has_more": start + len(some) < len(rows)}


def write(db: sqlite3.Connection, asked: dict[str, Any]) -> Any:
    """Answers ``write_note``."""
    folder = asked["directory"].strip("/")
    name = f"{folder}/{asked['title']}.md".lstrip("/")
    if db.execute("SELECT 1 FROM entity WHERE file_path = ?", (name,)).fetchone():
        return {"title": asked["title"], "error": "NOTE_ALREADY_EXISTS", "action": "conflict"}
    (vault,) = db.execute("SELECT path FROM project").fetchone()
    (Path(vault) / name).parent.mkdir(parents=True, exist_ok=True)
    (Path(vault) / name).write_text(f"---\ntitle: {asked['title']}\n---\n\n{asked['content']}")
    take(db, name, asked["content"])
    if wrong("later"):
        threading.Timer(0.3, again).start()
    return {"file_path": name, "permalink": name.removesuffix(".md"), "action": "created"}


def again() -> None:
    """Look at the files once more, in the background, and take their times for the notes'."""
    with closing(database()) as db:
        db.execute("UPDATE entity SET created_at = '2020-01-01 00:00:00'")
        db.commit()


def served(message: dict[str, Any], db: sqlite3.Connection) -> dict[str, Any]:
    """The result of one request."""
    if message["method"] == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"]}
    called = message["params"]
    answer = {"search_notes": search, "write_note": write}[called["name"]](db, called["arguments"])
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return {"content": [{"type": "text", "text": text}], "isError": False}


def server() -> int:
    """Its server, until its input ends."""
    with closing(database()) as db:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message or "method" not in message:
                continue
            if wrong("dies") and message["method"] == "tools/call":
                return 9
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": served(message, db)}
            print(json.dumps(reply), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(server() if sys.argv[1] == "mcp" else command(*sys.argv[1:]))
