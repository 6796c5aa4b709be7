"""claude-mem's store, read from a snapshot into the shared nouns.

A snapshot is hostile input and is read as one (see ``runner.systems._sqlite``). An observation is a
note of what a tool brought: a title, facts, and a narrative that tells them once more. Its facts
and the sentences of its narrative are claims, each once; its title stands for it where it has
neither. claude-mem keeps no status and retires nothing, so every claim is current. A claim comes
from the pages that its observation says it read.

Its summaries of sessions are no claims: a search for observations does not find them. They are
kept as events, so that nothing is hidden.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from runner.errors import UnreadableStore
from runner.model import ACTIVE, Claim, OtherEvent, Store
from runner.statements import statements
from runner.systems._rows import Unmappable, short, text, text_or_none
from runner.systems._sqlite import Row, Snapshot, opened
from runner.systems.claude_mem._call import FOLDER

FILE = "claude-mem.db"
VERSIONS = frozenset({52})
"""The last change of the schema in stores that are known here: 52 is 13.25.3's."""
_SEARCHED = ("observations", "session_summaries", "user_prompts")
VIRTUAL = frozenset(f"{table}_fts" for table in _SEARCHED)
"""Its full text. Nothing of it is read."""
TRIGGERS = frozenset(f"{table}_{what}" for table in _SEARCHED for what in ("ai", "ad", "au"))
"""What keeps the full text up to date."""
SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")
TABLES: Mapping[str, tuple[str, ...]] = {
    "observations": (
        *("id", "type", "title", "facts", "narrative", "files_read"),
        "created_at_epoch",
    ),
    "schema_versions": ("version",),
    "session_summaries": ("id", *SAID, "created_at"),
}
"""The tables and columns that are read. The worker keeps others: its work, not what it holds."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""


def read(snapshot_dir: Path) -> Store:
    """What the store holds: claims in the order their observations were made.

    Raises:
        HostileSnapshot: the store is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of claude-mem, or of a version not known here.
    """
    with opened(snapshot_dir / FILE) as snapshot:
        return _Reading(snapshot).store()


class _Reading:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._unmapped: list[str] = []

    def store(self) -> Store:
        self._tables()
        claims = tuple(self._claims())
        events = tuple(self._summaries())
        kept = self._unmapped[:MAX_UNMAPPED]
        if len(self._unmapped) > MAX_UNMAPPED:
            kept.append(f"and {len(self._unmapped) - MAX_UNMAPPED} more of the kind")
        return Store(claims=claims, events=events, unmapped=tuple(kept))

    def _tables(self) -> None:
        found = self._snapshot.tables(TRIGGERS, VIRTUAL)
        for name, columns in TABLES.items():
            if name not in found:
                raise UnreadableStore(f"The store has no table {name}.")
            missing = sorted(set(columns) - set(found[name]))
            if missing:
                raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
        versions = [row["version"] for row in self._select("schema_versions", "version")]
        if not versions or versions[-1] not in VERSIONS:
            known = ", ".join(map(str, sorted(VERSIONS)))
            raise UnreadableStore(f"The store's schema is {versions[-1:]!r:.80}; known: {known}.")

    def _select(self, table: str, order: str) -> list[Row]:
        return self._snapshot.rows(
            f"SELECT {', '.join(TABLES[table])} FROM {table} ORDER BY {order}"  # noqa: S608
        )

    def _claims(self) -> Iterator[Claim]:
        for number, row in enumerate(self._select("observations", "id"), start=1):
            try:
                yield from self._of(row)
            except (Unmappable, ValidationError) as error:
                self._unmapped.append(f"observation in row {number}: {short(error)}")

    def _of(self, row: Row) -> list[Claim]:
        name, at = _id(row), _time(row)
        sources = tuple(self._sources(name, row))
        said = [*(one for fact in _list(row, "facts") for one in statements(fact))]
        said += statements(text_or_none(row, "narrative") or "")
        if not said:
            self._unmapped.append(f"observation {name} says nothing but its title")
            said = [text(row, "title")]
        return [
            Claim(id=f"{name}.{n}", text=one, status=ACTIVE, sources=sources, asserted_at=at)
            for n, one in enumerate(dict.fromkeys(said), start=1)
        ]

    def _sources(self, observation: int, row: Row) -> Iterator[str]:
        files = dict.fromkeys(_list(row, "files_read"))
        if not files:
            self._unmapped.append(f"observation {observation} does not say what it was made from")
        for file in files:
            name = file.removeprefix(FOLDER)
            if name.startswith("/"):
                self._unmapped.append(f"observation {observation} was made from {name:.200}")
            yield name

    def _summaries(self) -> Iterator[OtherEvent]:
        for number, row in enumerate(self._select("session_summaries", "id"), start=1):
            try:
                payload = {name: text_or_none(row, name) for name in (*SAID, "created_at")}
            except Unmappable as error:
                self._unmapped.append(f"summary in row {number}: {short(error)}")
                continue
            yield OtherEvent(type="session_summary", payload=dict(payload))


def _id(row: Row) -> int:
    if not isinstance(row["id"], int):
        raise Unmappable("id is no number")
    return row["id"]


def _list(row: Row, name: str) -> list[str]:
    """A cell that holds a list of texts as JSON, or nothing."""
    written = text_or_none(row, name)
    try:
        found = [] if written is None else json.loads(written)
    except (ValueError, RecursionError) as error:
        raise Unmappable(f"{name} is not JSON: {short(error)}") from error
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise Unmappable(f"{name} is no list of texts")
    return found


def _time(row: Row) -> datetime:
    epoch = row["created_at_epoch"]
    if not isinstance(epoch, int):
        raise Unmappable("created_at_epoch is no number of milliseconds")
    try:
        return datetime.fromtimestamp(epoch / 1000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise Unmappable(f"created_at_epoch is no time: {epoch}") from error
