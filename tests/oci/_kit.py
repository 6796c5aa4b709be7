"""Small images and archives, made by hand."""

import hashlib
import io
import json
import random
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.oci import documents, packed, zstd
from runner.oci.documents import Descriptor, Index, Manifest
from runner.oci.folder import Folder


def sha(data: bytes) -> str:
    """A digest as descriptors have it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def layer(*files: tuple[str, bytes]) -> bytes:
    """A layer of plain files."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in files:
            told = tarfile.TarInfo(name)
            told.size = len(data)
            tar.addfile(told, io.BytesIO(data))
    return raw.getvalue()


def noise(size: int, seed: int = 0) -> bytes:
    """Bytes that do not compress."""
    return random.Random(seed).randbytes(size)


@dataclass(frozen=True)
class Image:
    """An image as it is: layers, and a config that nobody would write just so."""

    layers: tuple[bytes, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    architecture: str = "amd64"

    @property
    def diff_ids(self) -> tuple[str, ...]:
        return tuple(map(sha, self.layers))

    @property
    def config(self) -> bytes:
        """Its bytes are no canonical form, and hold what no other program asks for."""
        told = {
            "os": "linux",
            "architecture": self.architecture,
            "created": "2026-11-30T20:48:03.518151602Z",
            "config": {"Labels": dict(self.labels), "Healthcheck": {"Test": ["NONE"]}},
            "rootfs": {"type": "layers", "diff_ids": list(self.diff_ids)},
            "x-nobody-knows": 1.0,
        }
        return json.dumps(told, indent=1).encode() + b"\n"

    @property
    def digest(self) -> str:
        return sha(self.config)


def image(
    name: str = "one", *, shared: bytes = b"", labels: Mapping[str, str] | None = None
) -> Image:
    """An image of the project of that name, with a layer that others may share below its own."""
    below = (layer(("usr/shared", shared)),) if shared else ()
    marks = {"memory-bench.name": name, "memory-bench.source": "0" * 64}
    own = layer((f"opt/{name}", name.encode() * 3000), ("opt/noise", noise(9000)))
    return Image((*below, own), marks | dict(labels or {}))


def put(folder: Folder, made: Image, reference: str) -> Descriptor:
    """An image in a layout, as archives have it."""
    layers = tuple(
        folder.put(zstd.compress((raw,), len(raw)), documents.LAYER) for raw in made.layers
    )
    config = folder.put(made.config, documents.CONFIG)
    manifest = Manifest(config=config, layers=layers)
    return folder.add(manifest, annotations={documents.REF_NAME: reference})


def attach(
    folder: Folder, subject: Descriptor | None, kind: str, files: Mapping[str, bytes]
) -> Descriptor:
    """Files on an image."""
    blobs = [
        folder.put(data, "text/plain").model_copy(update={"annotations": {documents.TITLE: title}})
        for title, data in files.items()
    ]
    return folder.attach(subject, kind, blobs)


def write(path: Path, folder: Folder, manifests: Iterable[Descriptor], **fields: Any) -> Index:
    """A layout as one file."""
    index = Index(manifests=tuple(manifests), **fields)
    with path.open("wb") as file:
        packed.write(file, folder, index)
    return index
