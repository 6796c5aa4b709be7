import dataclasses
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from memory_engine.store import (
    BY_RESTATEMENT,
    BY_UPDATE,
    Changes,
    Claim,
    Event,
    Note,
    Retirement,
    Store,
    digest,
)

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import OtherEvent, RestatementExamined, Superseded
from runner.systems import _sqlite
from runner.systems.engine.reader import FILE, SCHEMA_VERSION, read

AT = datetime(2026, 10, 9, 12, tzinfo=UTC)
Spoil = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A snapshot as the engine's own code writes it."""
    store = Store(tmp_path / "live")
    at = AT.isoformat()
    for name in ("a.md", "b.md"):
        store.receive(Note(name, name, "2026-09-01", digest(name)), AT)

    def claim(claim_id: str, text: str, **more: object) -> Claim:
        plain = Claim(claim_id, text, "the user", "2026-09-01", ("a.md",), at)
        return dataclasses.replace(plain, **more)  # type: ignore[arg-type]

    first = Changes(
        [
            claim("home", "Home."),
            claim("walk", "Walk."),
            claim("week", "W.", valid_until="2026-10-15"),
        ]
    )
    store.finish(Note("a.md", "a.md", "2026-09-01", digest("a.md")), first, AT)
    supersession = {"loser": "home", "winner": "move", "decided_by": "update", "readings": []}
    second = Changes(
        [claim("move", "Moved.", sources=("b.md",))],
        [Retirement("home", "move", BY_UPDATE, at)],
        [Event("UPDATE_SUPERSESSION", at, supersession), Event("END_DATE_DROPPED", at, {})],
    )
    store.finish(Note("b.md", "b.md", "2026-09-01", digest("b.md")), second, AT)
    examined = {
        "claim": "walk",
        "anchor": "home",
        "retired_by": "move",
        "contradicts": None,
        "outcome": "restated",
        "reason": "leaned",
        "said": "s",
        "restatement": "walked",
    }
    third = Changes(
        [claim("walked", "Was.", restatement=True, restates="walk", anchor="home")],
        [Retirement("walk", "walked", BY_RESTATEMENT, at)],
        [Event("RESTATEMENT_EXAMINED", at, examined)],
    )
    store.examined([store.claim("home")], third, AT)
    target = tmp_path / "snapshot"
    target.mkdir()
    store.backup(target / FILE)
    store.close()
    return target


@pytest.fixture
def spoil(folder: Path) -> Spoil:
    """Runs SQL over the snapshot, as an engine that lies would."""

    def run(script: str) -> Path:
        db = sqlite3.connect(folder / FILE)
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.executescript(script)
        db.close()
        return folder

    return run


def test_what_the_engine_wrote_is_what_is_read(folder: Path) -> None:
    store = read(folder)
    assert store.unmapped == ()
    claims = {claim.id: claim for claim in store.claims}
    assert list(claims) == ["home", "walk", "week", "move", "walked"]
    home = claims["home"]
    assert (home.status, home.reason, home.retired_by) == (
        "SUPERSEDED",
        "SUPERSEDED_BY_UPDATE",
        "move",
    )
    assert (home.sources, home.retired_at, home.asserted_at) == (("a.md",), AT, AT)
    assert claims["week"].valid_until == date(2026, 10, 15)
    assert claims["week"].active
    walked = claims["walked"]
    assert walked.restatement
    assert walked.anchor == "home"
    assert walked.reason is None
    superseded, dropped, examined = [e for e in store.events if not _received(e)]
    assert isinstance(superseded, Superseded)
    assert (superseded.loser, superseded.winner) == ("home", "move")
    assert superseded.payload["readings"] == []
    assert isinstance(dropped, OtherEvent)
    assert isinstance(examined, RestatementExamined)
    assert (examined.outcome, examined.restatement, examined.contradicts) == (
        "restated",
        "walked",
        None,
    )
    assert examined.payload["occurred_at"] == AT.isoformat()


def _received(event: object) -> bool:
    return isinstance(event, OtherEvent) and event.type == "NOTE_RECEIVED"


def test_reading_changes_nothing(folder: Path) -> None:
    before = (folder / FILE).read_bytes(), sorted(os.listdir(folder))  # noqa: PTH208
    assert read(folder) == read(folder)
    assert ((folder / FILE).read_bytes(), sorted(os.listdir(folder))) == before  # noqa: PTH208


def test_a_snapshot_in_wal_mode_is_read_as_far_as_its_own_file_goes(spoil: Spoil) -> None:
    folder = spoil("PRAGMA journal_mode = WAL;")
    assert len(read(folder).claims) == 5


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("UPDATE notes SET status = 'pending' WHERE name = 'b.md'", "note b.md is pending"),
        ("CREATE TABLE more (a TEXT)", "table more is not known"),
        ("ALTER TABLE claims ADD COLUMN mood TEXT", "column claims.mood is not known"),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM claims WHERE id = 'move'",
            "claim home is retired by move, which is not there",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM claims WHERE id = 'move'",
            "a source names the claim move, which is not there",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM notes WHERE name = 'b.md'",
            "claim move comes from note b.md, which is not there",
        ),
        (
            "UPDATE claims SET retired_by = 'move' WHERE id = 'week'",
            "claim week is ACTIVE and retired at once",
        ),
        ("UPDATE claims SET valid_until = 'soon' WHERE id = 'week'", "valid_until is no day"),
        ("UPDATE claims SET asserted_at = '2026' WHERE id = 'week'", "asserted_at"),
        ("UPDATE claims SET restatement = 7 WHERE id = 'week'", "restatement is neither 0 nor 1"),
        ("UPDATE claims SET text = CAST(x'ff' AS TEXT) WHERE id = 'week'", "text is no text"),
        ("UPDATE notes SET name = CAST(x'ff' AS TEXT) WHERE name = 'b.md'", "a note: name is no"),
        (
            "UPDATE claim_sources SET note = CAST(x'ff' AS TEXT) WHERE claim_id = 'move'",
            "a source: note is no text",
        ),
        ("UPDATE claims SET asserted_at = '2026-09-01T12:00:00' WHERE id = 'week'", "no time zone"),
        ("UPDATE events SET payload = '[]' WHERE seq = 3", "the payload is no JSON object"),
        ("UPDATE events SET payload = '{\"a\": NaN}'", "NaN is not JSON"),
        ("UPDATE events SET payload = '{' WHERE seq = 3", "the payload is not JSON"),
        ("UPDATE events SET payload = '{}' WHERE type LIKE 'UPDATE%'", "(UPDATE_SUPERSESSION)"),
        ("UPDATE events SET payload = '{}' WHERE type LIKE 'REST%'", "(RESTATEMENT_EXAMINED)"),
    ],
)
def test_what_has_no_place_is_named(spoil: Spoil, script: str, words: str) -> None:
    store = read(spoil(script))
    assert any(words in line for line in store.unmapped), store.unmapped
    assert store.claims


def test_an_event_known_by_name_only_is_kept_as_it_is(spoil: Spoil) -> None:
    store = read(spoil("UPDATE events SET payload = '{\"a\": 1}' WHERE type LIKE 'UPDATE%'"))
    (kept,) = [e for e in store.events if isinstance(e, OtherEvent) and "SUPER" in e.type]
    assert kept.payload["a"] == 1


def test_many_complaints_end_in_a_number(spoil: Spoil) -> None:
    rows = ", ".join(f"('E', 'x', '{n}')" for n in range(1500))
    store = read(spoil(f"INSERT INTO events (type, occurred_at, payload) VALUES {rows}"))
    assert len(store.unmapped) == 1001
    assert store.unmapped[-1] == "and 500 more of the kind"


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE meta",
        "ALTER TABLE claims DROP COLUMN valid_until",
        f"PRAGMA user_version = {SCHEMA_VERSION + 1}",
        "PRAGMA user_version = 0",
    ],
)
def test_another_schema_is_not_guessed_at(spoil: Spoil, script: str) -> None:
    with pytest.raises(UnreadableStore):
        read(spoil(script))


ENDLESS = "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT"


@pytest.mark.parametrize(
    "script",
    [
        f"ALTER TABLE meta RENAME TO m; CREATE VIEW meta AS {ENDLESS} a AS key, a AS value FROM n",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE v USING fts5 (a)",
        "ALTER TABLE claims ADD COLUMN g TEXT AS (hex(zeroblob(1000000)))",
    ],
    ids=["view", "trigger", "virtual", "generated"],
)
def test_a_schema_that_would_run_something_is_hostile(spoil: Spoil, script: str) -> None:
    with pytest.raises(HostileSnapshot):
        read(spoil(script))


def test_a_schema_edited_by_hand_is_refused(spoil: Spoil) -> None:
    folder = spoil(
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE meta (key, value, sql error' "
        "WHERE name = 'meta'"
    )
    with pytest.raises(UnreadableStore):
        read(folder)


def test_too_much_is_refused(spoil: Spoil, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "MAX_ROWS", 4)
    with pytest.raises(HostileSnapshot, match="more than 4 rows"):
        read(folder)
    monkeypatch.undo()
    monkeypatch.setattr(_sqlite, "MAX_BYTES", 1000)
    with pytest.raises(HostileSnapshot, match="larger than 1000"):
        read(folder)
    monkeypatch.undo()
    spoil("UPDATE claims SET text = printf('%.*c', 5000000, 'x') WHERE id = 'week'")
    with pytest.raises(HostileSnapshot, match="longer than"):
        read(folder)


def test_too_long_is_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "MAX_SECONDS", 0.05)
    many = [f"c{n}" for n in range(14)]
    tables = ", ".join(f"claims AS {name}" for name in many)
    total = " + ".join(f"{name}.seq" for name in many)
    with (
        _sqlite.opened(folder / FILE) as snapshot,
        pytest.raises(HostileSnapshot, match="longer than 0 s"),
    ):
        snapshot.rows(f"SELECT 1 FROM {tables} WHERE {total} < 0")


def test_the_connection_can_do_nothing_but_read(folder: Path, tmp_path: Path) -> None:
    with _sqlite.opened(folder / FILE) as snapshot:
        for question in (
            "DELETE FROM claims",
            f"{ENDLESS} a FROM n",
            f"ATTACH '{tmp_path / 'other.db'}' AS other",
            "CREATE TEMP TABLE t (a)",
            "SELECT load_extension('x')",
            "SELECT randomblob(100)",
            "VACUUM",
        ):
            with pytest.raises(UnreadableStore, match=r"authoriz|prohibited"):
                snapshot.rows(question)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 4096, b"text" * 2000])
def test_a_file_that_is_no_database_is_unreadable(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UnreadableStore):
        read(tmp_path)


@pytest.mark.slow
def test_a_database_cut_short_or_scribbled_on_never_gets_past_the_types(folder: Path) -> None:
    whole = (folder / FILE).read_bytes()
    for spot in range(0, len(whole), 499):
        for damaged in (
            whole[:spot],
            whole[:spot] + b"\xa5" * 64 + whole[spot + 64 :],
            whole[:spot] + bytes([whole[spot] ^ 0xFF]) + whole[spot + 1 :],
        ):
            (folder / FILE).write_bytes(damaged)
            try:
                read(folder)
            except (UnreadableStore, HostileSnapshot):
                continue


def test_only_a_plain_file_is_opened(folder: Path, tmp_path: Path) -> None:
    file = folder / FILE
    real = file.rename(tmp_path / "real.db")
    with pytest.raises(UnreadableStore, match=r"has no memory\.db"):
        read(folder)
    file.symlink_to(real)
    with pytest.raises(HostileSnapshot, match="no plain file"):
        read(folder)
    file.unlink()
    file.mkdir()
    with pytest.raises(HostileSnapshot, match="no plain file"):
        read(folder)
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(HostileSnapshot, match="no plain file"):
        read(folder)
