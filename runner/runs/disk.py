"""Folders and files as their owner would have made them, also when the bench runs as root."""

import os
import tempfile
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, each owned like the folder it lies in.

    Raises:
        OSError: when it cannot be made, or something else has its name.
    """
    missing = []
    for path in (folder, *folder.parents):
        if path.exists():
            break
        missing.append(path)
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        give_to_owner(path)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")


ROOM_BYTES = 1 << 20
"""Room there has to be; a report of the published protocol takes a quarter of it."""


def try_out(folder: Path) -> None:
    """Write a file in a folder and remove it again, to see that it can be done.

    Raises:
        OSError: when it cannot.
    """
    handle, name = tempfile.mkstemp(dir=folder, prefix=".memory-bench-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
            os.fsync(handle)
    finally:
        Path(name).unlink()


def give_to_owner(path: Path) -> None:
    """Hand a path to the owner of its folder; only root can, and only root needs to."""
    owner = path.parent.stat()
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
