import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import Claim, OtherEvent, RestatementExamined, Store, Superseded
from runner.systems.particles import reader
from runner.systems.particles.reader import FILE, MIGRATIONS, read

Spoil = Callable[[str], Path]

KEYS = {
    "particles": "id",
    "snapshots": "snapshot_id",
    "corpus_entries": "entry_id",
    "operator_events": "event_id",
}
TABLES = """
PRAGMA synchronous = OFF;
CREATE TABLE alembic_version (version_num VARCHAR PRIMARY KEY);
CREATE TABLE corpus_entries (entry_id VARCHAR PRIMARY KEY, uri_r VARCHAR, tags_json TEXT);
CREATE TABLE snapshots (
    snapshot_id VARCHAR PRIMARY KEY, entry_id VARCHAR, extraction_status VARCHAR
);
CREATE TABLE operator_events (
    event_id VARCHAR PRIMARY KEY, occurred_at DATETIME, event_type VARCHAR, payload JSON
);
CREATE TABLE particles (
    id VARCHAR PRIMARY KEY, content TEXT, status VARCHAR, status_reason VARCHAR,
    supersedes VARCHAR, provenance_json TEXT, contributors_json TEXT, embedding_model_id TEXT,
    valid_from DATETIME, valid_until DATETIME, asserted_at DATETIME, retired_at DATETIME
);
CREATE TABLE particle_changes (seq INTEGER PRIMARY KEY, particle_id VARCHAR);
CREATE TRIGGER trg_particles_journal_insert AFTER INSERT ON particles
    BEGIN INSERT INTO particle_changes (particle_id) VALUES (NEW.id); END;
"""


def claim(claim_id: str, text: str, entry: str, **more: Any) -> dict[str, Any]:
    return {
        "id": claim_id,
        "content": text,
        "status": "ACTIVE",
        "provenance_json": json.dumps([{"type": "SOURCE", "corpus_entry_id": entry}]),
        "embedding_model_id": "all-MiniLM-L6-v2",
        "asserted_at": "2026-09-04 12:00:01.500000",
        **more,
    }


def retired(reason: str, **more: Any) -> dict[str, Any]:
    return {
        "status": "PROVENANCE_STALE" if reason == "SUPERSEDED_BY_UPDATE" else "SUPERSEDED",
        "status_reason": reason,
        "retired_at": "2026-10-09 12:00:02",
        **more,
    }


CLAIMS = (
    claim("home", "Home.", "e1", **retired("SUPERSEDED_BY_UPDATE")),
    claim("walk", "Walk.", "e1", **retired("SUPERSEDED_BY_REANCHOR")),
    claim("week", "Week.", "e2", valid_until="2026-10-15 00:00:00", valid_from="2026-10-08"),
    claim("move", "Move.", "e3", contributors_json="[]"),
    claim(
        "walked",
        "Walked.",
        "e1",
        supersedes="walk",
        contributors_json='[{"id": "consolidation:reanchor", "role": "agent"}]',
        provenance_json=json.dumps(
            [
                {"type": "SOURCE", "corpus_entry_id": "e1"},
                {"type": "PARTICLE", "corpus_entry_id": "home"},
            ]
        ),
    ),
)


def examined(outcome: str, **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "particle_id": "week", "retired_id": "home", "why": "w", **more}


EVENTS: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("CONSOLIDATION_RUN", {"scope": "harvested"}),
    (
        "UPDATE_SUPERSESSION",
        {"retired_id": "home", "winner_id": "move", "route": "ladder", "decided_by": "update"},
    ),
    (
        "DEPENDENT_CLAIM_EXAMINED",
        examined("unrestated", other_id="move", why="the restatement contradicts move"),
    ),
    ("DEPENDENT_CLAIM_EXAMINED", examined("unrestated", other_id=None, why="unfaithful")),
    ("DEPENDENT_CLAIM_EXAMINED", examined("matched_existing", other_id="walked")),
    ("DEPENDENT_CLAIM_EXAMINED", examined("dependency_rejected")),
    ("EXTRACT_RUN", None),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store as the engine would leave it, made by statements of our own."""
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.executescript(TABLES)
        db.execute("INSERT INTO alembic_version VALUES (?)", (max(MIGRATIONS),))
        notes = ("session-04.md", "session-11.md", "a%20b%C3%A9.md")
        for number, name in enumerate(notes, start=1):
            row = (f"e{number}", f"file:///home/bench/notes/{name}", "[]")
            db.execute("INSERT INTO corpus_entries VALUES (?, ?, ?)", row)
            db.execute("INSERT INTO snapshots VALUES (?, ?, 'COMPLETE')", (f"s{number}", row[0]))
        for each in CLAIMS:
            names, marks = ", ".join(each), ", ".join("?" * len(each))
            db.execute(f"INSERT INTO particles ({names}) VALUES ({marks})", tuple(each.values()))
        for number, (kind, payload) in enumerate(EVENTS):
            written = payload and json.dumps(payload)
            event = (f"v{number}", "2026-10-09 12:00:03", kind, written)
            db.execute("INSERT INTO operator_events VALUES (?, ?, ?, ?)", event)
        db.commit()
    return tmp_path


@pytest.fixture
def spoil(folder: Path) -> Spoil:
    """Runs SQL over the store, as an engine that lies would."""

    def run(script: str) -> Path:
        with closing(sqlite3.connect(folder / FILE)) as db:
            db.executescript(f"PRAGMA synchronous = OFF; {script}")
        return folder

    return run


def by_id(store: Store) -> dict[str, Claim]:
    return {claim.id: claim for claim in store.claims}


def test_claims_are_what_the_rows_say(folder: Path) -> None:
    store = read(folder)
    assert store.unmapped == ()
    claims = by_id(store)
    assert list(claims) == ["home", "walk", "week", "move", "walked"]
    home = claims["home"]
    assert (home.status, home.reason) == ("PROVENANCE_STALE", "SUPERSEDED_BY_UPDATE")
    assert home.retired_by == "move"
    assert home.retired_at == datetime(2026, 10, 9, 12, 0, 2, tzinfo=UTC)
    assert home.asserted_at == datetime(2026, 9, 4, 12, 0, 1, 500000, tzinfo=UTC)
    assert claims["walk"].retired_by == "walked"
    week = claims["week"]
    assert (week.valid_from, week.valid_until) == (date(2026, 10, 8), date(2026, 10, 15))
    assert week.active
    assert week.sources == ("session-11.md",)
    assert claims["move"].sources == ("a bé.md",)
    assert not claims["move"].restatement
    walked = claims["walked"]
    assert (walked.restatement, walked.anchor, walked.sources) == (True, "home", ("session-04.md",))
    assert walked.retired_by is None


def test_events_are_what_the_engine_recorded(folder: Path) -> None:
    run, superseded, *looked_at, extracted = read(folder).events
    assert isinstance(run, OtherEvent)
    assert run.payload["scope"] == "harvested"
    assert isinstance(superseded, Superseded)
    assert (superseded.loser, superseded.winner, superseded.decided_by) == (
        "home",
        "move",
        "update",
    )
    assert superseded.payload["route"] == "ladder"
    assert superseded.payload["occurred_at"] == "2026-10-09 12:00:03"
    assert isinstance(extracted, OtherEvent)
    seen = [
        (each.outcome, each.contradicts, each.restatement, each.retired_by)
        for each in looked_at
        if isinstance(each, RestatementExamined)
    ]
    assert seen == [
        ("kept_back", "move", None, "move"),
        ("kept_back", None, None, "move"),
        ("restated", None, "walked", "move"),
        ("independent", None, None, "move"),
    ]


@pytest.mark.parametrize(
    ("table", "change", "key", "said"),
    [
        ("particles", "embedding_model_id = NULL", "home", "claim home has no vector"),
        ("snapshots", "extraction_status = 'FAILED'", "s2", "session-11.md is FAILED"),
        ("snapshots", "entry_id = x'00'", "s2", "a reading of a note: entry_id"),
        ("corpus_entries", "uri_r = NULL", "e2", "a note: uri_r is no text"),
        ("corpus_entries", "entry_id = 'e9'", "e2", "claim week comes from a note"),
        ("particles", "content = x'ff'", "home", "claim in row 1: content is no text"),
        ("particles", "provenance_json = '{'", "home", "provenance_json is not JSON"),
        ("particles", "provenance_json = '[1]'", "home", "no list of JSON objects"),
        ("particles", "contributors_json = '[NaN]'", "home", "NaN is not JSON"),
        ("particles", "valid_until = 'soon'", "home", "valid_until is no time"),
        ("particles", "retired_at = '2026-10-09'", "move", "ACTIVE and retired at once"),
        ("particles", "id = 'moved'", "move", "retired by move, which is not there"),
        ("particles", "id = 'house'", "home", "anchored in home, which is not there"),
        ("operator_events", "payload = '[]'", "v1", "payload is no JSON object"),
        ("operator_events", 'payload = \'{"outcome": "?"}\'', "v2", "(DEPENDENT_CLAIM_EXAMINED)"),
        ("operator_events", "event_type = 'ELSE'", "v1", "(DEPENDENT_CLAIM_EXAMINED)"),
    ],
)
def test_what_cannot_be_mapped_is_named(
    spoil: Spoil, table: str, change: str, key: str, said: str
) -> None:
    unmapped = read(spoil(f"UPDATE {table} SET {change} WHERE {KEYS[table]} = '{key}'")).unmapped
    assert any(said in each for each in unmapped), unmapped


def test_what_cannot_be_mapped_is_named_within_bounds(
    spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_UNMAPPED", 2)
    unmapped = read(spoil("UPDATE particles SET embedding_model_id = NULL")).unmapped
    assert len(unmapped) == 3
    assert unmapped[-1] == "and 3 more of the kind"


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE operator_events",
        "ALTER TABLE particles DROP COLUMN supersedes",
        "UPDATE alembic_version SET version_num = '9999'",
        "DELETE FROM alembic_version",
        "INSERT INTO alembic_version VALUES ('058')",
    ],
)
def test_another_store_is_refused(spoil: Spoil, script: str) -> None:
    with pytest.raises(UnreadableStore):
        read(spoil(script))


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TRIGGER trg_particles_journal_own AFTER DELETE ON particles BEGIN SELECT 1; END",
        "CREATE VIEW trg_particles_journal_update AS SELECT 1",
        "ALTER TABLE particles ADD COLUMN own TEXT AS (upper(content))",
        "CREATE VIRTUAL TABLE own USING fts5(x)",
    ],
)
def test_what_is_none_of_its_is_hostile(spoil: Spoil, script: str) -> None:
    with pytest.raises(HostileSnapshot):
        read(spoil(script))


def test_a_store_that_is_no_file_is_hostile(folder: Path, tmp_path: Path) -> None:
    (folder / FILE).rename(tmp_path / "elsewhere")
    with pytest.raises(UnreadableStore):
        read(folder)
    os.mkfifo(folder / FILE)
    with pytest.raises(HostileSnapshot):
        read(folder)
    (folder / FILE).unlink()
    (folder / FILE).symlink_to("elsewhere")
    with pytest.raises(HostileSnapshot):
        read(folder)


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0" + b"\xff" * 4000, b"no database"])
def test_a_damaged_store_is_unreadable(folder: Path, damage: bytes) -> None:
    (folder / FILE).write_bytes(damage)
    with pytest.raises(UnreadableStore):
        read(folder)


def test_reading_changes_nothing(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    read(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
