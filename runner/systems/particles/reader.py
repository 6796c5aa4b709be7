"""linkedparticles' store, read from a snapshot into the shared nouns.

A snapshot is hostile input and is read as one (see ``runner.systems._sqlite``). The engine has no
field for some of what is asked here, so it is put together from what it does write:

* which claim retired another: its event of the update, or the claim that says it supersedes it;
* a restatement: a claim that its re-anchoring contributed to; its anchor is the retired claim
  named among its premises;
* a note's name: the last part of the address it was read from.

An examined claim that got a restatement leaves no event: the restatement itself says so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from runner.errors import UnreadableStore
from runner.model import Claim, Event, OtherEvent, RestatementExamined, Store, Superseded
from runner.systems._rows import (
    Unmappable,
    record,
    records,
    short,
    text,
    text_or_none,
    time_or_none,
)
from runner.systems._sqlite import Row, Snapshot, opened

FILE = "particles.db"
MIGRATIONS = frozenset({"052", "059"})
"""Last migrations of the stores that are known here: 052 is 1.192.2's, 059 is 1.214.1's."""
TRIGGERS = frozenset(
    {
        "trg_particles_journal_insert",
        "trg_particles_journal_update",
        "trg_particles_journal_delete",
        "trg_particle_changes_prune",
    }
)
"""What the engine itself has the store do when a claim changes."""
TABLES: Mapping[str, tuple[str, ...]] = {
    "alembic_version": ("version_num",),
    "corpus_entries": ("entry_id", "uri_r"),
    "operator_events": ("event_id", "event_type", "occurred_at", "payload"),
    "particles": (
        *("id", "content", "status", "status_reason", "supersedes", "provenance_json"),
        *("contributors_json", "embedding_model_id", "valid_from", "valid_until"),
        *("asserted_at", "retired_at"),
    ),
    "snapshots": ("snapshot_id", "entry_id", "extraction_status"),
}
"""The tables and columns that are read. The engine keeps others: its work, not what it holds."""
READ = "COMPLETE"
"""How a note stands whose claims are all in the store."""
REANCHOR = "consolidation:reanchor"
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""

_OUTCOMES = {
    "restated": "restated",
    "matched_existing": "restated",
    "unrestated": "kept_back",
    "dependency_rejected": "independent",
}


def read(snapshot_dir: Path) -> Store:
    """What the store holds: claims and events in the order they were written.

    Raises:
        HostileSnapshot: the store is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of linkedparticles, or of a version not known here.
    """
    with opened(snapshot_dir / FILE) as snapshot:
        return _Reading(snapshot).store()


@dataclass
class _Links:
    """What other rows say of a claim."""

    notes: dict[str, str] = field(default_factory=dict)
    """Names of notes by the entry they were read as."""
    winners: dict[str, str] = field(default_factory=dict)
    """What retired a claim, by the retired one."""


class _Reading:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._unmapped: list[str] = []
        self._links = _Links()

    def store(self) -> Store:
        self._tables()
        self._notes()
        events = list(self._event_rows())
        self._winners(events)
        claims = tuple(self._claims())
        self._references(claims)
        mapped = tuple(self._events(events))
        kept = self._unmapped[:MAX_UNMAPPED]
        if len(self._unmapped) > MAX_UNMAPPED:
            kept.append(f"and {len(self._unmapped) - MAX_UNMAPPED} more of the kind")
        return Store(claims=claims, events=mapped, unmapped=tuple(kept))

    def _tables(self) -> None:
        found = self._snapshot.tables(TRIGGERS)
        for name, columns in TABLES.items():
            if name not in found:
                raise UnreadableStore(f"The store has no table {name}.")
            missing = sorted(set(columns) - set(found[name]))
            if missing:
                raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
        versions = [row["version_num"] for row in self._select("alembic_version")]
        if len(versions) != 1 or versions[0] not in MIGRATIONS:
            known = ", ".join(sorted(MIGRATIONS))
            raise UnreadableStore(f"The store's migration is {versions!r:.80}; known: {known}.")

    def _select(self, table: str) -> list[Row]:
        # Rows are numbered as they are written; ids and times of the engine do not order them.
        return self._snapshot.rows(
            f"SELECT {', '.join(TABLES[table])} FROM {table} ORDER BY rowid"  # noqa: S608
        )

    def _notes(self) -> None:
        for row in self._select("corpus_entries"):
            try:
                address = text(row, "uri_r")
                self._links.notes[text(row, "entry_id")] = _last_part(address)
            except Unmappable as error:
                self._unmapped.append(f"a note: {error}")
        for row in self._select("snapshots"):
            try:
                note = self._links.notes.get(text(row, "entry_id"), "that is not there")
                status = text(row, "extraction_status")
            except Unmappable as error:
                self._unmapped.append(f"a reading of a note: {error}")
                continue
            if status != READ:
                self._unmapped.append(f"note {note} is {status}: what it says is not in the store")

    def _winners(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        for row in self._select("particles"):
            if isinstance(row["supersedes"], str) and isinstance(row["id"], str):
                self._links.winners[row["supersedes"]] = row["id"]
        for kind, payload in events:
            loser, winner = payload.get("retired_id"), payload.get("winner_id")
            if kind == "UPDATE_SUPERSESSION" and isinstance(loser, str) and isinstance(winner, str):
                self._links.winners[loser] = winner

    def _claims(self) -> Iterator[Claim]:
        seen: Counter[str] = Counter()
        for number, row in enumerate(self._select("particles"), start=1):
            try:
                claim = self._claim(row)
            except (Unmappable, ValidationError) as error:
                self._unmapped.append(f"claim in row {number}: {short(error)}")
                continue
            seen[claim.id] += 1
            if seen[claim.id] > 1:
                self._unmapped.append(f"claim in row {number}: the id {claim.id} is there already")
                continue
            if row["embedding_model_id"] is None:
                self._unmapped.append(
                    f"claim {claim.id} has no vector: without an encoder nothing is compared"
                )
            yield claim

    def _claim(self, row: Row) -> Claim:
        claim_id = text(row, "id")
        premises = records(row, "provenance_json")
        restatement = any(
            given.get("id") == REANCHOR for given in records(row, "contributors_json")
        )
        entries = [str(p.get("corpus_entry_id")) for p in premises if p.get("type") == "SOURCE"]
        for entry in entries:
            if entry not in self._links.notes:
                self._unmapped.append(f"claim {claim_id} comes from a note that is not there")
        named = (self._links.notes[entry] for entry in entries if entry in self._links.notes)
        anchors = [p.get("corpus_entry_id") for p in premises if p.get("type") == "PARTICLE"]
        active = row["status"] == "ACTIVE"
        return Claim(
            id=claim_id,
            text=text(row, "content"),
            status=text(row, "status"),
            reason=text_or_none(row, "status_reason"),
            sources=tuple(dict.fromkeys(named)),
            restatement=restatement,
            anchor=anchors[-1] if restatement and anchors else None,
            retired_by=None if active else self._links.winners.get(claim_id),
            valid_from=_day_or_none(row, "valid_from"),
            valid_until=_day_or_none(row, "valid_until"),
            asserted_at=_time_or_none(row, "asserted_at"),
            retired_at=_time_or_none(row, "retired_at"),
        )

    def _references(self, claims: tuple[Claim, ...]) -> None:
        known = {claim.id for claim in claims}
        for claim in claims:
            for what, other in (("retired by", claim.retired_by), ("anchored in", claim.anchor)):
                if other is not None and other not in known:
                    self._unmapped.append(f"claim {claim.id} is {what} {other}, which is not there")
            if claim.active and (claim.reason or claim.retired_at):
                self._unmapped.append(f"claim {claim.id} is ACTIVE and retired at once")

    def _event_rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, row in enumerate(self._select("operator_events"), start=1):
            try:
                kind = text(row, "event_type")
                payload = record(row, "payload")
                payload["event_id"] = text(row, "event_id")
                payload["occurred_at"] = text(row, "occurred_at")
            except Unmappable as error:
                self._unmapped.append(f"event in row {number}: {error}")
                continue
            yield kind, payload

    def _events(self, rows: list[tuple[str, dict[str, Any]]]) -> Iterator[Event]:
        for number, (kind, payload) in enumerate(rows, start=1):
            try:
                yield self._event(kind, payload)
            except ValidationError as error:
                # Known by its name and not by its content: kept as it is, and said so.
                self._unmapped.append(f"event {number} ({kind}): {short(error)}")
                yield OtherEvent(type=kind, payload=payload)

    def _event(self, kind: str, payload: dict[str, Any]) -> Event:
        if kind == "UPDATE_SUPERSESSION":
            return Superseded.model_validate(
                {
                    "loser": payload.get("retired_id"),
                    "winner": payload.get("winner_id"),
                    "decided_by": payload.get("decided_by"),
                    "payload": payload,
                }
            )
        if kind == "DEPENDENT_CLAIM_EXAMINED":
            return self._examined(payload)
        return OtherEvent(type=kind, payload=payload)

    def _examined(self, payload: dict[str, Any]) -> RestatementExamined:
        outcome, other = payload.get("outcome"), payload.get("other_id")
        anchor, why = payload.get("retired_id"), payload.get("why")
        kept_back = isinstance(why, str) and why.startswith("the restatement contradicts")
        return RestatementExamined.model_validate(
            {
                "claim": payload.get("particle_id"),
                "anchor": anchor,
                "retired_by": self._links.winners.get(anchor) if isinstance(anchor, str) else None,
                "contradicts": other if kept_back else None,
                "outcome": _OUTCOMES.get(outcome, outcome) if isinstance(outcome, str) else outcome,
                "reason": why if isinstance(why, str) else "",
                "restatement": other if outcome == "matched_existing" else None,
                "payload": payload,
            }
        )


def _last_part(address: str) -> str:
    return unquote(urlsplit(address).path).rpartition("/")[2] or address


def _day_or_none(row: Row, name: str) -> date | None:
    time = _time_or_none(row, name)
    return None if time is None else time.date()


def _time_or_none(row: Row, name: str) -> datetime | None:
    """A time of the engine's: UTC, and written without saying so."""
    time = time_or_none(row, name)
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
