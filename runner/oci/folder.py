"""A layout in a folder: what archives are put together in, and what they can share."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from runner.errors import DamagedArchive
from runner.oci import documents, zstd
from runner.oci.documents import Descriptor, Index, Manifest
from runner.oci.layout import BLOBS, INDEX, MARK, MARKER, Layout

_EMPTY = b"{}"


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
        index = root / INDEX
        self.index = Index()
        if index.exists():
            self.index = documents.parse(Index, index.read_bytes(), f"The index {index}")

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

    def size(self, digest: str) -> int | None:
        """The size of a blob; none where it is not there."""
        try:
            return (self._blobs / digest.removeprefix("sha256:")).stat().st_size
        except FileNotFoundError:
            return None

    def tidy(self) -> None:
        """Remove what was left half written; only where nobody else is writing."""
        for left in self._new.iterdir():
            left.unlink(missing_ok=True)

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
        """Put a file beside the blobs in place of another.

        Whole or not at all, but for a machine that loses its power: see ``settle``.
        """
        with self.fresh() as (file, path):
            file.write(data)
            file.flush()
            path.chmod(0o644)
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    def settle(self, index: Index) -> None:
        """Have all that an index leads to on the disk before anything is told of it."""
        for digest in self.reached(index):
            with (self._blobs / digest.removeprefix("sha256:")).open("rb") as file:
                os.fsync(file.fileno())

    @contextlib.contextmanager
    def fresh(self) -> Iterator[tuple[BinaryIO, Path]]:
        """A file to write to, gone in the end unless it was moved elsewhere."""
        handle, name = tempfile.mkstemp(dir=self._new)
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)
