"""A consistent copy of the store and of its history, put where it can be fetched.

Nothing writes between two verbs: what was added is committed by then, in both databases.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

HISTORY = "history.db"
QDRANT = "qdrant"
META = "meta.json"
POINTS = "storage.sqlite"


def snapshot(folder: Path, exchange: Path) -> Path:
    """Write a copy into a fresh numbered folder of ``exchange`` and return the folder.

    It holds what mem0 keeps under its own names: ``history.db``, ``qdrant/meta.json`` and
    ``qdrant/collection/NAME/storage.sqlite``. The folder gets its name last, so that one that is
    there is whole.

    Raises:
        OSError: the folder cannot be written, or mem0 has no store.
        sqlite3.Error: the copy failed, for instance for want of room.
    """
    number = 1 + max((int(p.name) for p in exchange.iterdir() if p.name.isdecimal()), default=0)
    partial = exchange / f".partial-{number}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o755)
    try:
        (partial / QDRANT).mkdir()
        _copied(folder / HISTORY, partial / HISTORY)
        for points in sorted((folder / QDRANT / "collection").glob(f"*/{POINTS}")):
            target = partial / points.relative_to(folder)
            target.parent.mkdir(parents=True)
            _copied(points, target)
        shutil.copyfile(folder / QDRANT / META, partial / QDRANT / META)
        return partial.rename(exchange / str(number))
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _copied(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as opened,
        closing(sqlite3.connect(target)) as copy,
    ):
        opened.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    target.chmod(0o644)
    with target.open("rb") as copied:
        os.fsync(copied.fileno())
