import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memory_engine.errors import StoreUnusable
from memory_engine.store import (
    BY_UPDATE,
    FILE,
    Changes,
    Claim,
    Event,
    Note,
    Retirement,
    Store,
    digest,
)

AT = datetime(2026, 9, 1, 12, tzinfo=UTC)


def note(name: str, text: str = "text") -> Note:
    return Note(name, text, "2026-09-01", digest(text))


def claim(claim_id: str, source: str) -> Claim:
    return Claim(claim_id, f"{claim_id}.", "s", "2026-09-01", (source,), AT.isoformat())


def test_what_a_note_taught_is_there_wholly_or_not_at_all(store: Store) -> None:
    one, two = note("1"), note("2")
    store.receive(one, AT)
    store.finish(one, Changes([claim("a", "1")]), AT)
    store.receive(two, AT)
    broken = Changes(
        [claim("b", "2")],
        [Retirement("a", "b", BY_UPDATE, AT.isoformat()), Retirement("gone", "b", BY_UPDATE, "x")],
        [Event("E", AT.isoformat(), {})],
    )
    with pytest.raises(StoreUnusable, match="gone"):
        store.finish(two, broken, AT)
    assert [c.id for c in store.claims(active=True)] == ["a"]
    assert [event.type for event in store.events()] == ["NOTE_RECEIVED", "NOTE_RECEIVED"]
    known = store.note("2")
    assert known is not None
    assert not known.done


def test_a_claim_is_retired_only_once(store: Store) -> None:
    store.receive(note("1"), AT)
    store.finish(note("1"), Changes([claim("a", "1"), claim("b", "1"), claim("c", "1")]), AT)
    for winner in ("b", "c"):
        store.receive(note(winner), AT)
    retire_b = Changes([], [Retirement("a", "b", BY_UPDATE, AT.isoformat())])
    retire_c = Changes([], [Retirement("a", "c", BY_UPDATE, AT.isoformat())])
    store.finish(note("b"), retire_b, AT)
    with pytest.raises(StoreUnusable):
        store.finish(note("c"), retire_c, AT)
    assert store.claim("a").retired_by == "b"


def test_a_pending_note_takes_new_text_and_a_finished_one_does_not(store: Store) -> None:
    store.receive(note("1", "first"), AT)
    store.receive(note("1", "second"), AT)
    with pytest.raises(StoreUnusable, match="replaced"):
        store.finish(note("1", "first"), Changes(), AT)
    store.finish(note("1", "second"), Changes(), AT)
    store.receive(note("1", "third"), AT)
    kept = store.note("1")
    assert kept == Note("1", "second", "2026-09-01", digest("second"), done=True)


def test_the_schema_itself_forbids_a_claim_half_retired(store: Store) -> None:
    store.receive(note("1"), AT)
    store.finish(note("1"), Changes([claim("a", "1")]), AT)
    db = sqlite3.connect(store.path)
    for broken in (
        "UPDATE claims SET status = 'SUPERSEDED'",
        "UPDATE claims SET retired_by = 'a'",
        "UPDATE claims SET restatement = 1",
        "UPDATE claims SET status = 'GONE'",
        "UPDATE claims SET text = NULL",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(broken)
    db.close()


def test_a_commit_is_seen_by_who_opens_the_files_as_a_kill_leaves_them(
    store: Store, tmp_path: Path
) -> None:
    store.receive(note("1", "ünïcödé 🌊"), AT)
    left = tmp_path / "left"
    left.mkdir()
    for file in store.path.parent.iterdir():
        (left / file.name).write_bytes(file.read_bytes())
    again = Store(left)
    kept = again.note("1")
    assert kept is not None
    assert kept.text == "ünïcödé 🌊"
    again.close()


def test_a_backup_is_one_file_and_the_same_store(store: Store, tmp_path: Path) -> None:
    store.receive(note("1"), AT)
    target = tmp_path / "copy"
    target.mkdir()
    store.backup(target / FILE)
    assert [file.name for file in target.iterdir()] == [FILE]
    # Bytes 18 and 19 of the header tell WAL (2) from a plain journal (1).
    assert (target / FILE).read_bytes()[18:20] == b"\x01\x01"
    copy = Store(target)
    assert copy.note("1") == store.note("1")
    copy.close()
