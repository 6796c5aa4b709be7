"""A site's folder: written beside, then put in its place; never over what others made."""

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import orjson

from runner.errors import CannotStart, UsageError
from runner.runs.disk import give_to_owner, make_folder

MARK = "site.json"
"""Names every file of a site, so that a folder can be told to be one."""


def check(out: Path) -> None:
    """Find out before anything is built whether a site may be put there.

    Raises:
        UsageError: something is there that was not made by this.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is no folder.", hint="Choose another -o.")
    there = {path.name for path in out.iterdir()}
    if not there:
        return
    others = sorted(there - _made(out))
    if others:
        raise UsageError(
            f"{out} holds files that this did not make: {', '.join(others[:3])}"
            f"{' and more' if len(others) > 3 else ''}.",
            hint="Choose an empty folder, a new one, or a site made before.",
        )


def _made(folder: Path) -> set[str]:
    """The files of a site that are still as they were written; none where it is no site."""
    try:
        document = orjson.loads((folder / MARK).read_bytes())
        listed = dict(document["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    made = {MARK}
    for name, digest in listed.items():
        path = folder / Path(str(name)).name
        with contextlib.suppress(OSError):
            if not path.is_symlink() and _sha256(path.read_bytes()) == digest:
                made.add(path.name)
    return made


def write(out: Path, files: Mapping[str, bytes], about: Mapping[str, object]) -> None:
    """Put a site in its place: whole, or not at all.

    Args:
        out: where; its parents are made.
        files: their content by name.
        about: what else the mark says.

    Raises:
        CannotStart: it cannot be written; what was there is as it was.
        UsageError: something is there that was not made by this.
    """
    out = out.absolute()
    check(out)
    digests = {name: _sha256(data) for name, data in sorted(files.items())}
    mark = orjson.dumps({**about, "files": digests}, option=orjson.OPT_INDENT_2) + b"\n"
    fresh = None
    try:
        make_folder(out.parent)
        fresh = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
        fresh.chmod(0o755)
        give_to_owner(fresh)
        for name, data in {**files, MARK: mark}.items():
            (fresh / name).write_bytes(data)
            (fresh / name).chmod(0o644)
            give_to_owner(fresh / name)
        _exchange(fresh, out)
    except OSError as error:
        raise CannotStart(
            f"A site cannot be written at {out}: {error.strerror or error}.",
            hint="Choose a writable -o with room on its disk, that is no mount point itself.",
        ) from error
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)


def _exchange(fresh: Path, out: Path) -> None:
    """Rename a folder over another, which is removed then."""
    if not out.exists():
        fresh.rename(out)
        return
    old = fresh.with_name(f"{fresh.name}.old")
    out.rename(old)
    try:
        fresh.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
