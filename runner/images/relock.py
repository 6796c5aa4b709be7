"""Renews lock files: what there is now in the place of what there was, and what that changes."""

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from runner.errors import CannotStart
from runner.images import (
    _apt,
    _folder,
    _installs,
    _mirrors,
    _npm,
    _renewal,
    _source,
    _uv,
    locks,
)
from runner.images._buildx import Progress
from runner.images._files import write_atomically
from runner.images._source import BASE
from runner.images.locks import DebianLock


class Kind(enum.StrEnum):
    """Whose packages a lock pins."""

    DEBIAN = "debian"
    PYTHON = "python"
    NPM = "npm"


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A package that another lock would pin otherwise.

    Attributes:
        package: its name.
        platform: the architecture, where the lock tells them apart.
        was: its versions in the old lock; empty where it is new.
        now: in the new one; empty where it is gone; as before where only its bytes are others.
    """

    package: str
    platform: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Renewed:
    """A lock file, looked at again.

    Attributes:
        image: whose it is.
        file: where it lies.
        text: what it is to hold.
        changes: what that changes; none where the file stays as it is.
        remarks: what else there is to know.
    """

    image: str
    file: Path
    text: str
    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()

    def write(self) -> None:
        """Put the file in its place.

        Raises:
            CannotStart: it cannot be written.
        """
        if not self.changes:
            return
        try:
            write_atomically(self.file, self.text.encode())
        except OSError as error:
            raise CannotStart(f"{self.file} cannot be written: {error.strerror}.") from error


def names() -> tuple[str, ...]:
    """Images that have packages of their own."""
    return tuple(
        name
        for name in _folder.names()
        if _installs.wanted(name) or _renewal.renewal(name) != _renewal.Renewal()
    )


def relock(
    images: Sequence[str],
    kinds: Collection[Kind],
    progress: Progress,
    sources: Sequence[str] | None = None,
) -> Iterator[Renewed]:
    """Look at the locks of images again; writes nothing.

    Args:
        images: which.
        kinds: whose packages.
        progress: told what is looked at.
        sources: lines of apt's ``sources.list``; none for where images get packages from.

    Raises:
        CannotStart: apt, uv or npm is missing or fails.
        UsageError: what says how is wrong.
    """
    if Kind.DEBIAN in kinds and any(map(_installs.wanted, images)):
        yield from _debian(images, progress, sources)
    for name in images:
        how, folder = _renewal.renewal(name), _renewal.folder(name)
        if Kind.PYTHON in kinds:
            yield from _python(name, how, folder, progress)
        if Kind.NPM in kinds and how.npm is not None:
            progress(f"{name}: npm resolves {locks.NPM}")
            file = folder / locks.NPM
            text = _npm.lock(folder, how.npm)
            yield Renewed(name, file, text, tuple(_changes(file, text)))


def _debian(
    images: Sequence[str], progress: Progress, sources: Sequence[str] | None
) -> Iterator[Renewed]:
    suite = _source.settings()["DEBIAN_SUITE"]
    lines = sources or _mirrors.mirrors().lines(suite)
    below = _installs.wanted(BASE)
    with ExitStack() as stack:
        indexes: dict[str, _apt.Index] = {}
        for architecture in locks.ARCHITECTURES:
            progress(f"Debian {suite}: apt fetches the index of {architecture}")
            indexes[architecture] = stack.enter_context(_apt.index(architecture, lines))
        moment = max(index.date() for index in indexes.values())
        ground = {one: set(index.resolve(below)) for one, index in indexes.items()}
        for name in images:
            wanted = _installs.wanted(name)
            if not wanted:
                continue
            progress(f"{name}: apt resolves {locks.DEBIAN}")
            found = {
                one: tuple(
                    sorted(
                        ground[one]
                        if name == BASE
                        else set(index.resolve((*below, *wanted))) - ground[one]
                    )
                )
                for one, index in indexes.items()
            }
            lock = DebianLock(suite, f"{moment:{_mirrors.STAMP}}", found)
            old = locks.debian(name)
            changes = tuple(_debs(old.packages if old else {}, found))
            yield Renewed(name, locks.file(name), lock.text(), changes)


def _debs(
    old: Mapping[str, tuple[_apt.Deb, ...]], new: Mapping[str, tuple[_apt.Deb, ...]]
) -> Iterator[Change]:
    for architecture in sorted({*old, *new}):
        was = {deb.name: deb for deb in old.get(architecture, ())}
        now = {deb.name: deb for deb in new.get(architecture, ())}
        for name in sorted({*was, *now}):
            if was.get(name) != now.get(name):
                before, after = (
                    found[name].version if name in found else "" for found in (was, now)
                )
                yield Change(name, architecture, before, after)


def _python(
    name: str, how: _renewal.Renewal, folder: Path, progress: Progress
) -> Iterator[Renewed]:
    for many in how.python:
        for lock in _renewal.each(name, many):
            progress(f"{name}: uv resolves {lock.lock}")
            file = folder / lock.lock
            text = _uv.compile_(folder, lock)
            lacking = _uv.without(text, lock.source)
            remarks = [
                f"{name}, {lock.lock}: {one} has no wheel of {', '.join(names)}"
                for one, names in lacking.items()
            ]
            if lock.source:
                told = ", ".join(lock.source)
                remarks.append(f"{name}, {lock.lock}: built from source: {told}")
            yield Renewed(name, file, text, tuple(_changes(file, text)), tuple(remarks))
    if how.uv:
        progress(f"{name}: uv resolves {locks.UV}")
        file = folder / locks.UV
        text = _uv.lock(folder, how.uv)
        yield Renewed(name, file, text, tuple(_changes(file, text)))


def _changes(file: Path, text: str) -> Iterator[Change]:
    """What another text of a lock would change, as far as packages go."""
    old = file.read_text(encoding="utf-8") if file.is_file() else ""
    was, now = (locks.digests(file.name, one) for one in (old, text))
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            before, after = (" and ".join(found.get(name, {})) for found in (was, now))
            yield Change(name, "", before, after)
