"""basic-memory's store, read from a snapshot: every statement of every page, and when it came in.

Its pages are the Markdown files themselves; the database beside them says which there are and when
each was taken in. It keeps no statuses and retires nothing, so that every statement of a page is a
claim that holds for as long as the page is there. A snapshot is hostile input: see
``runner.systems._sqlite``. What cannot be mapped is named in ``Store.unmapped``.
"""

import os
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path, PurePosixPath

from runner.errors import HostileSnapshot
from runner.model import ACTIVE, Claim, Store
from runner.statements import statements
from runner.systems._rows import Unmappable, text, time_or_none
from runner.systems._sqlite import Row, opened

FILE = "memory.db"
VAULT = "vault"
PROJECT = "bench"
SUFFIX = ".md"
MAX_PAGE_BYTES = 4 * 2**20
"""Largest page that is read."""
MAX_UNMAPPED = 1000
"""Sentences kept about what could not be mapped; the rest is a number."""

_TABLES = {
    "entity": ("id", "file_path", "created_at", "project_id"),
    "project": ("id", "name"),
}
"""What is asked for. The indexes by words and by vectors are never opened."""
_ENTITIES = """
SELECT entity.id AS id, entity.file_path AS file_path, entity.created_at AS created_at,
       project.name AS project
FROM entity JOIN project ON project.id = entity.project_id
ORDER BY entity.id
"""


def read(snapshot_dir: Path) -> Store:
    """Every statement as an active claim, its page as its source.

    Raises:
        HostileSnapshot: a file is no plain file, too big, or leads out of the snapshot.
        UnreadableStore: it is no store of basic-memory.
    """
    with opened(snapshot_dir / FILE, computed=True) as snapshot:
        for table, columns in _TABLES.items():
            snapshot.plain(table, columns)
        entities = snapshot.rows(_ENTITIES)
    vault = snapshot_dir / VAULT
    claims: list[Claim] = []
    unmapped: list[str] = []
    known: set[str] = set()
    for entity in entities:
        try:
            if text(entity, "project") != PROJECT:
                raise Unmappable("it is of another project")
            name = text(entity, "file_path")
            known.add(name)
            claims.extend(_claims(entity, _page(vault, name)))
        except Unmappable as error:
            unmapped.append(f"entity {entity['id']!r}: {error}")
    unmapped.extend(f"file {name} is in no entity" for name in _files(vault) if name not in known)
    kept = unmapped[:MAX_UNMAPPED]
    if len(unmapped) > MAX_UNMAPPED:
        kept.append(f"and {len(unmapped) - MAX_UNMAPPED} more of the kind")
    return Store(claims=tuple(claims), unmapped=tuple(kept))


def _claims(entity: Row, page: str) -> Iterator[Claim]:
    name, taken = text(entity, "file_path"), time_or_none(entity, "created_at")
    if taken is not None and taken.tzinfo is None:
        taken = taken.replace(tzinfo=UTC)
    for number, said in enumerate(statements(page), start=1):
        yield Claim(
            id=f"{entity['id']!r}.{number}",
            text=said,
            status=ACTIVE,
            sources=(name,),
            asserted_at=taken,
        )


def _page(vault: Path, name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise HostileSnapshot(f"A page leads out of the snapshot: {name[:80]!r}.")
    if path.suffix != SUFFIX:
        raise Unmappable(f"{name} is no Markdown")
    file = vault / path
    if any(folder.is_symlink() for folder in (file, *file.parents) if vault in folder.parents):
        raise HostileSnapshot(f"A page is a link: {name[:80]!r}.")
    if not file.is_file():
        raise Unmappable(f"its file {name} is not there")
    if file.stat().st_size > MAX_PAGE_BYTES:
        raise HostileSnapshot(f"A page is larger than {MAX_PAGE_BYTES} bytes: {name[:80]!r}.")
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise Unmappable(f"its file {name} is not UTF-8") from error


def _files(vault: Path) -> Iterator[str]:
    found = (
        (Path(folder) / name).relative_to(vault).as_posix()
        for folder, _, names in os.walk(vault)
        for name in names
    )
    yield from sorted(found)
