"""OCI layouts: blobs by digest under an index, in a folder or in one canonical tar file."""

import contextlib
import hashlib
import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

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
_EMPTY = b"{}"

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

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """The size of every blob there is, by its digest."""

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
        size = self.sizes.get(blob.digest)
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

    def check(self, told: Told = untold) -> None:
        """Hold every blob that the index leads to to its digest.

        Args:
            told: how many bytes more were read.

        Raises:
            DamagedArchive: names the first that does not hold.
        """
        for blob in self.reached().values():
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


class Folder(Layout):
    """A layout in a folder, which blobs can be put into by several processes at once.

    What is half written lies in ``.new`` and never under the name of a blob.
    """

    def __init__(self, root: Path) -> None:
        """Make the folder a layout, where it is none yet.

        Raises:
            OSError: it cannot be made or read.
            DamagedArchive: it holds a layout of another version, or no index.
        """
        self.root = root
        self._blobs = root / BLOBS
        self._new = root / ".new"
        for folder in (self._blobs, self._new):
            folder.mkdir(parents=True, exist_ok=True)
        marker = root / MARKER
        if not marker.exists():
            self.write(MARKER, MARK)
        if marker.read_bytes() != MARK:
            raise DamagedArchive(f"{marker} is not of the version this bench reads.")
        self.index = Index()
        if (root / INDEX).exists():
            raw = (root / INDEX).read_bytes()
            self.index = documents.parse(Index, raw, f"The index {root / INDEX}")

    @property
    def sizes(self) -> Mapping[str, int]:
        """The size of every blob there is, by its digest."""
        return {
            f"sha256:{entry.name}": entry.stat().st_size
            for entry in os.scandir(self._blobs)
            if is_hex(entry.name)
        }

    def expect(self, blob: Descriptor) -> None:
        """As for every layout, without looking at all the others."""
        try:
            size = (self._blobs / blob.hex).stat().st_size
        except FileNotFoundError as error:
            raise DamagedArchive(f"The blob {blob.digest} is not there.") from error
        if size != blob.size:
            raise DamagedArchive(f"The blob {blob.digest} has {size} bytes, not {blob.size}.")

    @contextlib.contextmanager
    def _open(self, digest: str) -> Iterator[zstd.Source]:
        with (self._blobs / digest.removeprefix("sha256:")).open("rb") as file:
            yield file

    def put(self, data: bytes | Iterable[bytes], media_type: str) -> Descriptor:
        """Add a blob.

        Raises:
            OSError: it cannot be written; nothing of it is left then.
        """
        digest, size = hashlib.sha256(), 0
        with self.fresh() as (file, path):
            for chunk in (data,) if isinstance(data, bytes) else data:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
            file.flush()
            path.chmod(0o644)
            path.replace(self._blobs / digest.hexdigest())
        return Descriptor(media_type=media_type, digest=f"sha256:{digest.hexdigest()}", size=size)

    def drop(self, digest: str) -> None:
        """Remove a blob."""
        (self._blobs / digest.removeprefix("sha256:")).unlink(missing_ok=True)

    def add(self, manifest: Manifest, **fields: object) -> Descriptor:
        """Add a manifest; ``fields`` are those of its descriptor. It is in no index yet."""
        put = self.put(manifest.written(), documents.MANIFEST)
        return put.model_copy(update={"artifact_type": manifest.artifact_type, **fields})

    def attach(
        self, subject: Descriptor | None, artifact_type: str, files: Iterable[Descriptor]
    ) -> Descriptor:
        """Hang files that were put, each with its title, on a manifest. It is in no index yet."""
        manifest = Manifest(
            artifact_type=artifact_type,
            config=self.put(_EMPTY, documents.EMPTY),
            layers=tuple(files),
            subject=subject.bare if subject is not None else None,
        )
        return self.add(manifest)

    def write(self, name: str, data: bytes) -> None:
        """Put a file beside the blobs in place of another, whole or not at all."""
        with self.fresh() as (file, path):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            path.chmod(0o644)
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[tuple[BinaryIO, Path]]:
        """A file to write to, gone in the end unless it was moved elsewhere."""
        handle, name = tempfile.mkstemp(dir=self._new)
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)


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
