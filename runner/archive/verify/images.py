"""The images of an archive: that they are the report's, whole, and hold what is said of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runner.archive import media
from runner.archive.contents import ArchivedImage, Contents, name_of
from runner.archive.verify import bill
from runner.archive.verify.databases import Databases
from runner.archive.verify.sheet import Look, Looking, NotCheckable, told
from runner.archive.watch import Watch
from runner.errors import DamagedArchive
from runner.images import drift, labels
from runner.model import ImageIdentity, Package
from runner.oci.packed import Packed

IMAGES = "images"
LAYERS = "layers"
PACKAGES = "packages"
SBOM = "sbom"
LEFT_OUT = "left-out"


@dataclass(slots=True)
class Inside:
    """What was found in an image.

    Attributes:
        packages: by the databases of their managers; none where they could not be read.
        listed: by the image's own list; none where it has none.
        problem: why they could not be read.
        damaged: whether its layers are not what they have to be.
    """

    packages: frozenset[Package] | None = None
    listed: frozenset[Package] | None = None
    problem: str = ""
    damaged: bool = False


@dataclass(slots=True)
class _Reading:
    """Layers that were read already, so that what images share is read once."""

    whole: set[tuple[str, str]] = field(default_factory=set)
    below: dict[tuple[str, ...], Databases] = field(default_factory=dict)


def look(
    archive: Packed,
    found: Contents,
    told_of: tuple[ImageIdentity, ...] | None,
    looking: Looking,
    watch: Watch,
) -> dict[str, Inside]:
    """Make the checks of images.

    Args:
        archive: the file.
        found: what it holds.
        told_of: the images of the report; none where there is no report.
        looking: where the checks go.
        watch: follows the layers.

    Returns:
        What is in each image, by the digest of its config.
    """
    with looking.check(IMAGES, "images, against what the report says") as images:
        if told_of is None:
            raise NotCheckable("There is no report that says anything of them.")
        _identities(found, told_of, images)
    inside: dict[str, Inside] = {}
    watch.begins("unpacking layers", _to_read(found))
    with looking.check(LAYERS, "layers, unpacked, against their configs") as layers:
        reading = _Reading()
        for digest, image in found.images.items():
            inside[digest] = _read(archive, image, reading, layers, watch)
    identities = {one.config_digest: one for one in told_of or ()}
    with looking.check(PACKAGES, "packages: databases, lists and the report") as packages:
        _packages(found, inside, identities, packages)
    with looking.check(SBOM, "packages in bills of materials, made again") as bills:
        packages_of = {
            digest: frozenset(identities[digest].packages)
            if digest in identities
            else inside[digest].packages
            for digest in found.images
        }
        bill.hold(archive, found, packages_of, bills)
    for left in found.left_out:
        why = f"{left.name} is not in the archive: {left.why}"
        looking.cannot(LEFT_OUT, "an image that the report names", why)
    return inside


def _identities(found: Contents, told_of: tuple[ImageIdentity, ...], look: Look) -> None:
    left_out = {left.config_digest: left for left in found.left_out}
    for identity in told_of:
        digest = identity.config_digest
        left = left_out.get(digest)
        if digest not in found.images and left is not None:
            if left.layers != identity.layers:
                look.amiss(f"{left.name} is left out with other layers than the report tells.")
            continue
        with look.one():
            image = found.images.get(digest)
            if image is None:
                raise DamagedArchive(f"{identity.name} ({digest}) is not in the archive.")
            for what, ours, theirs in _said(image, identity):
                if ours != theirs:
                    raise DamagedArchive(
                        f"{image.reference}: {what} is {_short(ours)}; the report says"
                        f" {_short(theirs)}."
                    )

    # The system's own image comes first in a report, where it was not left out.
    there = (
        found.images[one.config_digest] for one in told_of if one.config_digest in found.images
    )
    subject = next((image.manifest.digest for image in there), None)
    for file in (file for kind in media.OF_A_REPORT for file in found.of(kind)):
        if file.on != subject:
            look.amiss(f"{file.title} hangs on another image than the system's.")


def _said(image: ArchivedImage, identity: ImageIdentity) -> Iterator[tuple[str, object, object]]:
    marks = image.read.labels
    yield "layers", image.diff_ids, identity.layers
    yield "platform", image.read.platform, identity.platform
    yield "name", image.name, name_of(identity.name)
    for what, label, told_ in (
        ("base", labels.BASE, identity.base),
        ("source", labels.SOURCE, identity.source),
    ):
        if marks.get(label):
            yield what, marks[label], told_
    yield "drift", drift.of(marks), identity.drift
    # A report of before it was known says nothing of it.
    if not identity.redistributable:
        yield "restriction", labels.restriction(marks), identity.restriction


def _to_read(found: Contents) -> int:
    """Bytes of all layers, those that images share with all below them once."""
    sizes: dict[tuple[str, ...], int] = {}
    for image in found.images.values():
        for number, blob in enumerate(image.layers, 1):
            sizes[*image.diff_ids[:number], blob.digest] = blob.size
    return sum(sizes.values())


def _read(
    archive: Packed, image: ArchivedImage, reading: _Reading, look: Look, watch: Watch
) -> Inside:
    """Read an image's layers once each, both for their digests and for what they tell."""
    inside, known = Inside(), Databases()
    below: tuple[str, ...] = ()
    for blob, diff_id in zip(image.layers, image.diff_ids, strict=True):
        below = (*below, diff_id)
        known_already = reading.below.get(below)
        if known_already is not None and (blob.digest, diff_id) in reading.whole:
            known = known_already.copy()
            continue
        with look.one():
            layer = _Layer(archive.layer(blob, diff_id, watch.moved))
            try:
                if not inside.problem:
                    known.add(layer)
            except Exception as error:
                inside.problem = told(error)
            for _ in layer:  # the rest, where what is in it could not be read
                pass
            layer.see_whole()
            reading.whole.add((blob.digest, diff_id))
            if not inside.problem:
                reading.below[below] = known.copy()
            continue
        inside.damaged = True
        return inside
    if not inside.problem:
        try:
            inside.packages, inside.listed = known.packages(), known.listed()
        except Exception as error:
            inside.problem = told(error)
    return inside


class _Layer:
    """The bytes of a layer, which remembers whether they themselves are at fault."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._fault: Exception | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except StopIteration:
            raise
        except Exception as error:
            self._fault = error
            raise

    def see_whole(self) -> None:
        """Raise what was wrong with the bytes, if anything was."""
        if self._fault is not None:
            raise self._fault


def _packages(
    found: Contents,
    inside: Mapping[str, Inside],
    identities: Mapping[str, ImageIdentity],
    look: Look,
) -> None:
    damaged = ""
    for digest, image in found.images.items():
        this = inside[digest]
        if this.damaged:
            damaged = f"The layers of {image.reference} are damaged."
            continue
        if this.packages is None:
            look.amiss(f"{image.reference}: {this.problem}")
            continue
        look.at(len(this.packages))
        identity = identities.get(digest)
        for who, listed in (
            ("its own list", this.listed),
            ("the report", None if identity is None else frozenset(identity.packages)),
        ):
            if listed is not None and listed != this.packages:
                look.amiss(f"{image.reference}: {differing(listed, this.packages, who)}")
    if damaged and not look.wrong:
        raise NotCheckable(damaged)


def differing(told_of: frozenset[Package], there: frozenset[Package], who: str) -> str:
    """The first package that two lists differ in."""
    for package in sorted(told_of ^ there, key=_order):
        what = f"{package.manager} {package.name} {package.version}"
        if package in told_of:
            return f"{who} names {what}, which is not installed in it."
        return f"{what} is installed in it, and {who} does not name it."
    return ""


def _order(package: Package) -> tuple[str, str, str]:
    return package.manager, package.name, package.version


def _short(value: object) -> str:
    text = str(value) or "nothing"
    return text if len(text) <= 80 else f"{text[:80]}..."
