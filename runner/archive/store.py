"""The folder that archives are put together in, and can share: every layer lies there once.

It is an OCI layout like any other, with a little beside it: ``layers`` says which blob holds which
layer, ``archives`` has the index of every archive by its name, and the layout's own index leads to
all of them. One process at a time fills it; what one that was killed left half done is removed by
the next.
"""

import contextlib
import fcntl
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from runner.errors import CannotStart, DamagedArchive, UsageError
from runner.oci import documents, zstd
from runner.oci.documents import Descriptor, Index
from runner.oci.engine_io import Layer
from runner.oci.folder import Folder
from runner.oci.layout import CHUNK, INDEX, MARKER

_LAYERS = "layers"
_ARCHIVES = "archives"
_LOCK = ".lock"
_TEMPORARY = ".parts"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Store:
    """One such folder.

    Attributes:
        root: its path.
        folder: its blobs.
    """

    def __init__(self, root: Path) -> None:
        """Make the folder, or take one that is there.

        Raises:
            CannotStart: it cannot be made or written.
            UsageError: it holds other things.
            DamagedArchive: it holds a layout that this bench does not read.
        """
        self.root = root
        try:
            if root.is_dir() and not (root / _LOCK).exists() and any(root.iterdir()):
                raise UsageError(
                    f"{root} is a folder of something else.",
                    hint="Name one for --store that is empty or not there.",
                )
            root.mkdir(parents=True, exist_ok=True)
            # Two that make it at once must not tidy each other's first files away.
            first = contextlib.nullcontext() if (root / MARKER).exists() else self._locked()
            with first:
                self.folder = Folder(root)
        except OSError as error:
            raise CannotStart(
                f"Nothing can be stored in {root}: {error.strerror or error}.",
                hint="Choose another folder for --store.",
            ) from error

    @contextlib.contextmanager
    def filling(self, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the store while something is put in it.

        Args:
            waiting: called before it waits for another process.
        """
        with self._locked(waiting):
            self.folder.tidy()
            yield

    @contextlib.contextmanager
    def _locked(self, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        with (self.root / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def has(self, diff_id: str) -> bool:
        """Whether a layer should be there; ``layer`` says whether it is whole."""
        return self._note(diff_id).exists()

    def layer(
        self, diff_id: str, told: Callable[[str], None] = lambda _: None
    ) -> Descriptor | None:
        """The blob of a layer that is there already, read through and found whole.

        Args:
            diff_id: the digest of the uncompressed layer.
            told: what is wrong with one that is dropped.
        """
        if not self.has(diff_id):
            return None
        blob = None
        try:
            blob = self.blob_of(diff_id)
            for _ in self.folder.layer(blob, diff_id):
                pass
        except DamagedArchive as error:
            told(f"A stored layer is packed anew. {error}")
            self._note(diff_id).unlink()
            if blob is not None:
                self.folder.drop(blob.digest)
            return None
        return blob

    def blob_of(self, diff_id: str) -> Descriptor:
        """The blob of a layer that was taken or found."""
        note = self._note(diff_id)
        return documents.parse(Descriptor, note.read_bytes(), f"What {note} says")

    def config(self, digest: str) -> Descriptor | None:
        """The config of an image that is there already, and whole."""
        size = self.folder.size(digest)
        if size is None:
            return None
        blob = Descriptor(media_type=documents.CONFIG, digest=digest, size=size)
        try:
            self.folder.get(blob)
        except DamagedArchive:
            return None
        return blob

    def take(
        self,
        layer: Layer,
        known: Collection[str],
        *,
        level: int,
        threads: int,
        moved: Callable[[int], None] = lambda _: None,
    ) -> Descriptor | None:
        """Compress a layer as it comes, and keep it.

        Args:
            layer: one an engine saves.
            known: the layers, of those that are to come, which are there.
            level: how hard to compress.
            threads: how many to compress with.
            moved: how many bytes more of it were read.

        Returns:
            The blob; none where the layer is known.

        Raises:
            OSError: there is no room, or the like.
        """
        chunks = _counted(layer, moved)
        if layer.named in known:
            for _ in chunks:
                pass
            return None
        if layer.size is not None and (layer.named is not None or not known):
            blob = self._packed(chunks, layer.size, level, threads)
            return self._keep(layer.diff_id, blob)
        # Which layer it is shows only at its end, and none is compressed to be thrown away.
        with self.folder.fresh() as (file, _):
            size = sum(file.write(chunk) for chunk in chunks)
            if layer.diff_id in known:
                return None
            file.seek(0)
            again = iter(lambda: file.read(CHUNK), b"")
            return self._keep(layer.diff_id, self._packed(again, size, level, threads))

    def _packed(self, chunks: Iterator[bytes], size: int, level: int, threads: int) -> Descriptor:
        packed = zstd.compress(chunks, size, level=level, threads=threads)
        return self.folder.put(packed, documents.LAYER)

    def _note(self, diff_id: str) -> Path:
        return self.root / _LAYERS / diff_id.removeprefix("sha256:")

    def _keep(self, diff_id: str, blob: Descriptor) -> Descriptor:
        self.folder.write(f"{_LAYERS}/{diff_id.removeprefix('sha256:')}", blob.written())
        return blob

    # ------------------------------------------------------------ archives by name

    def names(self) -> tuple[str, ...]:
        """Every archive in it."""
        files = (self.root / _ARCHIVES).glob("*.json")
        return tuple(sorted(file.stem for file in files))

    def record(self, name: str, index: Index, *, force: bool = False) -> None:
        """Keep an archive under a name, and have the layout's own index lead to it.

        Raises:
            UsageError: the name is another archive's, or cannot be one.
        """
        check_name(name)
        file = self.root / _ARCHIVES / f"{name}.json"
        if file.exists() and file.read_bytes() != index.written() and not force:
            raise UsageError(
                f"The store {self.root} has another archive named {name}.",
                hint="Give another --name, or --force to replace it.",
            )
        self.folder.settle(index)
        self.folder.write(f"{_ARCHIVES}/{name}.json", index.written())
        everything = {
            one.written(): one for each in self.names() for one in self.archive(each).manifests
        }
        self.folder.write(INDEX, Index(manifests=tuple(everything.values())).written())

    def archive(self, name: str) -> Index:
        """The index of one archive.

        Raises:
            UsageError: there is none of that name.
        """
        check_name(name)
        file = self.root / _ARCHIVES / f"{name}.json"
        try:
            raw = file.read_bytes()
        except FileNotFoundError as error:
            raise UsageError(
                f"The store {self.root} has no archive {name}.",
                hint=f"It has: {', '.join(self.names()) or 'none'}.",
            ) from error
        return documents.parse(Index, raw, f"The index {file}")


def check_name(name: str) -> None:
    """Whether an archive can be called so.

    Raises:
        UsageError: it cannot.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is no name of an archive: letters, digits and . _ -")


@contextlib.contextmanager
def temporary(beside: Path) -> Iterator[Store]:
    """A store beside a file that is to be written, gone in the end.

    One that a killed process left for the same file is removed.
    """
    prefix = f".{beside.name}."
    for old in beside.parent.glob(f"{_escaped(prefix)}*{_TEMPORARY}"):
        _remove_if_dead(old)
    root = Path(tempfile.mkdtemp(dir=beside.parent, prefix=prefix, suffix=_TEMPORARY))
    try:
        # Its owner's as long as this process lives: who can lock it may remove it.
        with (root / ".alive").open("w") as alive:
            fcntl.flock(alive, fcntl.LOCK_EX)
            yield Store(root / "store")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _remove_if_dead(root: Path) -> None:
    try:
        with (root / ".alive").open("r") as alive:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(root, ignore_errors=True)
    except OSError:
        return


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]*?])", r"[\1]", text)


def _counted(layer: Layer, moved: Callable[[int], None]) -> Iterator[bytes]:
    for chunk in layer:
        moved(len(chunk))
        yield chunk
