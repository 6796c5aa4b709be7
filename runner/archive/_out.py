"""Writing one large file: whole under its name, or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from runner.errors import CannotStart, UsageError
from runner.runs.disk import give_to_owner, make_folder, try_out


def prepare(path: Path, *, force: bool) -> None:
    """Find out beforehand whether a file can be written.

    Raises:
        UsageError: there is one already.
        CannotStart: its folder cannot be written.
    """
    _refuse(path, force=force)
    with no_room_is_told(path):
        make_folder(path.parent)
        try_out(path.parent)


@contextlib.contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to, which is at ``path`` when all went well, and nowhere otherwise.

    Raises:
        UsageError: there is one already.
        CannotStart: there is no room for it, or the like.
    """
    with no_room_is_told(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        fresh = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            fresh.chmod(0o644)
            give_to_owner(fresh)
            _put(fresh, path, force=force)
        finally:
            fresh.unlink(missing_ok=True)


@contextlib.contextmanager
def no_room_is_told(path: Path) -> Iterator[None]:
    """What the disk refuses, as an error that says what to do.

    Raises:
        CannotStart: the disk refuses.
    """
    try:
        yield
    except OSError as error:
        raise CannotStart(
            f"{path} cannot be written: {error.strerror or error}.",
            hint="Nothing is left of it. Make room, or choose another place.",
        ) from error


def _put(fresh: Path, path: Path, *, force: bool) -> None:
    if force:
        fresh.replace(path)
        return
    try:
        os.link(fresh, path)
    except FileExistsError:
        _refuse(path, force=False)
        raise
    except OSError:  # a file system without links: all that is lost is a race
        _refuse(path, force=False)
        fresh.replace(path)


def _refuse(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name a file that is not there yet.")
    if path.exists() and not force:
        raise UsageError(
            f"{path} exists already.", hint="Choose another name, or add --force to replace it."
        )
