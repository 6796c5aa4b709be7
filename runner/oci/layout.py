"""OCI layouts: blobs by digest under an index, to be read wherever they lie.

``runner.oci.folder`` has those that lie in a folder, ``runner.oci.packed`` those in one file.
"""

import contextlib
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator

from runner.errors import DamagedArchive
from runner.oci import documents, tars, zstd
from runner.oci.documents import Descriptor, Index, Manifest

MARKER = "oci-layout"
INDEX = "index.json"
BLOBS = "blobs/sha256/"
CHECKSUMS = "checksums"
MARK = b'{"imageLayoutVersion":"1.0.0"}'
DOCUMENT = 16 << 20
"""Bytes of a document, at most: more is refused before it is read."""
CHUNK = 1 << 20
_HEX = re.compile(r"[0-9a-f]{64}")

Told = Callable[[int], None]
"""Is told how many bytes more were handled."""


def untold(_count: int) -> None:
    """Tells nobody."""


def digest_of(data: bytes) -> str:
    """As descriptors have it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def is_hex(text: str) -> bool:
    """Whether it can be a digest in hexadecimal."""
    return _HEX.fullmatch(text) is not None


class Stream:
    """Reads a blob once, and is over only when the blob is what its descriptor says."""

    def __init__(self, source: zstd.Source, descriptor: Descriptor) -> None:
        self._source = source
        self._descriptor = descriptor
        self._left = descriptor.size
        self._digest = hashlib.sha256()
        self._check(b"")

    def read(self, count: int = CHUNK, /) -> bytes:
        """So many bytes at most; none at the end.

        Raises:
            DamagedArchive: with the last bytes, where they or others are not the blob's.
        """
        data = self._source.read(min(count, self._left))
        if not data and self._left and count:
            raise DamagedArchive(f"The blob {self._descriptor.digest} is cut off.")
        self._left -= len(data)
        self._digest.update(data)
        return self._check(data)

    def __iter__(self) -> Iterator[bytes]:
        while data := self.read(CHUNK):
            yield data

    def _check(self, data: bytes) -> bytes:
        if not self._left and self._digest.hexdigest() != self._descriptor.hex:
            raise DamagedArchive(f"The blob {self._descriptor.digest} does not match its digest.")
        return data


class Layout(ABC):
    """A layout that can be read. Every blob is held to its digest whenever it is read."""

    index: Index

    @abstractmethod
    def size(self, digest: str) -> int | None:
        """The size of a blob; none where it is not there."""

    @abstractmethod
    def _open(self, digest: str) -> contextlib.AbstractContextManager[zstd.Source]:
        """The bytes of a blob that is there."""

    @contextlib.contextmanager
    def open(self, blob: Descriptor) -> Iterator[Stream]:
        """Read a blob.

        Raises:
            DamagedArchive: it is not there, or is not what its descriptor says.
        """
        self.expect(blob)
        with self._open(blob.digest) as source:
            yield Stream(source, blob)

    def expect(self, blob: Descriptor) -> None:
        """See that a blob is there, and of its size.

        Raises:
            DamagedArchive: it is not.
        """
        size = self.size(blob.digest)
        if size is None:
            raise DamagedArchive(f"The blob {blob.digest} is not there.")
        if size != blob.size:
            raise DamagedArchive(f"The blob {blob.digest} has {size} bytes, not {blob.size}.")

    def get(self, blob: Descriptor, most: int = DOCUMENT) -> bytes:
        """A whole blob, of at most so many bytes.

        Raises:
            DamagedArchive: as ``open``, or it is larger.
        """
        if blob.size > most:
            raise DamagedArchive(f"{blob.digest} has {blob.size} bytes; {most} are allowed.")
        with self.open(blob) as stream:
            return b"".join(stream)

    def manifest(self, blob: Descriptor) -> Manifest:
        """A manifest by its descriptor."""
        return documents.parse(Manifest, self.get(blob), f"The manifest {blob.digest}")

    def layer(self, blob: Descriptor, diff_id: str, told: Told = untold) -> Iterator[bytes]:
        """An image's layer, uncompressed.

        Args:
            blob: the compressed layer.
            diff_id: the digest of the uncompressed one, which is over only when it matches.
            told: how many compressed bytes were read.

        Raises:
            DamagedArchive: the layer is not what either digest says.
        """
        if blob.media_type != documents.LAYER:
            raise DamagedArchive(f"The layer {blob.digest} is {blob.media_type}, not under zstd.")
        digest = hashlib.sha256()
        with self.open(blob) as stream:
            for piece in zstd.decompress(_Telling(stream, told), most=tars.MOST):
                digest.update(piece)
                yield piece
        if f"sha256:{digest.hexdigest()}" != diff_id:
            raise DamagedArchive(f"The layer {blob.digest} does not unpack to {diff_id}.")

    def check(self, told: Told = untold, but: Container[str] = ()) -> None:
        """Hold every blob that the index leads to to its digest.

        Args:
            told: how many bytes more were read.
            but: digests of those that were read already.

        Raises:
            DamagedArchive: names the first that does not hold.
        """
        for blob in self.reached().values():
            if blob.digest not in but:
                with self.open(blob) as stream:
                    for chunk in stream:
                        told(len(chunk))

    def find(self, name: str) -> Descriptor | None:
        """The manifest of that name or digest."""
        named = (one for one in self.index.manifests if name in (one.digest, ref_name(one)))
        return next(named, None)

    def referrers(self, digest: str, artifact_type: str | None = None) -> Iterator[Descriptor]:
        """The manifests that hang on another, of one type or of every."""
        for one in self.index.manifests:
            found = self.manifest(one)
            hangs = found.subject is not None and found.subject.digest == digest
            if hangs and artifact_type in (None, found.artifact_type):
                yield one

    def reached(self, index: Index | None = None) -> dict[str, Descriptor]:
        """Every blob that the index leads to, by its digest, sorted."""
        found: dict[str, Descriptor] = {}
        for one in (index or self.index).manifests:
            found[one.digest] = one
            found |= {blob.digest: blob for blob in self.manifest(one).blobs}
        return dict(sorted(found.items()))


class _Telling:
    def __init__(self, source: zstd.Source, told: Told) -> None:
        self._source = source
        self._told = told

    def read(self, count: int, /) -> bytes:
        data = self._source.read(count)
        self._told(len(data))
        return data


def ref_name(one: Descriptor) -> str | None:
    """What a manifest is called in an index."""
    return one.note(documents.REF_NAME)
