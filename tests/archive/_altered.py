"""Archives taken apart, changed, and put together again by somebody who gets every digest right."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from runner.archive import contents, media
from runner.archive.contents import LeftOut, left_out
from runner.oci import documents, zstd
from runner.oci.documents import Descriptor, Index, Manifest
from runner.oci.folder import Folder
from runner.oci.packed import Packed
from runner.reports import integrity
from tests.archive._made import Document
from tests.oci._kit import write

MOST = 1 << 30


@dataclass
class File:
    """One file of an artifact."""

    title: str
    data: bytes
    kind: str = "text/plain"
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class Hung:
    """An artifact: files on an image, by the place of that in the archive; none on nothing."""

    kind: str
    on: int | None
    files: list[File]


@dataclass
class Picture:
    """An image: what it is called, its config and its layers as they unpack."""

    reference: str
    config: bytes
    layers: list[bytes]


@dataclass
class Parts:
    """All of an archive, as nobody's digests hold it together."""

    images: list[Picture]
    hung: list[Hung]
    left_out: tuple[LeftOut, ...] = ()

    def of(self, kind: str, number: int = 0) -> Hung:
        """An artifact of that type."""
        return [one for one in self.hung if one.kind == kind][number]

    def file(self, kind: str, title: str = "") -> File:
        """A file of an artifact of that type; the first whose title ends so."""
        return next(file for file in self.of(kind).files if file.title.endswith(title))

    def report(self, how: Callable[[Document], object], *, digests: bool = True) -> None:
        """Change the report, and its digests of itself."""
        file = self.of(media.REPORT).files[0]
        document = orjson.loads(file.data)
        how(document)
        if digests:
            document[integrity.OWN_FIELD] = integrity.digests(document)
        changed = orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"
        assert changed != file.data, "nothing was changed"
        file.data = changed


def taken_apart(path: Path) -> Parts:
    """An archive's parts."""
    with Packed(path) as archive:
        found = contents.read(archive)
        images = list(found.images.values())
        places = {image.manifest.digest: place for place, image in enumerate(images)}
        pictures = [
            Picture(
                image.reference,
                image.raw,
                [
                    b"".join(archive.layer(blob, diff_id))
                    for blob, diff_id in zip(image.layers, image.diff_ids, strict=True)
                ],
            )
            for image in images
        ]
        hung = []
        for one in archive.index.manifests:
            manifest = archive.manifest(one)
            if manifest.artifact_type is None:
                continue
            on = places[manifest.subject.digest] if manifest.subject is not None else None
            files = [
                File(
                    blob.note(documents.TITLE) or "",
                    archive.get(blob, MOST),
                    blob.media_type,
                    dict(blob.annotations or {}),
                )
                for blob in manifest.layers
            ]
            hung.append(Hung(manifest.artifact_type, on, files))
        return Parts(pictures, hung, found.left_out)


def put_together(
    parts: Parts,
    out: Path,
    finish: Callable[[Folder, list[Descriptor]], Sequence[Descriptor]] | None = None,
) -> Path:
    """An archive of these parts, every digest in it right.

    Args:
        parts: what it is to hold.
        out: where it goes.
        finish: changes the manifests of its index, at last.
    """
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        folder = Folder(Path(scratch) / "layout")
        subjects = [_image(folder, one) for one in parts.images]
        manifests = list(subjects)
        for hung in parts.hung:
            files = [
                folder.put(file.data, file.kind).model_copy(
                    update={"annotations": file.notes | {documents.TITLE: file.title}}
                )
                for file in hung.files
            ]
            on = subjects[hung.on] if hung.on is not None else None
            manifests.append(folder.attach(on, hung.kind, files))
        index = finish(folder, manifests) if finish is not None else manifests
        write(out, folder, index, annotations=left_out(parts.left_out))
    return out


def _image(folder: Folder, picture: Picture) -> Descriptor:
    layers = [
        folder.put(zstd.compress((raw,), len(raw), level=1), documents.LAYER)
        for raw in picture.layers
    ]
    config = folder.put(picture.config, documents.CONFIG)
    return folder.add(
        Manifest(config=config, layers=tuple(layers)),
        annotations={documents.REF_NAME: picture.reference},
    )


def again(path: Path, out: Path, how: Callable[[Parts], object]) -> Path:
    """An archive with something in it changed, by somebody who gets every digest right."""
    parts = taken_apart(path)
    how(parts)
    return put_together(parts, out)


def index_of(path: Path) -> Index:
    """What an archive says it holds."""
    with Packed(path) as archive:
        return archive.index
