"""The page router's store, read from a snapshot into the shared nouns.

A router keeps no claims. What there is to tell of its store are events: which pages it left out
because another replaced them, and what it learned. The snapshot is hostile input and is read as
any other; see ``runner.systems._sqlite``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from runner.errors import UnreadableStore
from runner.model import OtherEvent, Store
from runner.systems._sqlite import Row, Snapshot, opened

FILE = "router.db"
SCHEMA_VERSION = 1
TABLES: Mapping[str, tuple[str, ...]] = {
    "pages": ("name", "seq", "sha256", "text"),
    "replaced": ("page", "newer", "said_in", "words"),
    "triggers": ("page", "question", "quote", "learned_at"),
}
"""Every table and column of the schema."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""


def read(snapshot_dir: Path) -> Store:
    """What the router left out and what it learned, as events.

    Raises:
        HostileSnapshot: the store is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of the page router, or of a version not known here.
    """
    with opened(snapshot_dir / FILE) as snapshot:
        if snapshot.user_version != SCHEMA_VERSION:
            raise UnreadableStore(
                f"The store has schema {snapshot.user_version}; known here: {SCHEMA_VERSION}."
            )
        unmapped = list(_tables(snapshot))
        events = tuple(_events(snapshot, unmapped))
    kept = unmapped[:MAX_UNMAPPED]
    if len(unmapped) > MAX_UNMAPPED:
        kept.append(f"and {len(unmapped) - MAX_UNMAPPED} more of the kind")
    return Store(claims=(), events=events, unmapped=tuple(kept))


def _tables(snapshot: Snapshot) -> Iterator[str]:
    found = snapshot.tables()
    for name, columns in TABLES.items():
        if name not in found:
            raise UnreadableStore(f"The store has no table {name}.")
        missing = sorted(set(columns) - set(found[name]))
        if missing:
            raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
        for extra in sorted(set(found[name]) - set(columns)):
            yield f"column {name}.{extra} is not known"
    for name in sorted(set(found) - set(TABLES)):
        yield f"table {name} is not known"


def _events(snapshot: Snapshot, unmapped: list[str]) -> Iterator[OtherEvent]:
    for kind, question in (
        ("PAGE_REPLACED", "SELECT page, newer, said_in, words FROM replaced ORDER BY page"),
        (
            "TRIGGER_LEARNED",
            "SELECT page, question, quote, learned_at FROM triggers"
            " ORDER BY learned_at, page, question",
        ),
    ):
        for number, row in enumerate(snapshot.rows(question), start=1):
            wrong = _wrong(row)
            if wrong:
                unmapped.append(f"{kind} in row {number}: {wrong} is no text")
                continue
            yield OtherEvent(type=kind, payload=dict(row))


def _wrong(row: Row) -> str | None:
    """The first column that is no text; only ``newer`` may be nothing."""
    return next(
        (
            name
            for name, value in row.items()
            if not isinstance(value, str) and not (name == "newer" and value is None)
        ),
        None,
    )
