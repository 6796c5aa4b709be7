"""Whether a file is an archive, whole and as it was written, before anything in it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.archive import contents, media
from runner.archive.contents import Contents
from runner.archive.verify.sheet import Look, Looking
from runner.archive.watch import Watch
from runner.errors import DamagedArchive, UsageError
from runner.oci import documents, tars
from runner.oci.documents import Descriptor, Manifest
from runner.oci.layout import ref_name
from runner.oci.packed import Packed

TAR = "tar"
INDEX = "index"
BLOBS = "blobs"
MANIFESTS = "manifests"
REFERRERS = "referrers"
CONTENTS = "contents"
_INDEX = "index and marker, against the checksums"
_CONTENTS = "images and files: of known kinds, named"
_EMPTY = b"{}"


@contextmanager
def opened(path: Path, looking: Looking) -> Iterator[Packed | None]:
    """Open an archive for as long as the block lasts; none where that cannot be done.

    Raises:
        UsageError: there is no such file.
    """
    with looking.check(TAR, "members of the file, and nothing after them") as look:
        try:
            with path.open("rb") as file:
                for _ in tars.members(file):
                    look.at()
            if not look.looked_at:
                look.amiss("It holds nothing.")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    archive = None
    if looking.held(TAR):
        with looking.check(INDEX, _INDEX) as look:
            look.at(2)
            archive = Packed(path)
    else:
        looking.cannot(INDEX, _INDEX, "The file is damaged.")
    try:
        yield archive
    finally:
        if archive is not None:
            archive.close()


def look(archive: Packed, looking: Looking, watch: Watch) -> Contents | None:
    """Make the checks of a layout; what it holds, where that can be read."""
    watch.begins("verifying blobs", sum(archive.sizes.values()))
    with looking.check(BLOBS, "blobs, against their digests and sizes") as blobs:
        for digest, size in archive.sizes.items():
            with (
                blobs.one(),
                archive.open(Descriptor(media_type="", digest=digest, size=size)) as stream,
            ):
                for chunk in stream:
                    watch.moved(len(chunk))
    found: Contents | None = None
    with looking.check(MANIFESTS, "manifests: form, blobs there, none astray") as manifests:
        read = _manifests(archive, manifests)
        _strays(archive, read, manifests)
    with looking.check(REFERRERS, "what hangs on images that are there") as referrers:
        _subjects(archive, read, referrers)
    if manifests.wrong or referrers.wrong:
        looking.cannot(CONTENTS, _CONTENTS, "The manifests are damaged.")
        return None
    with looking.check(CONTENTS, _CONTENTS) as kinds:
        found = contents.read(archive)
        kinds.at(len(found.images) + sum(map(len, found.files.values())))
        _hangs(found, kinds)
    return found


def _manifests(archive: Packed, look: Look) -> dict[str, Manifest]:
    found: dict[str, Manifest] = {}
    for one in archive.index.manifests:
        with look.one():
            if one.digest in found:
                raise DamagedArchive(f"The index names {one.digest} twice.")
            if one.media_type != documents.MANIFEST:
                raise DamagedArchive(f"{one.digest} is {one.media_type}, and no manifest.")
            manifest = archive.manifest(one)
            found[one.digest] = manifest
            if one.artifact_type != manifest.artifact_type:
                raise DamagedArchive(f"The index says of {one.digest} that it is something else.")
            for blob in manifest.blobs:
                archive.expect(blob)
            _form(archive, one, manifest)
    return found


def _form(archive: Packed, one: Descriptor, manifest: Manifest) -> None:
    if manifest.artifact_type is None:
        wrong = [blob for blob in manifest.layers if blob.media_type != documents.LAYER]
        if manifest.config.media_type != documents.CONFIG or wrong or ref_name(one) is None:
            raise DamagedArchive(f"{one.digest} is no image, or one without a name.")
        if manifest.subject is not None:
            raise DamagedArchive(f"{one.digest} is an image, and hangs on another.")
    elif archive.get(manifest.config) != _EMPTY:
        raise DamagedArchive(f"{one.digest} is a {manifest.artifact_type} with a config.")


def _strays(archive: Packed, read: dict[str, Manifest], look: Look) -> None:
    """Blobs that nothing asks for; where a manifest could not be read, nobody knows."""
    if look.wrong:
        return
    asked = set(read) | {blob.digest for manifest in read.values() for blob in manifest.blobs}
    for digest in sorted(archive.sizes.keys() - asked):
        look.amiss(f"Nothing in the archive asks for the blob {digest}.")


def _subjects(archive: Packed, read: dict[str, Manifest], look: Look) -> None:
    there = {one.digest: one for one in archive.index.manifests}
    for digest, manifest in read.items():
        subject = manifest.subject
        if manifest.artifact_type is None or subject is None:
            continue
        with look.one():
            image = there.get(subject.digest)
            if image is None or image.digest not in read:
                raise DamagedArchive(f"{digest} hangs on {subject.digest}, which is not there.")
            if (subject.size, subject.media_type) != (image.size, image.media_type):
                raise DamagedArchive(f"{digest} tells another size or kind of {subject.digest}.")
            if read[image.digest].artifact_type is not None:
                raise DamagedArchive(f"{digest} hangs on {subject.digest}, which is no image.")


def _hangs(found: Contents, look: Look) -> None:
    """Bills of materials and locks hang on an image each; the rest on one and the same."""
    where = {one.on for kind in media.OF_A_REPORT for one in found.of(kind)}
    if len(where) > 1:
        look.amiss("What belongs to the report hangs on several images.")
    for kind in media.OF_AN_IMAGE:
        for one in found.of(kind):
            if one.on is None:
                look.amiss(f"{one.title} ({kind}) hangs on no image.")
