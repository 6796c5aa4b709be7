"""A consistent copy of the store, put where it can be fetched."""

import os
import shutil
from pathlib import Path

from page_router.store import FILE, Store


def snapshot(store: Store, exchange: Path) -> Path:
    """Write a copy into a fresh numbered folder of ``exchange`` and return the folder.

    The folder gets its name last, so that one that is there is whole.

    Raises:
        OSError: the folder cannot be written.
        sqlite3.Error: the copy failed, for instance for want of room.
    """
    number = 1 + max((int(p.name) for p in exchange.iterdir() if p.name.isdecimal()), default=0)
    partial = exchange / f".partial-{number}"
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir(mode=0o755)
    try:
        target = partial / FILE
        store.backup(target)
        target.chmod(0o644)
        with target.open("rb") as copied:
            os.fsync(copied.fileno())
        return partial.rename(exchange / str(number))
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
