"""Removes images that nothing will ask for again."""

from collections.abc import Iterable
from dataclasses import dataclass

import docker
import docker.errors

from runner.images.listing import Built

_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was done.

    Attributes:
        removed: names of the images that are gone; the id of one that had none.
        kept: what was left, and why.
    """

    removed: tuple[str, ...]
    kept: tuple[str, ...]


def prune(client: docker.DockerClient, images: Iterable[Built]) -> Pruned:
    """Remove images, but none that a container is made of, running or not.

    Args:
        client: the engine.
        images: which.
    """
    used = {one["ImageID"] for one in client.api.containers(all=True)}
    removed: list[str] = []
    kept: list[str] = []
    for image in images:
        names = image.tags or (image.id,)
        if image.id in used:
            kept.append(f"{names[0]}: a container is made of it")
        elif image.strange and not image.tags:
            kept.append(f"{image.strange[0]}: it was given a name that is not the project's")
        else:
            for name in names:
                try:
                    # Not by force: what has come to use it meanwhile is the engine's to tell.
                    client.api.remove_image(name)
                    removed.append(name)
                except docker.errors.ImageNotFound:
                    continue
                except docker.errors.APIError as error:
                    if error.status_code != _CONFLICT:
                        raise
                    kept.append(f"{name}: {error.explanation}")
    return Pruned(tuple(removed), tuple(kept))
