"""Images into an engine."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import docker
import orjson

from runner.errors import CannotStart
from runner.oci import documents, tars
from runner.oci._engine import DEADLINE_S, LOST, Held, url
from runner.oci._saved import MANIFEST
from runner.oci._saving import find
from runner.oci.layout import Told, digest_of, untold


@dataclass(frozen=True, slots=True)
class LoadedLayer:
    """A layer on its way into an engine.

    Attributes:
        diff_id: its digest.
        size: its bytes.
        read: gives them, uncompressed; raises where they are not of that digest.
    """

    diff_id: str
    size: int
    read: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Loading:
    """An image on its way into an engine.

    Attributes:
        config: its bytes.
        layers: lowest first.
    """

    config: bytes
    layers: tuple[LoadedLayer, ...]

    @property
    def digest(self) -> str:
        """Of its config."""
        return digest_of(self.config)


def load(
    client: docker.DockerClient,
    images: Sequence[Loading],
    told: Told = untold,
    there: Collection[str] = (),
) -> tuple[Held, ...]:
    """Put images into an engine, without names, and see that it then holds just these.

    Layers that images share are sent once.

    Args:
        client: the engine.
        images: at least one.
        told: how many bytes more of layers were sent.
        there: digests of layers that are not sent, because the engine has them in that place of
            another image. One that calls images by their manifests wants them all the same.

    Returns:
        The images as the engine holds them, in the same order.

    Raises:
        CannotStart: the engine takes them not, or holds others afterwards.
    """
    try:
        reply = client.api.post(
            url(client, "/images/load"),
            params={"quiet": "1"},
            data=_packed(images, told, there),
            headers={"Content-Type": "application/x-tar"},
            stream=True,
            timeout=DEADLINE_S,
        )
        with reply:
            said = reply.content
    except LOST as error:
        raise _not_loaded(str(error)) from error
    if not reply.ok or (errors := _errors(said)):
        raise _not_loaded(said.decode(errors="replace").strip() if not reply.ok else errors)
    held = []
    for image in images:
        ids = tuple(layer.diff_id for layer in image.layers)
        found = find(client, image.digest, ids)
        if found is None:
            raise _not_loaded(f"it does not hold {image.digest} afterwards")
        held.append(found)
    return tuple(held)


def _packed(images: Sequence[Loading], told: Told, there: Collection[str]) -> Iterator[bytes]:
    """The tar that every engine loads."""
    layers = {layer.diff_id: layer for image in images for layer in image.layers}
    for layer in layers.values():
        if layer.diff_id in there:
            continue
        name = f"{_hex(layer.diff_id)}.tar"
        yield tars.header(name, layer.size)
        sent = 0
        for chunk in layer.read():
            sent += len(chunk)
            if sent > layer.size:
                break
            yield chunk
            told(len(chunk))
        if sent != layer.size:
            raise CannotStart(f"The layer {layer.diff_id} is not of {layer.size} bytes any more.")
        yield tars.padding(layer.size)
    texts = {f"{_hex(image.digest)}.json": image.config for image in images}
    listed = [
        {
            "Config": f"{_hex(image.digest)}.json",
            "RepoTags": None,
            "Layers": [f"{_hex(layer.diff_id)}.tar" for layer in image.layers],
        }
        for image in images
    ]
    for name, text in {**texts, MANIFEST: documents.canonical(listed)}.items():
        yield tars.header(name, len(text)) + text + tars.padding(len(text))
    yield tars.END


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")


def _errors(said: bytes) -> str:
    found = []
    for line in said.splitlines():
        try:
            message: Any = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(message, dict) and message.get("error"):
            found.append(str(message["error"]))
    return "; ".join(found)


def _not_loaded(why: str) -> CannotStart:
    return CannotStart(
        f"The engine did not load the images: {why}.",
        hint="None of them got a name. What it holds by now is not loaded again next time.",
    )
