"""The bill of materials of an image, made again from what is in it."""

from collections.abc import Mapping
from typing import Any

import orjson

from runner.archive import media, sbom
from runner.archive.contents import ArchivedImage, Contents
from runner.archive.verify.sheet import Look, NotCheckable, told
from runner.errors import DamagedArchive
from runner.images import labels
from runner.model import ImageIdentity, Package
from runner.oci.packed import Packed


def hold(
    archive: Packed,
    found: Contents,
    packages_of: Mapping[str, frozenset[Package] | None],
    look: Look,
) -> None:
    """Hold every image's bill of materials to one that is made again.

    Args:
        archive: the file.
        found: what it holds.
        packages_of: what is in each image, by the digest of its config, where that is known.
        look: where it goes.

    Raises:
        NotCheckable: an image has none.
    """
    without = []
    for digest, image in found.images.items():
        files, packages = found.on(image, media.SBOM), packages_of[digest]
        if not files or packages is None:
            without.append(image.reference)
            continue
        for file in files:
            look.at(len(packages))
            own = _identity(image, packages)
            try:
                _same(archive.get(file.blob), sbom.write(own, image.read.created))
            except Exception as error:
                look.amiss(f"{file.title} of {image.reference}: {told(error)}")
    if without and not look.wrong:
        raise NotCheckable(f"There is none that can be compared of {', '.join(without)}.")


def _identity(image: ArchivedImage, packages: frozenset[Package]) -> ImageIdentity:
    """What an image is, by the archive alone."""
    marks = image.read.labels
    return ImageIdentity(
        name=image.reference,
        config_digest=image.config.digest,
        layers=image.diff_ids,
        platform=image.read.platform,
        base=marks.get(labels.BASE, ""),
        source=marks.get(labels.SOURCE, ""),
        packages=tuple(packages),
    )


def _same(there: bytes, again: bytes) -> None:
    """See that two bills of materials say the same, however they are written.

    Raises:
        DamagedArchive: they do not; names what differs first.
    """
    said, wanted = _gist(orjson.loads(there)), _gist(orjson.loads(again))
    if odd := sorted(said["components"].keys() ^ wanted["components"].keys()):
        where = "only there" if odd[0] in said["components"] else "not there"
        raise DamagedArchive(f"{odd[0]} is {where}.")
    for what in wanted:
        if said[what] != wanted[what]:
            raise DamagedArchive(f"Its {what} is not what the image comes to.")


def _gist(bill: Any) -> dict[str, Any]:
    """What a bill says, without what a release of the library may write otherwise."""
    root = bill["metadata"]["component"]
    return {
        "components": {
            part["purl"]: [part.get(key) for key in ("type", "group", "name", "version")]
            for part in bill.get("components", [])
        },
        "format": [bill["bomFormat"], bill["specVersion"]],
        "serial number": bill["serialNumber"],
        "image": [root[key] for key in ("type", "name", "version", "hashes", "properties")],
        "timestamp": bill["metadata"].get("timestamp"),
        "dependencies": {
            one["ref"]: sorted(one.get("dependsOn", [])) for one in bill["dependencies"]
        },
    }
