"""Archives put together: images out of an engine, what belongs to them, and one file of it all."""

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import docker

from runner.archive import _locks, _out, media, sbom
from runner.archive._evidence import Piece
from runner.archive.contents import left_out, name_of
from runner.archive.plan import Plan, Wanted
from runner.archive.store import Store
from runner.archive.watch import Watch
from runner.errors import AlteredReport, CannotStart
from runner.oci import documents, engine_io, packed, zstd
from runner.oci.documents import Config, Descriptor, Index, Manifest
from runner.oci.layout import CHUNK


def threads() -> int:
    """As many as there are cores to compress on."""
    return len(os.sched_getaffinity(0))


def pack(
    client: docker.DockerClient,
    plan: Plan,
    store: Store,
    watch: Watch,
    *,
    level: int = zstd.LEVEL,
    workers: int = 1,
    name: str | None = None,
    force: bool = False,
) -> Index:
    """Put all of a plan into a store.

    Args:
        client: the engine that holds the images.
        plan: what is to go in.
        store: where; what is there already is neither asked of the engine nor compressed again.
        watch: follows.
        level: how hard layers are compressed.
        workers: how many threads compress.
        name: under which the store is to keep it; under none when left out.
        force: whether it may take the place of another archive of that name.

    Returns:
        The index of the archive.

    Raises:
        CannotStart: the engine does not give the images, or there is no room for them.
        AlteredReport: a file of the report changed meanwhile.
        UsageError: the store has another archive of that name.
    """

    def waiting() -> None:
        watch.line("Another bench is filling the store; waiting for it.")

    with _out.no_room_is_told(store.root), store.filling(waiting):
        configs = _Filling(client, store, watch, level, workers).images(plan.images)
        manifests = {
            digest: _manifest(store, wanted, raw) for digest, (wanted, raw) in configs.items()
        }
        subject = manifests.get(plan.subject) if plan.subject is not None else None
        attached = list(_report(store, subject, plan.evidence.pieces if plan.evidence else ()))
        for digest, (wanted, raw) in configs.items():
            attached += _of_image(store, manifests[digest], wanted, digest, raw, watch)
        index = Index(
            manifests=(*manifests.values(), *attached), annotations=left_out(plan.left_out)
        )
        if name is not None:
            store.record(name, index, force=force)
    return index


def write(path: Path, store: Store, index: Index, watch: Watch, *, force: bool = False) -> int:
    """Write an archive that a store holds as one file, whole or not at all.

    Returns:
        Its size in bytes.

    Raises:
        CannotStart: there is no room for it, or the like.
        UsageError: there is a file already.
        DamagedArchive: a blob of the store is damaged.
    """
    watch.begins(f"writing {path.name}", packed.size_of(store.folder, index))
    with _out.new_file(path, force=force) as file:
        packed.write(file, store.folder, index, watch.moved)
        return file.tell()


class _Filling:
    """Has every layer and config of some images in a store."""

    def __init__(
        self, client: docker.DockerClient, store: Store, watch: Watch, level: int, workers: int
    ) -> None:
        self._client = client
        self._store = store
        self._watch = watch
        self._take = functools.partial(store.take, level=level, threads=workers, moved=watch.moved)

    def images(self, wanted: Sequence[Wanted]) -> dict[str, tuple[Wanted, bytes]]:
        """The config of each, by its digest, when all layers are there."""
        layers = dict.fromkeys(layer for one in wanted for layer in one.held.diff_ids)
        known = self._known(layers)
        found: dict[str, tuple[Wanted, bytes]] = {}
        asked = []
        for one in wanted:
            config = self._stored(one) if known.issuperset(one.held.diff_ids) else None
            if config is None:
                asked.append(one)
            else:
                found[str(one.config_digest)] = (one, config)
        for group in self._groups(asked):
            found |= self._save(group, known)
        order = {id(one): place for place, one in enumerate(wanted)}
        return dict(sorted(found.items(), key=lambda item: order[id(item[1][0])]))

    def _known(self, layers: Mapping[str, None]) -> set[str]:
        stored = [one for one in layers if self._store.has(one)]
        if stored:
            self._watch.begins("reading what is stored")
        return {one for one in stored if self._store.layer(one, self._watch.line) is not None}

    def _stored(self, one: Wanted) -> bytes | None:
        blob = self._store.config(one.config_digest) if one.config_digest is not None else None
        return self._store.folder.get(blob) if blob is not None else None

    def _groups(self, asked: Sequence[Wanted]) -> Iterator[tuple[Wanted, ...]]:
        """All at once, so that what they share comes once; one by one where only that tells which
        image is which."""
        if asked and all(one.config_digest == one.held.id for one in asked):
            yield tuple(asked)
        else:
            yield from ((one,) for one in asked)

    def _save(self, group: Sequence[Wanted], known: set[str]) -> dict[str, tuple[Wanted, bytes]]:
        self._watch.begins(f"saving {', '.join(name_of(one.reference) for one in group)}")
        with engine_io.Saving(self._client, [one.held.id for one in group]) as saving:
            new: set[str] = set()
            for layer in saving.layers():
                blob = self._take(layer, known)
                if blob is not None:
                    new.add(layer.diff_id)
                    self._watch.line(_said(layer, blob))
            saved = saving.images()
        known |= new
        found = {}
        by_digest = {one.config_digest: one for one in group}
        for one in saved:
            wanted = by_digest.get(one.digest, group[0] if len(group) == 1 else None)
            if wanted is None or wanted.config_digest not in (None, one.digest):
                raise CannotStart(f"The engine saved {one.digest}, which it was not asked for.")
            if one.read.diff_ids != wanted.held.diff_ids:
                raise CannotStart(f"The engine saved {one.digest} with other layers than it told.")
            self._store.folder.put(one.config, documents.CONFIG)
            found[one.digest] = (wanted, one.config)
        return found


def _said(layer: engine_io.Layer, blob: Descriptor) -> str:
    size = f" of {layer.size / 1e6:,.1f} MB" if layer.size is not None else ""
    return f"layer {layer.diff_id[7:19]}{size}, {blob.size / 1e6:,.1f} MB compressed"


def _manifest(store: Store, wanted: Wanted, raw: bytes) -> Descriptor:
    config = store.folder.put(raw, documents.CONFIG)
    manifest = Manifest(
        config=config, layers=tuple(store.blob_of(layer) for layer in wanted.held.diff_ids)
    )
    return store.folder.add(manifest, annotations={documents.REF_NAME: wanted.reference})


def _report(
    store: Store, subject: Descriptor | None, pieces: Sequence[Piece]
) -> Iterator[Descriptor]:
    """An artifact for each kind of what belongs to a report."""
    for kind in media.OF_A_REPORT:
        files = [_file(store, piece) for piece in pieces if piece.kind == kind]
        if files:
            yield store.folder.attach(subject, kind, files)


def _file(store: Store, piece: Piece) -> Descriptor:
    notes = {documents.TITLE: piece.title}
    if piece.fixture:
        notes[media.FIXTURE] = piece.fixture
    with contextlib.ExitStack() as stack:
        source = piece.source
        if isinstance(source, Path):
            file = stack.enter_context(source.open("rb"))
            put = store.folder.put(iter(lambda: file.read(CHUNK), b""), media.type_of(piece.title))
        else:
            put = store.folder.put(source, media.type_of(piece.title))
    if put.hex != piece.sha256:
        raise AlteredReport(f"{piece.title} was changed while it was archived.")
    return put.model_copy(update={"annotations": notes})


def _of_image(
    store: Store, manifest: Descriptor, wanted: Wanted, digest: str, raw: bytes, watch: Watch
) -> Iterator[Descriptor]:
    """What hangs on an image whether or not it has a report: what is in it, and what pins that."""
    identity = wanted.identity.model_copy(update={"config_digest": digest})
    created = documents.parse(Config, raw, f"The config {digest}").created
    files = {
        media.SBOM: {sbom.TITLE: sbom.write(identity, created)},
        media.LOCKS: _pinned(wanted, watch),
    }
    for kind, found in files.items():
        put = [
            store.folder.put(data, media.type_of(title)).model_copy(
                update={"annotations": {documents.TITLE: title}}
            )
            for title, data in found.items()
        ]
        if put:
            yield store.folder.attach(manifest, kind, put)


def _pinned(wanted: Wanted, watch: Watch) -> dict[str, bytes]:
    name = name_of(wanted.reference)
    found = _locks.of(name, wanted.identity)
    if found is None:
        watch.line(f"{name} was built from other files than these; their locks are left out.")
    return found or {}
