"""Images out of an archive and into an engine: all of it verified first, none of it half there."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import docker

from runner.archive import contents
from runner.archive.contents import ArchivedImage, Contents
from runner.archive.watch import Watch
from runner.errors import DamagedArchive, UsageError
from runner.oci import engine_io
from runner.oci.documents import Descriptor
from runner.oci.engine_io import Held, LoadedLayer, Loading
from runner.oci.layout import Layout

_OURS = re.compile(r"memory-bench/[a-z0-9][a-z0-9._-]*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True)
class Verified:
    """What an archive holds, every byte of it held to its digests.

    Attributes:
        contents: what it is.
        sizes: bytes of every uncompressed layer, by its digest.
    """

    contents: Contents
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Restored:
    """An image that an engine holds now.

    Attributes:
        reference: the name it has there.
        config_digest: what it is.
        id: what the engine calls it.
        was_there: whether the engine held it before.
        taken: the archive's name of it, where that is another image's on the engine.
    """

    reference: str
    config_digest: str
    id: str
    was_there: bool
    taken: str | None = None


def verify(layout: Layout, watch: Watch, *, workers: int = 1) -> Verified:
    """Hold every blob to its digest, and every layer to that of its uncompressed bytes too.

    Raises:
        DamagedArchive: names what does not hold.
    """
    held = contents.read(layout)
    layers: dict[tuple[str, str], Descriptor] = {}
    for image in held.images.values():
        for blob, diff_id in zip(image.layers, image.diff_ids, strict=True):
            layers[blob.digest, diff_id] = blob
    watch.begins("verifying", sum(blob.size for blob in layout.reached().values()))

    def size_of(item: tuple[tuple[str, str], Descriptor]) -> tuple[str, int]:
        (_, diff_id), blob = item
        return diff_id, sum(len(piece) for piece in layout.layer(blob, diff_id, watch.moved))

    # All else was held to its digest by the same reading; the largest are begun with.
    largest = sorted(layers.items(), key=lambda item: -item[1].size)
    sizes = dict(_each(size_of, largest, workers))
    layout.check(watch.moved, but={digest for digest, _ in layers})
    return Verified(held, sizes)


def restore(
    client: docker.DockerClient,
    layout: Layout,
    watch: Watch,
    *,
    only: str | None = None,
    workers: int = 1,
) -> tuple[Restored, ...]:
    """Have an engine hold the images of an archive, under the names they have there.

    Nothing is asked of the engine before all of the archive was verified. An image that it holds
    already is not loaded again, so what was interrupted can be done again; none has a name before
    all are whole. A name that means another image on the engine is left alone: the archive's gets
    one that ends in its digest.

    Args:
        client: the engine.
        layout: the archive.
        watch: follows.
        only: one image, by its name in the project, its reference or the digest of its config.
        workers: how many threads verify.

    Raises:
        DamagedArchive: the archive is not as it was written, or names what is not the project's.
        UsageError: it holds no such image.
        CannotStart: the engine does not take the images.
    """
    verified = verify(layout, watch, workers=workers)
    chosen = choose(verified.contents, only)
    for image in chosen:
        if _OURS.fullmatch(image.reference) is None:
            raise DamagedArchive(f"{image.reference} is no name of an image of the project.")
    found = {
        image.config.digest: engine_io.find(client, image.config.digest, image.diff_ids)
        for image in chosen
    }
    missing = [image for image in chosen if found[image.config.digest] is None]
    if missing:
        total = sum({d: verified.sizes[d] for one in missing for d in one.diff_ids}.values())
        watch.begins(f"loading {', '.join(image.name for image in missing)}", total)
        loading = [_loading(layout, image, verified.sizes) for image in missing]
        held = engine_io.load(client, loading, watch.moved)
        found |= {image.config.digest: one for image, one in zip(missing, held, strict=True)}
    loaded = {image.config.digest for image in missing}
    return tuple(
        _named(client, image, there, was_there=image.config.digest not in loaded)
        for image in chosen
        if (there := found[image.config.digest]) is not None
    )


def choose(held: Contents, only: str | None) -> tuple[ArchivedImage, ...]:
    """The images that are meant.

    Raises:
        UsageError: none is.
    """
    every = tuple(held.images.values())
    chosen = tuple(
        image
        for image in every
        if only is None or only in (image.name, image.reference, image.config.digest)
    )
    if not chosen:
        there = ", ".join(image.reference for image in every) or "none"
        left = "".join(f" {one.name} was left out: {one.why}" for one in held.left_out)
        what = "no image" if only is None else f"no image {only!r}"
        raise UsageError(f"The archive holds {what}.{left}", hint=f"It holds: {there}.")
    return chosen


def _loading(layout: Layout, image: ArchivedImage, sizes: Mapping[str, int]) -> Loading:
    return Loading(
        image.raw,
        tuple(
            LoadedLayer(diff_id, sizes[diff_id], functools.partial(layout.layer, blob, diff_id))
            for blob, diff_id in zip(image.layers, image.diff_ids, strict=True)
        ),
    )


def _named(
    client: docker.DockerClient, image: ArchivedImage, held: Held, *, was_there: bool
) -> Restored:
    reference, taken = image.reference, None
    named = engine_io.inspect(client, reference)
    if named is not None and named.id != held.id:
        taken = reference
        reference = f"{reference}-{image.config.hex[:12]}"
        named = engine_io.inspect(client, reference)
    if named is None or named.id != held.id:
        engine_io.tag(client, held, reference)
    return Restored(reference, image.config.digest, held.id, was_there, taken)


def _each(
    work: Callable[[tuple[tuple[str, str], Descriptor]], tuple[str, int]],
    items: Sequence[tuple[tuple[str, str], Descriptor]],
    workers: int,
) -> list[tuple[str, int]]:
    """Work done on every item, several at a time; the first error ends it."""
    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
