"""The documents of an OCI layout: descriptors, manifests, an index, and how they are written."""

from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from runner.errors import DamagedArchive

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+zstd"
EMPTY = "application/vnd.oci.empty.v1+json"

REF_NAME = "org.opencontainers.image.ref.name"
"""Annotation of a manifest's descriptor in an index: what the image is called."""
TITLE = "org.opencontainers.image.title"
"""Annotation of a file in an artifact: what the file is called."""

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Document(BaseModel):
    """What every document of a layout has in common. What others may add to one is passed over."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    def written(self) -> bytes:
        """The one byte form of it: sorted keys, no spaces, nothing that is empty."""
        return canonical(self.model_dump(mode="json", by_alias=True, exclude_none=True))


class Descriptor(Document):
    """A blob, by its digest."""

    media_type: str
    digest: Digest
    size: Annotated[int, Field(ge=0)]
    artifact_type: str | None = None
    annotations: dict[str, str] | None = None

    @property
    def hex(self) -> str:
        """Its digest without the name of the algorithm."""
        return self.digest.removeprefix("sha256:")

    @property
    def bare(self) -> "Descriptor":
        """As a subject is told."""
        return Descriptor(media_type=self.media_type, digest=self.digest, size=self.size)

    def note(self, key: str) -> str | None:
        """One of its annotations."""
        return (self.annotations or {}).get(key)


class Manifest(Document):
    """An image, or files that belong to one (an artifact)."""

    schema_version: Literal[2] = 2
    media_type: Literal["application/vnd.oci.image.manifest.v1+json"] = (
        "application/vnd.oci.image.manifest.v1+json"
    )
    artifact_type: str | None = None
    config: Descriptor
    layers: tuple[Descriptor, ...]
    subject: Descriptor | None = None
    annotations: dict[str, str] | None = None

    @property
    def blobs(self) -> tuple[Descriptor, ...]:
        """All that it needs beside itself; not its subject, which stands for itself."""
        return (self.config, *self.layers)


class Index(Document):
    """The manifests of a layout."""

    schema_version: Literal[2] = 2
    media_type: Literal["application/vnd.oci.image.index.v1+json"] = (
        "application/vnd.oci.image.index.v1+json"
    )
    manifests: tuple[Descriptor, ...] = ()
    annotations: dict[str, str] | None = None


class _RootFs(BaseModel):
    type: Literal["layers"]
    diff_ids: tuple[Digest, ...]


class Config(BaseModel):
    """What is read of an image's config; its bytes alone are what it is."""

    architecture: str
    os: str
    variant: str | None = None
    created: str | None = None
    rootfs: _RootFs
    config: dict[str, Any] | None = None

    @property
    def diff_ids(self) -> tuple[str, ...]:
        """Digests of the uncompressed layers, lowest first."""
        return self.rootfs.diff_ids

    @property
    def platform(self) -> str:
        """Such as ``linux/amd64``."""
        return "/".join(part for part in (self.os, self.architecture, self.variant) if part)

    @property
    def labels(self) -> dict[str, str]:
        """The image's labels."""
        return (self.config or {}).get("Labels") or {}


D = TypeVar("D", bound=BaseModel)


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def parse(kind: type[D], raw: bytes, what: str) -> D:
    """A document from its bytes.

    Args:
        kind: which.
        raw: JSON.
        what: what it is called in a message.

    Raises:
        DamagedArchive: it is no such document.
    """
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DamagedArchive(f"{what} is none: {where}: {first['msg']}.") from error
