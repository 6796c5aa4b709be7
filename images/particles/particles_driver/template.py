"""``python -m particles_driver.template FILE``: an empty store with every migration.

Sixty migrations take the engine seconds, and leave the same store each time; a run copies it. To
the last byte it is the same where time stands still and sets have one order (PYTHONHASHSEED).
"""

import os
import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from particles_driver import verbs
from particles_driver.settings import Place, Settings


def main(target: Path) -> int:
    """Have the engine make a store, and put it there as one file."""
    os.environ.pop(verbs.TEMPLATE, None)
    # Rows that every store begins with get their ids by chance.
    setattr(os, "urandom", random.Random(0).randbytes)  # noqa: B010
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
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
