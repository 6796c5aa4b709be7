"""The memory engine's store, read from a snapshot into the shared nouns.

A snapshot is hostile input: the system under test wrote it. It is read from a throw-away copy, by
a connection that can neither write nor call anything the file brings along, within bounds on time
and size. What cannot be mapped is named in ``Store.unmapped``, never dropped in silence.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner.errors import UnreadableStore
from runner.model import Claim, Event, OtherEvent, RestatementExamined, Store, Superseded
from runner.systems._sqlite import Row, Snapshot, opened

FILE = "memory.db"
SCHEMA_VERSION = 1
TABLES: Mapping[str, tuple[str, ...]] = {
    "claims": (
        *("id", "seq", "text", "subject", "day", "status", "reason", "restatement", "restates"),
        *("anchor", "retired_by", "valid_until", "asserted_at", "retired_at", "examined_at"),
    ),
    "claim_sources": ("claim_id", "note"),
    "events": ("seq", "type", "occurred_at", "payload"),
    "meta": ("key", "value"),
    "notes": (*("name", "seq", "sha256", "text", "day", "status", "received_at", "finished_at"),),
}
"""Every table and column of the schema."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""


def read(snapshot_dir: Path) -> Store:
    """What the engine's store holds: claims and events in the order they were written.

    Raises:
        HostileSnapshot: the store is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of the memory engine, or of a version not known here.
    """
    with opened(snapshot_dir / FILE) as snapshot:
        if snapshot.user_version != SCHEMA_VERSION:
            raise UnreadableStore(
                f"The store has schema {snapshot.user_version}; known here: {SCHEMA_VERSION}."
            )
        return _Reading(snapshot).store()


class _Unmappable(Exception):
    """A row holds something that no noun has a place for."""


class _Reading:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._unmapped: list[str] = []

    def store(self) -> Store:
        self._tables()
        self._notes()
        sources = self._sources()
        claims = tuple(self._claims(sources))
        self._references(claims)
        events = tuple(self._events())
        kept = self._unmapped[:MAX_UNMAPPED]
        if len(self._unmapped) > MAX_UNMAPPED:
            kept.append(f"and {len(self._unmapped) - MAX_UNMAPPED} more of the kind")
        return Store(claims=claims, events=events, unmapped=tuple(kept))

    def _tables(self) -> None:
        found = self._snapshot.tables()
        for name, columns in TABLES.items():
            if name not in found:
                raise UnreadableStore(f"The store has no table {name}.")
            missing = sorted(set(columns) - set(found[name]))
            if missing:
                raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
            for extra in sorted(set(found[name]) - set(columns)):
                self._unmapped.append(f"column {name}.{extra} is not known")
        for name in sorted(set(found) - set(TABLES)):
            self._unmapped.append(f"table {name} is not known")

    def _notes(self) -> None:
        for row in self._snapshot.rows("SELECT name, status FROM notes ORDER BY seq"):
            try:
                name, status = _text(row, "name"), _text(row, "status")
            except _Unmappable as error:
                self._unmapped.append(f"a note: {error}")
                continue
            if status != "done":
                self._unmapped.append(f"note {name} is {status}: what it says is not in the store")

    def _sources(self) -> dict[str, list[str]]:
        sources: dict[str, list[str]] = {}
        rows = self._snapshot.rows(
            "SELECT claim_id, note, name IS NULL AS dangling FROM claim_sources"
            " LEFT JOIN notes ON notes.name = note ORDER BY notes.seq, note"
        )
        for row in rows:
            try:
                claim, note = _text(row, "claim_id"), _text(row, "note")
            except _Unmappable as error:
                self._unmapped.append(f"a source: {error}")
                continue
            sources.setdefault(claim, []).append(note)
            if row["dangling"]:
                self._unmapped.append(f"claim {claim} comes from note {note}, which is not there")
        return sources

    def _claims(self, sources: Mapping[str, list[str]]) -> Iterator[Claim]:
        seen: Counter[str] = Counter()
        for number, row in enumerate(
            self._snapshot.rows("SELECT * FROM claims ORDER BY seq, id"), start=1
        ):
            try:
                claim = _claim(row, sources)
            except (_Unmappable, ValidationError) as error:
                self._unmapped.append(f"claim in row {number}: {_short(error)}")
                continue
            seen[claim.id] += 1
            if seen[claim.id] > 1:
                self._unmapped.append(f"claim in row {number}: the id {claim.id} is there already")
                continue
            yield claim
        for orphan in sorted(set(sources) - set(seen)):
            self._unmapped.append(f"a source names the claim {orphan}, which is not there")

    def _references(self, claims: tuple[Claim, ...]) -> None:
        known = {claim.id for claim in claims}
        for claim in claims:
            for what, other in (("retired by", claim.retired_by), ("anchored in", claim.anchor)):
                if other is not None and other not in known:
                    self._unmapped.append(f"claim {claim.id} is {what} {other}, which is not there")
            if claim.active and (claim.reason or claim.retired_by or claim.retired_at):
                self._unmapped.append(f"claim {claim.id} is ACTIVE and retired at once")

    def _events(self) -> Iterator[Event]:
        for number, row in enumerate(
            self._snapshot.rows("SELECT type, occurred_at, payload FROM events ORDER BY seq"),
            start=1,
        ):
            try:
                kind = _text(row, "type")
                payload = _payload(_text(row, "payload"))
                payload["occurred_at"] = _text(row, "occurred_at")
            except _Unmappable as error:
                self._unmapped.append(f"event in row {number}: {error}")
                continue
            try:
                yield _event(kind, payload)
            except ValidationError as error:
                # Known by its name and not by its content: kept as it is, and said so.
                self._unmapped.append(f"event {number} ({kind}): {_short(error)}")
                yield OtherEvent(type=kind, payload=payload)


def _claim(row: Row, sources: Mapping[str, list[str]]) -> Claim:
    claim_id = _text(row, "id")
    return Claim(
        id=claim_id,
        text=_text(row, "text"),
        status=_text(row, "status"),
        reason=_text_or_none(row, "reason"),
        sources=tuple(sources.get(claim_id, ())),
        restatement=_flag(row, "restatement"),
        anchor=_text_or_none(row, "anchor"),
        retired_by=_text_or_none(row, "retired_by"),
        valid_until=_day_or_none(row, "valid_until"),
        asserted_at=_time_or_none(row, "asserted_at"),
        retired_at=_time_or_none(row, "retired_at"),
    )


def _event(kind: str, payload: dict[str, Any]) -> Event:
    if kind == "UPDATE_SUPERSESSION":
        named = {name: payload.get(name) for name in ("loser", "winner", "decided_by")}
        return Superseded.model_validate({**named, "payload": payload})
    if kind == "RESTATEMENT_EXAMINED":
        names = (
            "claim",
            "anchor",
            "retired_by",
            "contradicts",
            "outcome",
            "reason",
            "restatement",
        )
        named = {name: payload.get(name) for name in names}
        return RestatementExamined.model_validate({**named, "payload": payload})
    return OtherEvent(type=kind, payload=payload)


def _payload(text: str) -> dict[str, Any]:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        payload = json.loads(text, parse_constant=refuse)
        json.dumps(payload, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise _Unmappable(f"the payload is not JSON: {_short(error)}") from error
    if not isinstance(payload, dict):
        raise _Unmappable("the payload is no JSON object")
    return payload


def _text(row: Row, name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise _Unmappable(f"{name} is no text")
    return value


def _text_or_none(row: Row, name: str) -> str | None:
    return None if row[name] is None else _text(row, name)


def _flag(row: Row, name: str) -> bool:
    value = row[name]
    if value not in (0, 1) or not isinstance(value, int):
        raise _Unmappable(f"{name} is neither 0 nor 1")
    return value == 1


def _day_or_none(row: Row, name: str) -> date | None:
    text = _text_or_none(row, name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise _Unmappable(f"{name} is no day: {text[:50]!r}") from error


def _time_or_none(row: Row, name: str) -> datetime | None:
    text = _text_or_none(row, name)
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise _Unmappable(f"{name} is no time: {text[:50]!r}") from error
    if time.tzinfo is None:
        raise _Unmappable(f"{name} has no time zone")
    return time


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )[:300]
    return str(error)[:300]
