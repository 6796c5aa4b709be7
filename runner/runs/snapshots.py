"""From a snapshot's archive to the nouns: always on a copy that is thrown away."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from runner.errors import HostileSnapshot
from runner.model import Store
from runner.runs.sandbox.snapshot import Snapshot


def read_snapshot(snapshot: Snapshot, read: Callable[[Path], Store]) -> Store:
    """Write a snapshot out, read it with a system's reader, and forget the copy.

    Raises:
        HostileSnapshot: when the reader cannot make sense of it.
    """
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as name:
        folder = Path(name)
        snapshot.write(folder)
        try:
            return read(folder)
        except HostileSnapshot:
            raise
        except Exception as error:
            raise HostileSnapshot(
                f"The snapshot cannot be read: {type(error).__name__}: {error}"
            ) from error
