"""mem0's store, read from a snapshot into the shared nouns.

A snapshot is hostile input and is read as one (see ``runner.systems._sqlite`` and ``_pickled``).
It holds two databases: the points of the vector store, which are what a search finds, and the
history, which says what was done to each memory and when.

* a point is a memory, and a claim that is current: mem0 keeps no status;
* an older wording in the history of a memory (``UPDATE``) is a claim that was retired by the next
  one, with its event; a memory that was taken out (``DELETE``) is a retired claim that nothing
  replaced. The versions a bench runs never do either by themselves;
* where the two disagree the points hold, and the difference is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from runner.errors import UnreadableStore
from runner.model import ACTIVE, Claim, Event, OtherEvent, Store, Superseded
from runner.systems._rows import Unmappable, short, text, text_or_none, time_or_none
from runner.systems._sqlite import Row, opened
from runner.systems.mem0._pickled import Point, point

HISTORY = "history.db"
POINTS = "qdrant/collection/mem0/storage.sqlite"
SOURCE = "source"
"""The field of a memory's metadata that names its note."""
TABLES: Mapping[str, tuple[str, ...]] = {
    "history": (
        *("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"),
        *("is_deleted", "actor_id", "role"),
    ),
    "messages": ("id", "session_scope", "role", "content", "name", "created_at"),
}
"""The history's tables. Of ``messages`` nothing is read: it holds the last texts as they came."""
UPDATE = "UPDATE"
LOST = "LOST"
STATUSES: Mapping[str, str] = {UPDATE: "UPDATED", "DELETE": "DELETED", LOST: LOST}
"""What a claim is called that does not stand, by the event that ended it. ``LOST`` is this reader's
own word: the history still has it, the store has not."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""


def read(snapshot_dir: Path) -> Store:
    """What the store holds: memories in the order they were first added.

    Raises:
        HostileSnapshot: a database is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of mem0, or of a form not known here.
    """
    unmapped: list[str] = []
    points = dict(_points(snapshot_dir, unmapped))
    lives = _history(snapshot_dir, unmapped)
    claims: list[Claim] = []
    events: list[Event] = []
    for memory in dict.fromkeys([*lives, *points]):
        life, stored = lives.get(memory, _Life(memory)), points.get(memory)
        unmapped += life.settle(stored)
        claims += life.claims(stored.payload if stored else {}, unmapped)
        events += life.events()
    kept = unmapped[:MAX_UNMAPPED]
    if len(unmapped) > MAX_UNMAPPED:
        kept.append(f"and {len(unmapped) - MAX_UNMAPPED} more of the kind")
    return Store(claims=tuple(claims), events=tuple(events), unmapped=tuple(kept))


# ---------------------------------------------------------------- what a search finds


def _points(snapshot_dir: Path, unmapped: list[str]) -> Iterator[tuple[str, Point]]:
    with opened(snapshot_dir / POINTS) as snapshot:
        if set(snapshot.tables().get("points", ())) != {"id", "point"}:
            raise UnreadableStore("The vector store has no table of points of a known form.")
        rows = snapshot.rows("SELECT point FROM points ORDER BY rowid")
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        try:
            pickled = row["point"]
            if not isinstance(pickled, bytes):
                raise Unmappable("it is no pickle")
            found = point(pickled)
            text(found.payload, "data")
        except (Unmappable, LookupError) as error:
            unmapped.append(f"point in row {number}: {short(error)}")
            continue
        if found.id in seen:
            unmapped.append(f"point in row {number}: {found.id} is there already")
            continue
        seen.add(found.id)
        yield found.id, found


# ---------------------------------------------------------------- what was done to it


@dataclass(frozen=True, slots=True)
class _Wording:
    """What a memory said for a while."""

    text: str
    since: datetime | None
    until: datetime | None = None
    ended: str | None = None
    """The event that ended it; none while it stands."""


class _Life:
    """One memory's history, as far as it was read."""

    def __init__(self, memory: str) -> None:
        self._memory = memory
        self._wordings: list[_Wording] = []
        self._told: list[tuple[int, str, dict[str, Any]]] = []
        """Events but for additions: how many wordings there were by then, kind and row."""

    def take(self, row: Row) -> None:
        """Go one row of the history on."""
        kind, new = text(row, "event"), text_or_none(row, "new_memory")
        created, updated = time_or_none(row, "created_at"), time_or_none(row, "updated_at")
        if kind in ("ADD", "UPDATE", "DELETE") and (new is None) is not (kind == "DELETE"):
            raise Unmappable(f"{kind} with what no such event has, or without what it has")
        if kind in ("UPDATE", "DELETE"):
            self._end(kind, text_or_none(row, "old_memory"), created, updated)
        if kind in ("ADD", "UPDATE") and new is not None:
            self._wordings.append(_Wording(new, created if kind == "ADD" else updated))
        if kind != "ADD":
            payload = {name: value for name, value in row.items() if not isinstance(value, bytes)}
            self._told.append((len(self._wordings), kind, payload))

    def _end(
        self, kind: str, old: str | None, created: datetime | None, updated: datetime | None
    ) -> None:
        if not self._wordings or self._wordings[-1].ended is not None:
            if old is None:
                raise Unmappable(f"{kind} of a memory that was never added")
            self._wordings.append(_Wording(old, created))
        self._wordings[-1] = replace(self._wordings[-1], until=updated, ended=kind)

    def settle(self, point: Point | None) -> Iterator[str]:
        """Hold the history to what is stored; what does not fit, a sentence each."""
        standing = bool(self._wordings) and self._wordings[-1].ended is None
        if point is None:
            if standing:
                # Nothing finds it any more, and nothing says why.
                self._wordings[-1] = replace(self._wordings[-1], ended=LOST)
                yield f"memory {self._memory} is in the history and not in the store"
            return
        stored = str(point.payload["data"])
        if not standing:
            why = "taken out" if self._wordings else "not there"
            yield f"memory {self._memory} is in the store and {why} in the history"
            self._wordings.append(_Wording(stored, None))
        elif self._wordings[-1].text != stored:
            yield f"memory {self._memory} has another text in the history"
            self._wordings[-1] = replace(self._wordings[-1], text=stored)

    def claims(self, payload: Mapping[str, Any], unmapped: list[str]) -> Iterator[Claim]:
        """A claim a wording."""
        source, stored, ends = None, None, None
        try:
            source = text_or_none(payload, SOURCE) if SOURCE in payload else None
            stored = time_or_none(payload, "created_at") if "created_at" in payload else None
            ends = _day_or_none(payload, "expiration_date")
        except Unmappable as error:
            unmapped.append(f"memory {self._memory}: {error}")
        if source is None:
            unmapped.append(f"memory {self._memory} does not say which note it came from")
        for number, wording in enumerate(self._wordings, start=1):
            stands, replaced = wording.ended is None, wording.ended == UPDATE
            yield Claim(
                id=self._id(number),
                text=wording.text,
                status=ACTIVE if stands else STATUSES[wording.ended or ""],
                reason=wording.ended,
                sources=() if source is None else (source,),
                retired_by=self._id(number + 1) if replaced else None,
                valid_until=ends if stands else None,
                asserted_at=wording.since or stored,
                retired_at=wording.until,
            )

    def events(self) -> Iterator[Event]:
        """What happened to it but for its addition, in order."""
        for count, kind, payload in self._told:
            if kind == UPDATE:
                yield Superseded(
                    loser=self._id(count - 1),
                    winner=self._id(count),
                    decided_by="update",
                    payload=payload,
                )
            else:
                yield OtherEvent(type=kind, payload=payload)

    def _id(self, number: int) -> str:
        """The last wording has the memory's own id, those before it that and a number."""
        return self._memory if number == len(self._wordings) else f"{self._memory}@{number}"


def _history(snapshot_dir: Path, unmapped: list[str]) -> dict[str, _Life]:
    with opened(snapshot_dir / HISTORY) as snapshot:
        found = snapshot.tables()
        for name, columns in TABLES.items():
            if name not in found:
                raise UnreadableStore(f"The history has no table {name}.")
            missing = sorted(set(columns) - set(found[name]))
            if missing:
                raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
        unmapped += [f"table {name} is not known" for name in sorted(set(found) - set(TABLES))]
        rows = snapshot.rows(
            f"SELECT {', '.join(TABLES['history'])} FROM history ORDER BY rowid"  # noqa: S608
        )
    lives: dict[str, _Life] = {}
    for number, row in enumerate(rows, start=1):
        try:
            memory = text(row, "memory_id")
            lives.setdefault(memory, _Life(memory)).take(row)
        except Unmappable as error:
            unmapped.append(f"history in row {number}: {short(error)}")
    return lives


def _day_or_none(payload: Mapping[str, Any], name: str) -> date | None:
    written = text_or_none(payload, name) if name in payload else None
    try:
        return None if written is None else date.fromisoformat(written)
    except ValueError as error:
        raise Unmappable(f"{name} is no day: {written!r:.50}") from error
