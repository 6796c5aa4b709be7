"""What an image is: digests that hold on every engine, and the packages inside."""

import contextlib
import io
import re
import tarfile
import time
from pathlib import Path
from typing import Any

import docker
import docker.errors
from pydantic import TypeAdapter

from runner import paths
from runner.errors import CannotStart
from runner.images import drift, labels
from runner.images._files import write_atomically
from runner.model import ImageIdentity, Package
from runner.oci import engine_io

LEFT_BEHIND_S = 120
"""Age in seconds from which a container made to look into an image belongs to nobody alive."""

PACKAGES = "/usr/share/memory-bench/packages.json"
INSPECTING = "inspect"
UNKNOWN = "unknown"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LIST = TypeAdapter(tuple[Package, ...])


def identify(client: docker.DockerClient, reference: str) -> ImageIdentity:
    """The identity of an image the engine holds.

    Args:
        client: the engine.
        reference: a tag or an id.

    Raises:
        CannotStart: the engine does not hold it, or it is not one of the project's images.
    """
    try:
        found = client.api.inspect_image(reference)
    except docker.errors.ImageNotFound as error:
        raise CannotStart(
            f"The engine holds no image {reference}.", hint="scripts/bench builds what is missing."
        ) from error
    return from_inspection(client, reference, found)


def from_inspection(
    client: docker.DockerClient, reference: str, found: dict[str, Any]
) -> ImageIdentity:
    """As `identify`, from what the engine has already said of the image."""
    marks = (found.get("Config") or {}).get("Labels") or {}
    platform = "/".join(
        part for part in (found["Os"], found["Architecture"], found.get("Variant")) if part
    )
    restriction = labels.restriction(marks)
    return ImageIdentity(
        name=reference,
        config_digest=config_digest(client, found["Id"]),
        layers=tuple(found["RootFS"]["Layers"]),
        platform=platform,
        base=marks.get(labels.BASE) or UNKNOWN,
        source=marks.get(labels.SOURCE) or UNKNOWN,
        packages=_packages(client, found["Id"]),
        redistributable=not restriction,
        restriction=restriction,
        drift=drift.of(marks),
    )


def config_digest(client: docker.DockerClient, image_id: str) -> str:
    """The digest of an image's config, which names it on every engine.

    An engine that calls images by their manifests tells it by saving all of the image; what it
    told is kept, so that it is asked once.

    Args:
        client: the engine.
        image_id: what it calls the image.

    Raises:
        CannotStart: the engine does not give the image.
    """
    if not engine_io.by_manifest(client):
        return image_id
    kept = paths.state_dir() / "configs" / image_id.removeprefix("sha256:")
    try:
        known = kept.read_text(encoding="ascii").strip()
        if _DIGEST.fullmatch(known):
            return known
    except (OSError, ValueError):
        pass
    found = engine_io.config_of(client, image_id).digest
    _remember(kept, found.encode())
    return found


def _packages(client: docker.DockerClient, image_id: str) -> tuple[Package, ...]:
    try:
        return _LIST.validate_json(_kept(image_id).read_bytes())
    except (OSError, ValueError):
        pass
    raw = look(client, image_id)
    found = listed(raw)
    remember(image_id, raw)
    return found


def _kept(image_id: str) -> Path:
    return paths.state_dir() / "packages" / f"{image_id.removeprefix('sha256:')}.json"


def look(client: docker.DockerClient, image_id: str) -> bytes:
    """The list of packages in an image, as it is there.

    Raises:
        CannotStart: there is none.
    """
    try:
        (raw,) = read_files(client, image_id, PACKAGES).values()
    except docker.errors.NotFound as error:
        raise CannotStart(
            f"Image {image_id} has no package list ({PACKAGES}).",
            hint="Its Dockerfile must end with bench-seal.",
        ) from error
    return raw


def listed(raw: bytes) -> tuple[Package, ...]:
    """What such a list says.

    Raises:
        CannotStart: it is none.
    """
    try:
        return _LIST.validate_json(raw)
    except ValueError as error:
        raise CannotStart(
            "The package list in an image is not one.", hint="Remove and rebuild it."
        ) from error


def remember(image_id: str, raw: bytes) -> None:
    """Keep an image's list of packages, so that the image need not be asked again."""
    _remember(_kept(image_id), raw)


def _remember(kept: Path, raw: bytes) -> None:
    try:
        write_atomically(kept, raw)
    except OSError:
        # A machine where nothing can be kept asks the image again next time.
        return


def read_files(client: docker.DockerClient, image_id: str, path: str) -> dict[str, bytes]:
    """A file of an image, or the files of a folder, by their names without the folders.

    They are read from a container that is never started, so nothing of the image runs.

    Raises:
        docker.errors.NotFound: the image holds no such path.
    """
    sweep(client)
    made = client.api.create_container(
        image_id, command=["true"], network_disabled=True, labels={labels.ROLE: INSPECTING}
    )
    try:
        chunks, _ = client.api.get_archive(made["Id"], path)
        found: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            for member in archive:
                if member.isfile():
                    file = archive.extractfile(member)
                    assert file is not None
                    found[Path(member.name).name] = file.read()
        return found
    finally:
        client.api.remove_container(made["Id"], v=True, force=True)


def sweep(client: docker.DockerClient) -> tuple[str, ...]:
    """Removes containers that were made to look into an image by a process killed meanwhile.

    Returns:
        The ids of those that are gone.
    """
    found = client.api.containers(all=True, filters={"label": f"{labels.ROLE}={INSPECTING}"})
    old = [one["Id"] for one in found if time.time() - one["Created"] > LEFT_BEHIND_S]
    for container in old:
        with contextlib.suppress(docker.errors.NotFound):
            client.api.remove_container(container, v=True, force=True)
    return tuple(old)
