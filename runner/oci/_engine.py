"""An engine as far as images go: what it holds, what it calls them, how long it may take."""

from dataclasses import dataclass

import docker
import docker.errors
import requests
import urllib3

from runner.errors import CannotStart

DEADLINE_S = 1800.0
"""How long an engine may be silent: it packs or unpacks everything before it says a word."""
LOST = (requests.RequestException, urllib3.exceptions.HTTPError, OSError)
"""What it looks like when an engine breaks off."""
_CONTAINERD = "io.containerd.snapshotter.v1"


@dataclass(frozen=True, slots=True)
class Held:
    """An image that an engine holds.

    Attributes:
        id: what the engine calls it, which need not be the digest of its config.
        diff_ids: digests of its uncompressed layers, lowest first.
        platform: such as ``linux/amd64``.
        tags: its names.
        labels: its labels.
    """

    id: str
    diff_ids: tuple[str, ...]
    platform: str
    tags: tuple[str, ...]
    labels: dict[str, str]


def inspect(client: docker.DockerClient, reference: str) -> Held | None:
    """An image by a name or id of an engine's own; none where it has none such."""
    try:
        found = client.api.inspect_image(reference)
    except docker.errors.ImageNotFound:
        return None
    except LOST as error:
        raise unanswered(error) from error
    config = found.get("Config") or {}
    parts = (found["Os"], found["Architecture"], found.get("Variant"))
    return Held(
        id=found["Id"],
        diff_ids=tuple((found.get("RootFS") or {}).get("Layers") or ()),
        platform="/".join(part for part in parts if part),
        tags=tuple(found.get("RepoTags") or ()),
        labels=dict(config.get("Labels") or {}),
    )


def ids(client: docker.DockerClient) -> tuple[str, ...]:
    """What an engine calls each of its images."""
    try:
        return tuple(dict.fromkeys(image["Id"] for image in client.api.images()))
    except LOST as error:
        raise unanswered(error) from error


def unanswered(error: Exception) -> CannotStart:
    """What is wrong with an engine that does not say what it holds."""
    return CannotStart(
        f"The engine does not say what images it holds: {error}.",
        hint="Its log says more. `bench doctor` says whether it is well.",
    )


def tag(client: docker.DockerClient, image: Held, reference: str) -> None:
    """Give an image a name, and see that the name means it.

    Raises:
        CannotStart: the engine does not.
    """
    repository, _, label = reference.rpartition(":")
    try:
        client.api.tag(image.id, repository, label)
    except LOST as error:
        raise CannotStart(f"The engine does not call an image {reference}: {error}.") from error
    named = inspect(client, reference)
    if named is None or named.id != image.id:
        raise CannotStart(f"The name {reference} means another image than it was just given to.")


def by_manifest(client: docker.DockerClient) -> bool:
    """Whether an engine calls images by the digests of their manifests."""
    try:
        status = client.api.info().get("DriverStatus") or ()
    except LOST as error:
        raise unanswered(error) from error
    return any(_CONTAINERD in pair for pair in status)


def url(client: docker.DockerClient, path: str) -> str:
    """Where a request goes that the SDK has no call for."""
    return f"{client.api.base_url}/v{client.api.api_version}{path}"
