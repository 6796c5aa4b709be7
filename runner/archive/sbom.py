"""What is in an image, as a bill of materials others can read: CycloneDX 1.6, as JSON.

The same image gives the same bytes, wherever and whenever it is written, so that whoever reads one
can write it again and compare.
"""

import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runner.archive.contents import name_of
from runner.model import ImageIdentity, Package

if TYPE_CHECKING:  # the library takes a fifth of a second to import, which few commands need
    from cyclonedx.model.component import Component
    from packageurl import PackageURL

TITLE = "sbom.cdx.json"
"""What the file is called in an archive."""
PLATFORM = "memory-bench:platform"
_NAMESPACES = {"deb": "debian"}


def write(image: ImageIdentity, created: str | None) -> bytes:
    """The bill of materials of an image.

    Args:
        image: what it is, with its packages.
        created: when it was made, as its config says; a config may not.

    Raises:
        ValueError: ``created`` is no time.
    """
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6

    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, image.config_digest))
    root = Component(
        name=name_of(image.name),
        type=ComponentType.CONTAINER,
        version=image.config_digest,
        bom_ref=image.config_digest,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_hex(image.config_digest))],
        properties=[Property(name=PLATFORM, value=image.platform)],
    )
    # Without a time of its own the library would say when it was written.
    bom.metadata.timestamp = None if created is None else _time(created)  # type: ignore[assignment]
    bom.metadata.component = root
    parts = [_component(package) for package in sorted(set(image.packages), key=_order)]
    bom.components.update(parts)
    bom.register_dependency(root, parts)
    return JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"


def url(package: Package) -> "PackageURL":
    """What a package is called everywhere."""
    from packageurl import PackageURL

    namespace, _, name = package.name.rpartition("/")  # a scope of npm, such as ``@scope/name``
    if package.manager == "pypi":
        name = re.sub(r"[-_.]+", "-", name).lower()
    return PackageURL(
        type=package.manager,
        namespace=_NAMESPACES.get(package.manager) or namespace or None,
        name=name,
        version=package.version,
    )


def _component(package: Package) -> "Component":
    from cyclonedx.model.component import Component, ComponentType

    called = url(package)
    return Component(
        name=called.name,
        group=called.namespace if package.manager == "npm" else None,
        version=package.version,
        purl=called,
        bom_ref=called.to_string(),
        type=ComponentType.LIBRARY,
    )


def _order(package: Package) -> tuple[str, str, str]:
    return package.manager, package.name, package.version


def _hex(digest: str) -> str:
    return digest.rpartition(":")[2]


def _time(text: str) -> datetime:
    told = datetime.fromisoformat(text)
    return told if told.tzinfo is not None else told.replace(tzinfo=UTC)
