"""The tar an engine writes of images: of any engine, in any order, read once as it comes."""

import gzip
import hashlib
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

import orjson
import zstandard

from runner.errors import CannotStart
from runner.oci import zstd
from runner.oci.layout import CHUNK, DOCUMENT, is_hex

_PEEKED = 512
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_TAR = slice(257, 262)
_BLOBS = "blobs/sha256/"
_BROKEN = (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError)
"""What reading raises where something else comes than should."""
MANIFEST = "manifest.json"


class Layer:
    """A layer as it comes. To be read before the next one is asked for.

    Attributes:
        size: bytes of the uncompressed layer; none where the engine sends it compressed.
        named: the digest it should have, where its name tells.
    """

    def __init__(self, source: zstd.Source, size: int | None, named: str | None) -> None:
        self.size = size
        self.named = named
        self._source = source
        self._digest = hashlib.sha256()
        self._over = False

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._read():
            self._digest.update(chunk)
            yield chunk
        self._over = True

    def _read(self) -> bytes:
        try:
            return self._source.read(CHUNK)
        except _BROKEN as error:
            raise broken_off(str(error)) from error

    @property
    def diff_id(self) -> str:
        """The digest of what was read, which is all of it."""
        for _ in () if self._over else self:
            pass
        return f"sha256:{self._digest.hexdigest()}"


class Reader:
    """Layers of an engine's tar one by one; then everything else."""

    def __init__(self, source: zstd.Source) -> None:
        self._source = source
        self._layers: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._texts: dict[str, bytes] = {}

    def layers(self) -> Iterator[Layer]:
        """Every layer, once.

        Raises:
            CannotStart: what comes is no tar.
        """
        try:
            with tarfile.open(
                fileobj=cast(IO[bytes], self._source), mode="r|", bufsize=CHUNK
            ) as tar:
                for member in tar:
                    yield from self._member(tar, member)
        except _BROKEN as error:
            raise broken_off(str(error)) from error

    def _member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[Layer]:
        name = posixpath.normpath(member.name)
        if member.issym():
            folder = posixpath.dirname(name)
            self._links[name] = posixpath.normpath(posixpath.join(folder, member.linkname))
        elif member.islnk():
            self._links[name] = posixpath.normpath(member.linkname)
        elif member.isreg():
            file = tar.extractfile(member)
            assert file is not None
            head = file.read(_PEEKED)
            layer = _layer(name, member.size, head, file)
            if layer is not None:
                yield layer
                self._layers[name] = layer.diff_id
            elif member.size <= DOCUMENT:
                self._texts[name] = head + file.read()

    def images(self) -> Iterator[tuple[bytes, tuple[str, ...]]]:
        """The config of each image, and the digests of the layers that came for it.

        Raises:
            CannotStart: something is missing.
        """
        try:
            listed: list[dict[str, Any]] = orjson.loads(self._texts[MANIFEST])
            for one in listed:
                config = self._texts[self._real(one["Config"])]
                yield config, tuple(self._layers[self._real(path)] for path in one["Layers"] or ())
        except (KeyError, TypeError, ValueError) as error:
            raise broken_off(f"{error} is missing") from error

    def _real(self, path: str) -> str:
        path = posixpath.normpath(path)
        return self._links.get(path, path)


def broken_off(why: str) -> CannotStart:
    """What is wrong with a save that cannot be read."""
    return CannotStart(
        f"The engine did not save its images whole: {why}.", hint="Its log says more. Try again."
    )


def _layer(name: str, size: int, head: bytes, file: IO[bytes]) -> Layer | None:
    """A file as a layer, where it is one: a tar, which engines may keep compressed."""
    whole = _Whole(head, file.read)
    if head[_TAR] == b"ustar" or (size >= _PEEKED and not head.strip(b"\0")):
        hexes = name.removeprefix(_BLOBS)
        return Layer(whole, size, f"sha256:{hexes}" if is_hex(hexes) else None)
    raw = cast(IO[bytes], whole)
    if head.startswith(_GZIP):
        return Layer(gzip.GzipFile(fileobj=raw), None, None)
    if head.startswith(_ZSTD):
        unpacker = zstandard.ZstdDecompressor()
        return Layer(unpacker.stream_reader(raw, read_across_frames=True), None, None)
    return None


class _Whole:
    """What was read of a file already, then the rest."""

    def __init__(self, head: bytes, rest: Callable[[int], bytes]) -> None:
        self._head = head
        self._rest = rest

    def read(self, count: int, /) -> bytes:
        head, self._head = self._head[:count], self._head[count:]
        return head + self._rest(count - len(head)) if count > len(head) else head
