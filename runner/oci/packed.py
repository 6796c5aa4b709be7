"""A whole OCI layout in one file: a canonical tar, of which no byte can change unnoticed.

Its members are ``oci-layout``, ``index.json``, the blobs in the order of their digests, and
``checksums``, which holds the digests of the first two as ``sha256sum`` writes them.
"""

import contextlib
import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Self

from runner.errors import DamagedArchive, UsageError
from runner.oci import documents, layout, tars, zstd
from runner.oci.documents import Index
from runner.oci.layout import BLOBS, CHECKSUMS, CHUNK, DOCUMENT, INDEX, MARK, MARKER, Layout, Told

_NAMED_ONCE = (MARKER, INDEX)


class Packed(Layout):
    """A layout in a file. To be closed, or used as a context manager.

    Opening it reads all but the blobs, and holds it to its one form. Each blob is held to its
    digest when it is read; ``check`` reads all.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            UsageError: there is no such file.
            DamagedArchive: it is no archive, or not as it was written.
        """
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
        try:
            self._spans, self.index = _contents(self._file)
            self.index_digest = layout.digest_of(_read(self._file, self._spans[INDEX]))
            self.sizes: Mapping[str, int] = {
                f"sha256:{name.removeprefix(BLOBS)}": member.size
                for name, member in self._spans.items()
                if name.startswith(BLOBS)
            }
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def size(self, digest: str) -> int | None:
        """The size of a blob; none where it is not there."""
        return self.sizes.get(digest)

    @contextlib.contextmanager
    def _open(self, digest: str) -> Iterator[zstd.Source]:
        member = self._spans[BLOBS + digest.removeprefix("sha256:")]
        yield _Span(self._file.fileno(), member.offset, member.size)

    def check(self, told: Told = layout.untold, but: Container[str] = ()) -> None:
        """As for every layout; and nothing may lie there that the index does not lead to."""
        if stray := self.sizes.keys() - self.reached().keys():
            raise DamagedArchive(f"Nothing in the archive asks for the blob {min(stray)}.")
        super().check(told, but)


def write(out: tars.Out, source: Layout, index: Index, told: Told = layout.untold) -> None:
    """Write a layout as one file: the index, and all blobs it leads to.

    Args:
        out: where to.
        source: has the blobs.
        index: of the file.
        told: how many bytes of blobs were written.

    Raises:
        DamagedArchive: a blob of the source is not what its digest says.
        ValueError: a blob is larger than a file in an archive can be.
    """
    packer = tars.Writer(out)
    documents_ = {MARKER: MARK, INDEX: index.written()}
    for name, data in documents_.items():
        packer.add(name, len(data), (data,))
    for blob in source.reached(index).values():
        with source.open(blob) as stream:
            packer.add(BLOBS + blob.hex, blob.size, _told(stream, told))
    sums = _sums(documents_)
    packer.add(CHECKSUMS, len(sums), (sums,))
    packer.end()


def size_of(source: Layout, index: Index) -> int:
    """Bytes of the blobs that a file of that index holds."""
    return sum(blob.size for blob in source.reached(index).values())


def _contents(file: BinaryIO) -> tuple[dict[str, tars.Member], Index]:
    found = {}
    order = []
    for member in tars.members(file):
        found[member.name] = member
        order.append(member.name)
    blobs = sorted(name for name in found if name.startswith(BLOBS))
    if order != [*_NAMED_ONCE, *blobs, CHECKSUMS]:
        raise DamagedArchive("The archive does not hold what a layout does, in its order.")
    for name in blobs:
        if not layout.is_hex(name.removeprefix(BLOBS)):
            raise DamagedArchive(f"{name} in the archive is no name of a blob.")
    texts = {name: _read(file, found[name]) for name in (*_NAMED_ONCE, CHECKSUMS)}
    if texts.pop(CHECKSUMS) != _sums(texts):
        raise DamagedArchive(
            f"{' and '.join(_NAMED_ONCE)} in the archive do not match its {CHECKSUMS}."
        )
    if texts[MARKER] != MARK:
        raise DamagedArchive("The archive is of a version that this bench does not read.")
    return found, documents.parse(Index, texts[INDEX], "The index of the archive")


def _read(file: BinaryIO, member: tars.Member) -> bytes:
    if member.size > DOCUMENT:
        raise DamagedArchive(f"{member.name} has {member.size} bytes; {DOCUMENT} are allowed.")
    file.seek(member.offset)
    return file.read(member.size)


def _sums(texts: Mapping[str, bytes]) -> bytes:
    lines = (f"{layout.digest_of(texts[name])[7:]}  {name}\n" for name in sorted(texts))
    return "".join(lines).encode()


def _told(stream: layout.Stream, told: Told) -> Iterator[bytes]:
    for chunk in stream:
        told(len(chunk))
        yield chunk


class _Span:
    """Part of a file, read where it lies, so that several can be read at once."""

    def __init__(self, handle: int, offset: int, size: int) -> None:
        self._handle = handle
        self._at = offset
        self._end = offset + size

    def read(self, count: int = CHUNK, /) -> bytes:
        data = os.pread(self._handle, min(count, self._end - self._at), self._at)
        self._at += len(data)
        return data
