"""The package databases inside an image, read out of its layers as hostile input.

Nothing is unpacked: a layer is read once from its start to its end, and of its files only those
that tell of packages are kept, within bounds. Layers are laid over one another as an engine does
it: what an upper one removes, or puts another thing in place of, is gone.
"""

import io
import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from email.parser import BytesHeaderParser

import orjson
from pydantic import TypeAdapter

from runner.errors import DamagedArchive
from runner.images.identity import PACKAGES
from runner.model import Package

MOST_ENTRIES = 2_000_000
"""Of one layer."""
MOST_FILES = 20_000
"""Files that tell of packages, of one image."""
MOST_BYTES = 16 << 20
"""Of one such file, and of one read of a layer's headers."""
MOST_KEPT = 256 << 20
"""Of all such files of an image."""

_STATUS = "var/lib/dpkg/status"
_LISTED = PACKAGES.lstrip("/")
_PYPI = re.compile(
    r"(?:.+/)?site-packages/[^/]+(?:\.dist-info/METADATA|\.egg-info/PKG-INFO|\.egg-info)"
)
_NPM = re.compile(r"(?!usr/)(?:.+/)?node_modules/(?:@[^/]+/)?[^/@.][^/]*/package\.json")
"""Modules under ``/usr`` are Debian's, and in its own database."""
_GONE = ".wh."
_OPAQUE = ".wh..wh..opq"
_LIST = TypeAdapter(tuple[Package, ...])


class Databases:
    """What tells of packages in an image, while its layers are read, the lowest first."""

    def __init__(self) -> None:
        self._files = _Files()

    def copy(self) -> "Databases":
        """The same, to lay other layers over."""
        other = Databases()
        for name, raw in self._files.items():
            other._files.put(name, raw)
        return other

    def add(self, layer: Iterable[bytes]) -> None:
        """Lay another layer over those that were read.

        Raises:
            DamagedArchive: it is no tar, leads out of the image, holds more than is read, or has
                a link where a package would tell of itself.
        """
        source, upper = _Forward(layer), _Files()
        try:
            with tarfile.open(fileobj=source, mode="r:") as tar:
                count = 0
                while (member := tar.next()) is not None:
                    tar.members = []  # type: ignore[attr-defined]  # it would keep all of them
                    count += 1
                    if count > MOST_ENTRIES:
                        raise DamagedArchive(f"A layer has more than {MOST_ENTRIES} entries.")
                    self._take(tar, member, upper)
        except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
            raise DamagedArchive(f"A layer is no readable tar: {error}.") from error
        source.drain()
        for name, raw in upper.items():
            self._files.put(name, raw)

    def packages(self) -> frozenset[Package]:
        """Every package that is installed, by the databases of its manager.

        Raises:
            DamagedArchive: one cannot be read.
        """
        return frozenset(
            package for name, raw in self._files.items() for package in _packages(name, raw)
        )

    def listed(self) -> frozenset[Package] | None:
        """What the image itself lists; none where it has no list.

        Raises:
            DamagedArchive: it cannot be read.
        """
        raw = self._files.get(_LISTED)
        if raw is None:
            return None
        try:
            return frozenset(_LIST.validate_json(raw))
        except ValueError as error:
            raise DamagedArchive("The image's own list of packages is none.") from error

    def _take(self, tar: tarfile.TarFile, member: tarfile.TarInfo, upper: "_Files") -> None:
        """Take one entry of a layer: into ``upper``, and out of what lies below."""
        name = _name(member.name)
        folder, _, last = name.rpartition("/")
        if last == _OPAQUE:
            self._files.empty(folder)
            return
        if last.startswith(_GONE):
            self._files.remove(f"{folder}/{last.removeprefix(_GONE)}".lstrip("/"))
            return
        target = upper.get(_name(member.linkname)) if member.islnk() else None
        for files in (self._files, upper):
            if member.isdir():
                files.drop(name)
            else:
                files.remove(name)
        if member.isdir() or not _tells(name):
            return
        if target is not None:
            upper.put(name, target)
            return
        if not member.isreg() or member.issparse():
            raise DamagedArchive(f"{name} in a layer is no plain file: what it tells is not read.")
        if member.size > MOST_BYTES:
            raise DamagedArchive(f"{name} in a layer is larger than is read of packages.")
        file = tar.extractfile(member)
        assert file is not None
        upper.put(name, file.read())


class _Files:
    """Files by their paths, few enough to be kept."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._above: Counter[str] = Counter()
        self._bytes = 0

    def get(self, name: str) -> bytes | None:
        return self._files.get(name)

    def items(self) -> list[tuple[str, bytes]]:
        return sorted(self._files.items())

    def put(self, name: str, raw: bytes) -> None:
        self.drop(name)
        self._files[name] = raw
        self._above.update(_above(name))
        self._bytes += len(raw)
        if len(self._files) > MOST_FILES or self._bytes > MOST_KEPT:
            raise DamagedArchive("An image tells more of packages than is read.")

    def drop(self, name: str) -> None:
        """Forget one file."""
        raw = self._files.pop(name, None)
        if raw is not None:
            self._above.subtract(_above(name))
            self._bytes -= len(raw)

    def remove(self, name: str) -> None:
        """Forget what is at a place and below it."""
        self.drop(name)
        self.empty(name)

    def empty(self, folder: str) -> None:
        """Forget what is below a folder."""
        if self._above[folder]:
            start = f"{folder}/" if folder else ""
            for name in [name for name in self._files if name.startswith(start)]:
                self.drop(name)


class _Forward(io.RawIOBase):
    """A layer as a file that can only be read on, and of which no read is a large one."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._ready = b""
        self._at = 0
        self._last = b""

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence != 0 or offset < self._at:
            raise DamagedArchive("A layer's headers lead back in it.")
        while self._at < offset and self._more():
            self._skip(offset - self._at)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_BYTES:
            raise DamagedArchive("A layer's headers ask for more than is read of them.")
        parts = []
        while size and self._more():
            part = self._ready[:size]
            self._skip(len(part))
            size -= len(part)
            parts.append(part)
        self._last = b"".join(parts)
        return self._last

    def drain(self) -> None:
        """Read what follows the end of the tar, so that the layer is over.

        Raises:
            DamagedArchive: there is more than zeros, which others may read as entries.
        """
        rest = self._last.strip(b"\0")
        while self._more():
            rest = rest or self._ready.strip(b"\0")
            self._skip(len(self._ready))
        if rest:
            raise DamagedArchive("A layer does not end as a tar does.")

    def _more(self) -> bool:
        while not self._ready:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self._ready = chunk
        return True

    def _skip(self, count: int) -> None:
        count = min(count, len(self._ready))
        self._ready = self._ready[count:]
        self._at += count


def _name(raw: str) -> str:
    """A path in the image, from its root."""
    parts = [part for part in raw.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise DamagedArchive(f"A layer leads out of the image: {raw[:200]!r}.")
    return "/".join(parts)


def _tells(name: str) -> bool:
    return (
        name in (_STATUS, _LISTED)
        or _PYPI.fullmatch(name) is not None
        or _NPM.fullmatch(name) is not None
    )


def _above(name: str) -> list[str]:
    """The folders that a file is in, the root as an empty name."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]


def _packages(name: str, raw: bytes) -> Iterator[Package]:
    if name == _STATUS:
        yield from _debian(raw)
    elif name != _LISTED:
        yield _python(name, raw) if _PYPI.fullmatch(name) else _node(name, raw)


def _debian(raw: bytes) -> Iterator[Package]:
    for paragraph in raw.decode(errors="replace").split("\n\n"):
        if not paragraph.strip():
            continue
        fields = {
            key: value.strip()
            for key, colon, value in (line.partition(":") for line in paragraph.split("\n"))
            if colon and not key.startswith((" ", "\t"))
        }
        try:
            if fields["Status"].split()[-1] == "installed":
                yield Package(manager="deb", name=fields["Package"], version=fields["Version"])
        except (KeyError, IndexError) as error:
            raise DamagedArchive(f"dpkg's status has an entry without {error}.") from error


def _python(name: str, raw: bytes) -> Package:
    said = BytesHeaderParser().parsebytes(raw)
    called, version = said["Name"], said["Version"]
    if not called or not version:
        raise DamagedArchive(f"{name} names no package.")
    return Package(
        manager="pypi", name=re.sub(r"[-_.]+", "-", str(called)).lower(), version=str(version)
    )


def _node(name: str, raw: bytes) -> Package:
    try:
        said = orjson.loads(raw)
        return Package(manager="npm", name=said["name"], version=said["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedArchive(f"{name} names no package.") from error
