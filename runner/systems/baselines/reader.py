"""The baselines' store, read from a snapshot: pages as they were handed over, and not one claim.

A snapshot is hostile input like any other, and is opened so that it can do nothing. What is in it
beyond the pages is named in ``Store.unmapped``.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from runner.errors import UnreadableStore
from runner.model import Store
from runner.systems._rows import Unmappable, text
from runner.systems._sqlite import Snapshot, opened

FILE = "pages.db"
SCHEMA_VERSION = 1
TABLES: Mapping[str, tuple[str, ...]] = {"pages": ("name", "sha256", "text")}
"""Every table and column of the schema."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""


def read(snapshot_dir: Path) -> Store:
    """An empty store: nothing that is claimed or happened is in there, only pages.

    Raises:
        HostileSnapshot: the store is no plain file, too big, or too much to read.
        UnreadableStore: it is no store of the baselines, or of a version not known here.
    """
    with opened(snapshot_dir / FILE) as snapshot:
        if snapshot.user_version != SCHEMA_VERSION:
            raise UnreadableStore(
                f"The store has schema {snapshot.user_version}; known here: {SCHEMA_VERSION}."
            )
        unmapped = [*_tables(snapshot), *_pages(snapshot)]
    kept = unmapped[:MAX_UNMAPPED]
    if len(unmapped) > MAX_UNMAPPED:
        kept.append(f"and {len(unmapped) - MAX_UNMAPPED} more of the kind")
    return Store(unmapped=tuple(kept))


def _tables(snapshot: Snapshot) -> Iterator[str]:
    found = snapshot.tables()
    for name, columns in TABLES.items():
        if name not in found:
            raise UnreadableStore(f"The store has no table {name}.")
        if missing := sorted(set(columns) - set(found[name])):
            raise UnreadableStore(f"The table {name} has no column {', '.join(missing)}.")
        for extra in sorted(set(found[name]) - set(columns)):
            yield f"column {name}.{extra} is not known"
    for name in sorted(set(found) - set(TABLES)):
        yield f"table {name} is not known"


def _pages(snapshot: Snapshot) -> Iterator[str]:
    for row in snapshot.rows("SELECT name, sha256, text FROM pages ORDER BY name"):
        try:
            name, digest, body = text(row, "name"), text(row, "sha256"), text(row, "text")
        except Unmappable as error:
            yield f"a page: {error}"
            continue
        if hashlib.sha256(body.encode()).hexdigest() != digest:
            yield f"page {name} is not the text it was when it was taken"
