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


def try_out(folder: Path) -> None:
    """Write a few bytes in a folder and remove them again, to see that it can be done.

    Raises:
        OSError: when it cannot.
    """
    handle, name = tempfile.mkstemp(dir=folder, prefix=".memory-bench-")
    try:
        os.write(handle, b" " * 4096)
        os.fsync(handle)
    finally:
        os.close(handle)
        Path(name).unlink()


def give_to_owner(path: Path) -> None:
    """Hand a path to the owner of its folder; only root can, and only root needs to."""
    owner = path.parent.stat()
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
