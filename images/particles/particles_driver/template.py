"""``python -m particles_driver.template FILE``: an empty store with every migration.

Sixty migrations take the engine seconds, and leave the same store each time; a run copies it. To
the last byte it is the same where time stands still and strings are hashed alike (PYTHONHASHSEED).
"""

import hashlib
import os
import sqlite3
import sys
import tempfile
import uuid
from contextlib import closing
from pathlib import Path

from particles_driver import verbs
from particles_driver.settings import Place, Settings

ID, TOKEN = "id", "token"
"""Columns that the engine fills with what is drawn: a version 4 UUID, and bytes."""


def main(target: Path) -> int:
    """Have the engine make a store, and put it there as one file."""
    os.environ.pop(verbs.TEMPLATE, None)
    with tempfile.TemporaryDirectory() as home:
        place = Place(Path(home).resolve())
        place.prepare(Settings("none", {}, {"same_slot_admits": True, "batches": False}).config(""))
        os.environ.update(place.environment())
        verbs.create(place)
        # The engine still holds its own open: what it has not yet written there comes along.
        source, copy = sqlite3.connect(place.store), sqlite3.connect(target)
        with closing(source), closing(copy):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            settle(copy)
    return 0


def settle(store: sqlite3.Connection) -> None:
    """Leave nothing in an empty store to chance: ids and tokens of the rows it begins with, which
    nothing refers to yet, the order in which its indexes were made, and where in it what lies.
    """
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%'"
    for (table,) in store.execute(f"{tables} ESCAPE '~' ORDER BY name").fetchall():
        rows = store.execute(f'SELECT rowid, * FROM "{table}" ORDER BY rowid')  # noqa: S608
        names = [column[0] for column in rows.description]
        for row in rows.fetchall():
            told = dict(zip(names, row, strict=True))
            drawn = {name for name, value in told.items() if _by_chance(name, value)}
            rest = repr((table, [row[0], *(told[name] for name in names if name not in drawn)]))
            digest = hashlib.sha256(rest.encode()).digest()
            for name in drawn:
                given = digest[: len(told[name])]
                value = given if name == TOKEN else str(uuid.UUID(bytes=digest[:16], version=4))
                change = f'UPDATE "{table}" SET "{name}" = ? WHERE rowid = ?'  # noqa: S608
                store.execute(change, (value, row[0]))
    indexes = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    for name, made_by in store.execute(f"{indexes} ORDER BY name").fetchall():
        store.execute(f'DROP INDEX "{name}"')
        store.execute(made_by)
    store.commit()
    store.execute("VACUUM")


def _by_chance(name: str, value: object) -> bool:
    if name == TOKEN:
        return isinstance(value, bytes)
    try:
        return name == ID and isinstance(value, str) and uuid.UUID(value).version == 4
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
