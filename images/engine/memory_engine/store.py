"""The store: one SQLite file with notes, claims, events and meta.

Every method that writes is one transaction, so that a kill at any moment leaves the store either
before or after it. Nothing here calls a model.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_engine.errors import StoreUnusable
from memory_engine.migrations import migrate

FILE = "memory.db"
ACTIVE = "ACTIVE"
SUPERSEDED = "SUPERSEDED"
BY_UPDATE = "SUPERSEDED_BY_UPDATE"
BY_RESTATEMENT = "SUPERSEDED_BY_RESTATEMENT"


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was handed in."""

    name: str
    text: str
    day: str
    """ISO date the note was written on."""
    sha256: str
    """Digest of the text's UTF-8 bytes."""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the store."""

    id: str
    text: str
    subject: str
    day: str
    """ISO date of the note it came from."""
    sources: tuple[str, ...]
    asserted_at: str
    valid_until: str | None = None
    restatement: bool = False
    restates: str | None = None
    anchor: str | None = None
    status: str = ACTIVE
    reason: str | None = None
    retired_by: str | None = None
    seq: int = 0
    """Place in the order of writing; 0 before it is written."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, with a payload of its own."""

    type: str
    occurred_at: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Retirement:
    """An older claim to be retired by a newer one."""

    loser: str
    winner: str
    reason: str
    at: str


@dataclass(slots=True)
class Changes:
    """What a verb has decided and not yet written."""

    claims: list[Claim] = field(default_factory=list)
    retirements: list[Retirement] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def digest(text: str) -> str:
    """SHA-256 of a note's text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """An open store. Close it when done; a kill instead of a close loses nothing committed."""

    def __init__(self, folder: Path) -> None:
        """Open the store in ``folder``, creating and migrating it where needed.

        Raises:
            StoreTooNew: a later engine wrote it.
            StoreUnusable: it is not a database, or not this engine's.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10.0)
        try:
            self._db.row_factory = sqlite3.Row
            self._db.execute("PRAGMA journal_mode = WAL")
            # FULL: a commit is on disk before the verb is answered, also when the power goes.
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            migrate(self._db)
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise StoreUnusable(f"cannot open {self.path}: {error}") from error
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # ------------------------------------------------------------ reading

    def note(self, name: str) -> Note | None:
        """The note of that name, if it was ever handed in."""
        row = self._db.execute("SELECT * FROM notes WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        return Note(row["name"], row["text"], row["day"], row["sha256"], row["status"] == "done")

    def claims(self, *, active: bool = False) -> tuple[Claim, ...]:
        """Claims in the order they were written; only the standing ones where asked."""
        return self._claims("WHERE status = 'ACTIVE'" if active else "")

    def claim(self, claim_id: str) -> Claim:
        """The claim of that id."""
        (found,) = self._claims("WHERE id = ?", claim_id)
        return found

    def unexamined(self) -> tuple[tuple[Claim, tuple[Claim, ...]], ...]:
        """Winners in the order of writing, each with what it retired and was not examined."""
        waiting = self._claims("WHERE reason = 'SUPERSEDED_BY_UPDATE' AND examined_at IS NULL")
        winners = {claim.retired_by: self.claim(str(claim.retired_by)) for claim in waiting}
        return tuple(
            (winner, tuple(claim for claim in waiting if claim.retired_by == winner.id))
            for winner in sorted(winners.values(), key=lambda claim: claim.seq)
        )

    def events(self) -> tuple[Event, ...]:
        """Every event, oldest first."""
        rows = self._db.execute("SELECT * FROM events ORDER BY seq")
        return tuple(Event(r["type"], r["occurred_at"], json.loads(r["payload"])) for r in rows)

    def _claims(self, where: str, *values: str) -> tuple[Claim, ...]:
        # ``where`` is one of the constants above, never a value.
        rows = self._db.execute(
            "SELECT *, (SELECT json_group_array(note) FROM"  # noqa: S608
            " (SELECT note FROM claim_sources JOIN notes ON notes.name = note"
            " WHERE claim_id = claims.id ORDER BY notes.seq)) AS sources"
            f" FROM claims {where} ORDER BY seq",
            values,
        )
        return tuple(
            Claim(
                id=row["id"],
                text=row["text"],
                subject=row["subject"],
                day=row["day"],
                sources=tuple(json.loads(row["sources"])),
                asserted_at=row["asserted_at"],
                valid_until=row["valid_until"],
                restatement=bool(row["restatement"]),
                restates=row["restates"],
                anchor=row["anchor"],
                status=row["status"],
                reason=row["reason"],
                retired_by=row["retired_by"],
                seq=row["seq"],
            )
            for row in rows
        )

    # ------------------------------------------------------------ writing

    def receive(self, note: Note, at: datetime) -> None:
        """Keep a note as pending; one that is pending already takes the new text."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO notes (name, seq, sha256, text, day, status, received_at)"
                " VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM notes), ?, ?, ?, 'pending', ?)"
                " ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, text = excluded.text,"
                " day = excluded.day, received_at = excluded.received_at"
                " WHERE status = 'pending'",
                (note.name, note.sha256, note.text, note.day, at.isoformat()),
            )
            payload = {"note": note.name, "sha256": note.sha256, "day": note.day}
            self._record([Event("NOTE_RECEIVED", at.isoformat(), payload)])

    def finish(self, note: Note, changes: Changes, at: datetime) -> None:
        """Write everything a note taught, and mark it done.

        Raises:
            StoreUnusable: the note or a claim to be retired changed since this was decided.
        """
        with self._transaction():
            self._write(changes)
            done = self._db.execute(
                "UPDATE notes SET status = 'done', finished_at = ?"
                " WHERE name = ? AND sha256 = ? AND status = 'pending'",
                (at.isoformat(), note.name, note.sha256),
            )
            if done.rowcount != 1:
                raise StoreUnusable(f"the note {note.name} was finished or replaced meanwhile")

    def examined(self, retired: Sequence[Claim], changes: Changes, at: datetime) -> None:
        """Write what examining a winner's retired claims came to, and mark them examined."""
        with self._transaction():
            self._write(changes)
            for claim in retired:
                marked = self._db.execute(
                    "UPDATE claims SET examined_at = ? WHERE id = ? AND examined_at IS NULL",
                    (at.isoformat(), claim.id),
                )
                if marked.rowcount != 1:
                    raise StoreUnusable(f"the claim {claim.id} was examined by another meanwhile")

    def record(self, events: Sequence[Event]) -> None:
        """Write events that change nothing else."""
        with self._transaction():
            self._record(events)

    def backup(self, target: Path) -> None:
        """Write a consistent copy that needs no second file beside it."""
        copy = sqlite3.connect(target, isolation_level=None)
        try:
            self._db.backup(copy)
            mode = copy.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
            if mode != "delete":
                raise StoreUnusable(f"the copy stays in journal mode {mode}")
        finally:
            copy.close()

    def _write(self, changes: Changes) -> None:
        for claim in changes.claims:
            self._db.execute(
                "INSERT INTO claims (id, seq, text, subject, day, status, restatement, restates,"
                " anchor, valid_until, asserted_at)"
                " VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM claims),"
                " ?, ?, ?, 'ACTIVE', ?, ?, ?, ?, ?)",
                (
                    claim.id,
                    claim.text,
                    claim.subject,
                    claim.day,
                    int(claim.restatement),
                    claim.restates,
                    claim.anchor,
                    claim.valid_until,
                    claim.asserted_at,
                ),
            )
            self._db.executemany(
                "INSERT INTO claim_sources (claim_id, note) VALUES (?, ?)",
                [(claim.id, source) for source in claim.sources],
            )
        for retirement in changes.retirements:
            retired = self._db.execute(
                "UPDATE claims SET status = 'SUPERSEDED', reason = ?, retired_by = ?,"
                " retired_at = ? WHERE id = ? AND status = 'ACTIVE'",
                (retirement.reason, retirement.winner, retirement.at, retirement.loser),
            )
            if retired.rowcount != 1:
                raise StoreUnusable(
                    f"the claim {retirement.loser} was retired by another meanwhile"
                )
        self._record(changes.events)

    def _record(self, events: Sequence[Event]) -> None:
        self._db.executemany(
            "INSERT INTO events (type, occurred_at, payload) VALUES (?, ?, ?)",
            [
                (e.type, e.occurred_at, json.dumps(e.payload, ensure_ascii=False, sort_keys=True))
                for e in events
            ],
        )
