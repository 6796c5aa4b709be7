"""The pages that were taken, in one SQLite file, and consistent copies of it."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from baselines_driver.pages import Page

FILE = "pages.db"
SCHEMA_VERSION = 1
_SCHEMA = "CREATE TABLE pages (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, text TEXT NOT NULL)"


class Store:
    """Pages by name. What finds them is made anew from it and kept in memory."""

    def __init__(self, folder: Path) -> None:
        """Make a fresh store; one that was there before is gone.

        Raises:
            OSError: the folder cannot be written.
            sqlite3.Error: nor the file in it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).unlink(missing_ok=True)
        self._db = sqlite3.connect(folder / FILE)
        with self._db:
            self._db.execute(_SCHEMA)
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def put(self, pages: Sequence[Page]) -> int:
        """Keep pages, all or none of them; how many there are now."""
        rows = [
            (page.name, hashlib.sha256(page.text.encode()).hexdigest(), page.text) for page in pages
        ]
        with self._db:
            self._db.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
        (count,) = self._db.execute("SELECT count(*) FROM pages").fetchone()
        return int(count)

    def snapshot(self, exchange: Path) -> Path:
        """Write a copy into a fresh numbered folder of ``exchange`` and return the folder.

        The folder gets its name last, so that one that is there is whole.

        Raises:
            OSError: the folder cannot be written.
            sqlite3.Error: the copy failed, for instance for want of room.
        """
        taken = (int(folder.name) for folder in exchange.iterdir() if folder.name.isdecimal())
        number = 1 + max(taken, default=0)
        partial = exchange / f".partial-{number}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o755)
        with closing(sqlite3.connect(partial / FILE)) as copy:
            self._db.backup(copy)
        with (partial / FILE).open("rb") as copied:
            os.fsync(copied.fileno())
        (partial / FILE).chmod(0o644)
        return partial.rename(exchange / str(number))
