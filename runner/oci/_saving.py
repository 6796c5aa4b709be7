"""Images out of an engine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import docker

from runner.errors import CannotStart
from runner.oci import documents
from runner.oci._engine import DEADLINE_S, LOST, Held, by_manifest, ids, inspect, url
from runner.oci._saved import Layer, Reader, broken_off
from runner.oci.documents import Config
from runner.oci.layout import CHUNK, digest_of


@dataclass(frozen=True, slots=True)
class Saved:
    """An image as an engine saved it.

    Attributes:
        config: its bytes.
        digest: of the config.
        read: what it says.
    """

    config: bytes
    digest: str
    read: Config


class Saving:
    """Images as an engine saves them: their layers one by one, each once, then the images.

    To be used as a context manager; ``layers`` is to be gone through before ``images``.
    """

    def __init__(self, client: docker.DockerClient, images: Sequence[str]) -> None:
        """Ask an engine.

        Args:
            client: the engine.
            images: which, by what the engine calls them.

        Raises:
            CannotStart: the engine does not hold one, or does not answer.
        """
        self._count = len(images)
        try:
            self._reply = client.api.get(
                url(client, "/images/get"),
                params={"names": list(images)},
                stream=True,
                timeout=DEADLINE_S,
            )
        except LOST as error:
            raise broken_off(str(error)) from error
        if not self._reply.ok:
            raise broken_off(self._reply.text.strip())
        self._reader = Reader(_Body(self._reply.raw))

    def __enter__(self) -> "Saving":
        return self

    def __exit__(self, *_: object) -> None:
        self._reply.close()

    def layers(self) -> Iterator[Layer]:
        """Every layer, to be read in turn; what is not read is passed over, and still digested."""
        return self._reader.layers()

    def images(self) -> tuple[Saved, ...]:
        """The images, each with the layers that its config asks for.

        Raises:
            CannotStart: the engine sent something else.
        """
        found = []
        for config, layers in self._reader.images():
            read = documents.parse(Config, config, f"The config {digest_of(config)}")
            if layers != read.diff_ids:
                raise broken_off(f"{digest_of(config)} came with other layers than it has")
            found.append(Saved(config, digest_of(config), read))
        if len(found) != self._count:
            raise broken_off(f"{len(found)} images came, not {self._count}")
        return tuple(found)


def find(
    client: docker.DockerClient, config_digest: str, diff_ids: Sequence[str] | None = None
) -> Held | None:
    """The image of that config, whatever the engine calls it; none where it holds none.

    Args:
        client: the engine.
        config_digest: what the image is known by.
        diff_ids: digests of its layers. Without them an engine that calls images by their
            manifests has to save every image it holds.

    Raises:
        CannotStart: the engine says of that very image that it has other layers.
    """
    held = inspect(client, config_digest)
    if held is not None and held.id == config_digest:
        if diff_ids is not None and held.diff_ids != tuple(diff_ids):
            raise CannotStart(
                f"The engine holds {config_digest} with other layers than its config tells.",
                hint="Its storage is damaged. Remove the image, and try again.",
            )
        return held
    if not by_manifest(client):
        return None
    for one in ids(client):
        held = inspect(client, one)
        if held is None or (diff_ids is not None and held.diff_ids != tuple(diff_ids)):
            continue
        if config_of(client, held.id).digest == config_digest:
            return held
    return None


def config_of(client: docker.DockerClient, image_id: str) -> Saved:
    """The config of an image, by saving all of it; its layers are held to it on the way."""
    with Saving(client, [image_id]) as saving:
        for _ in saving.layers():
            pass
        (saved,) = saving.images()
    return saved


class _Body:
    """A reply's body as it comes; a connection that ends early is an error of the engine's."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def read(self, count: int = CHUNK, /) -> bytes:
        try:
            data: bytes = self._raw.read(count)
        except LOST as error:
            raise broken_off(str(error)) from error
        return data
