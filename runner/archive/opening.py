"""Archives opened for reading, wherever they lie."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from runner.archive.store import Store
from runner.errors import UsageError
from runner.oci.layout import MARKER, Layout
from runner.oci.packed import Packed


@contextlib.contextmanager
def opened(path: Path, name: str | None = None) -> Iterator[Layout]:
    """An archive to read.

    Args:
        path: its file, or a folder that archives share.
        name: which of a folder's archives; it may be left out where there is but one.

    Raises:
        UsageError: there is none.
        DamagedArchive: it is none, or not as it was written.
    """
    if not path.is_dir():
        if name is not None:
            raise UsageError(f"{path} is one archive: --name is of use with a folder of several.")
        with Packed(path) as packed:
            yield packed
        return
    if not (path / MARKER).is_file():
        raise UsageError(f"{path} is no folder that archives share.")
    store = Store(path)
    names = store.names()
    if name is None and len(names) != 1:
        raise UsageError(
            f"{path} holds {len(names)} archives.",
            hint=f"Say which with --name: {', '.join(names) or 'there is none'}.",
        )
    store.folder.index = store.archive(name if name is not None else names[0])
    yield store.folder
