"""What an archive of the bench holds, by name: images, and a report with what belongs to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from runner.archive import media
from runner.errors import DamagedArchive
from runner.model import Noun
from runner.oci import documents
from runner.oci.documents import Config, Descriptor, Manifest
from runner.oci.layout import Layout, ref_name


class LeftOut(Noun):
    """An image that is not in the archive although it belongs there."""

    name: str
    config_digest: str
    layers: tuple[str, ...]
    """Digests of the uncompressed layers, lowest first."""
    why: str


_LEFT_OUT = TypeAdapter(tuple[LeftOut, ...])


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """An image in an archive.

    Attributes:
        reference: what it is called, such as ``memory-bench/engine:47b8e155fba0``.
        manifest: its descriptor in the index.
        config: its descriptor; the digest is the image's identity.
        layers: the compressed layers, lowest first.
        read: what its config says.
        raw: the config's bytes.
    """

    reference: str
    manifest: Descriptor
    config: Descriptor
    layers: tuple[Descriptor, ...]
    read: Config
    raw: bytes

    @property
    def name(self) -> str:
        """Which image of the project it is."""
        return name_of(self.reference)

    @property
    def diff_ids(self) -> tuple[str, ...]:
        """Digests of the uncompressed layers, lowest first."""
        return self.read.diff_ids


@dataclass(frozen=True, slots=True)
class Attached:
    """One file of an artifact.

    Attributes:
        title: what it is called.
        blob: its descriptor.
        on: the digest of the manifest it hangs on; none where that is not in the archive.
    """

    title: str
    blob: Descriptor
    on: str | None

    @property
    def sha256(self) -> str:
        """Of its bytes, in hexadecimal."""
        return self.blob.hex


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything in an archive.

    Attributes:
        images: by the digest of their configs, in the order they were archived in.
        files: what hangs on them, by artifact type (see ``runner.archive.media``).
        left_out: what may not be handed on.
    """

    images: Mapping[str, ArchivedImage]
    files: Mapping[str, tuple[Attached, ...]] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()

    def of(self, artifact_type: str) -> tuple[Attached, ...]:
        """The files of one type."""
        return self.files.get(artifact_type, ())

    def one(self, artifact_type: str) -> Attached | None:
        """The file of a type that there is one of at most."""
        return next(iter(self.of(artifact_type)), None)

    def on(self, image: ArchivedImage, artifact_type: str) -> tuple[Attached, ...]:
        """The files of one type that hang on an image."""
        return tuple(one for one in self.of(artifact_type) if one.on == image.manifest.digest)


_ONE_FILE = (media.REPORT, media.CASSETTE, media.SEALED)


def read(layout: Layout) -> Contents:
    """What a layout holds. Layers and attached files are not read.

    Raises:
        DamagedArchive: it holds something that no archive of the bench does, an image twice, more
            than one report, or something that belongs to a report without one.
    """
    images: dict[str, ArchivedImage] = {}
    files: dict[str, tuple[Attached, ...]] = {}
    for one in layout.index.manifests:
        manifest = layout.manifest(one)
        if manifest.artifact_type is None:
            image = _image(layout, one, manifest)
            if image.config.digest in images:
                raise DamagedArchive(f"The image {image.config.digest} is in the archive twice.")
            images[image.config.digest] = image
        elif manifest.artifact_type in (*media.OF_A_REPORT, *media.OF_AN_IMAGE):
            kind = manifest.artifact_type
            files[kind] = files.get(kind, ()) + _attached(manifest)
        else:
            raise DamagedArchive(f"The archive holds an unknown {manifest.artifact_type}.")
    for kind in _ONE_FILE:
        if len(files.get(kind, ())) > 1:
            raise DamagedArchive(f"The archive holds more than one {kind}.")
    if media.REPORT not in files and any(kind in files for kind in media.OF_A_REPORT):
        raise DamagedArchive("The archive holds what belongs to a report, and no report.")
    known = {image.manifest.digest for image in images.values()}
    for attached in (one for found in files.values() for one in found):
        if attached.on is not None and attached.on not in known:
            raise DamagedArchive(f"{attached.title} hangs on an image that is not in the archive.")
    return Contents(images, files, _left_out(layout))


def name_of(reference: str) -> str:
    """The image of the project that a reference means: ``engine`` of ``memory-bench/engine:1``."""
    return reference.rpartition("/")[2].partition(":")[0]


def _image(layout: Layout, one: Descriptor, manifest: Manifest) -> ArchivedImage:
    raw = layout.get(manifest.config)
    config = documents.parse(Config, raw, f"The config {manifest.config.digest}")
    reference = ref_name(one)
    if reference is None or manifest.config.media_type != documents.CONFIG:
        raise DamagedArchive(f"The manifest {one.digest} is of no image, or of one without name.")
    if len(config.diff_ids) != len(manifest.layers):
        raise DamagedArchive(f"{reference} has not the layers that its config tells.")
    return ArchivedImage(
        reference=reference,
        manifest=one,
        config=manifest.config,
        layers=manifest.layers,
        read=config,
        raw=raw,
    )


def _attached(manifest: Manifest) -> tuple[Attached, ...]:
    on = manifest.subject.digest if manifest.subject is not None else None
    found = []
    for blob in manifest.layers:
        title = blob.note(documents.TITLE)
        if not title:
            raise DamagedArchive(f"A file of {manifest.artifact_type} has no title.")
        found.append(Attached(title, blob, on))
    return tuple(found)


def _left_out(layout: Layout) -> tuple[LeftOut, ...]:
    told = (layout.index.annotations or {}).get(media.LEFT_OUT)
    if told is None:
        return ()
    try:
        return _LEFT_OUT.validate_json(told)
    except ValidationError as error:
        raise DamagedArchive("What the archive says it leaves out cannot be read.") from error


def left_out(images: tuple[LeftOut, ...]) -> dict[str, str] | None:
    """The annotations of an index that leaves these out."""
    if not images:
        return None
    listed = [image.model_dump(mode="json") for image in images]
    return {media.LEFT_OUT: documents.canonical(listed).decode()}
