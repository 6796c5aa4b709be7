"""A consistent copy of the database and of the vector store, put where it can be fetched.

Nothing is written between two verbs: each waits until the worker has done what it was given.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from claude_mem_driver.store import DATABASE, reading

CHROMA = "chroma"


def snapshot(data: Path, exchange: Path) -> Path:
    """Write a copy into a fresh numbered folder of ``exchange`` and return the folder.

    It holds claude-mem's own names: ``claude-mem.db`` and ``chroma/``. The folder gets its name
    last, so that one that is there is whole.

    Raises:
        OSError: the folder cannot be written.
        sqlite3.Error: the copy failed, for instance for want of room.
    """
    number = 1 + max((int(p.name) for p in exchange.iterdir() if p.name.isdecimal()), default=0)
    partial = exchange / f".partial-{number}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o755)
    try:
        _copied(data / DATABASE, partial / DATABASE)
        for file in sorted((data / CHROMA).rglob("*")):
            target = partial / file.relative_to(data)
            if file.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".sqlite3":
                _copied(file, target)
            elif not file.name.endswith((".sqlite3-wal", ".sqlite3-shm")):
                shutil.copyfile(file, target)
        return partial.rename(exchange / str(number))
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _copied(source: Path, target: Path) -> None:
    with reading(source) as opened, closing(sqlite3.connect(target)) as copy:
        opened.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    target.chmod(0o644)
    with target.open("rb") as copied:
        os.fsync(copied.fileno())
