"""Builds an image and gives it its name once it is in its one form."""

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import docker
import docker.errors

from runner.engine_api import Address
from runner.images import _buildx, drift, identity, labels
from runner.images._buildx import Progress
from runner.images._source import Recipe
from runner.images.canonical import canonical

UNFINISHED = "building-"
"""How the version begins in the name of an image that is not yet in its one form."""


@dataclass(frozen=True, slots=True)
class Order:
    """An image to build.

    Attributes:
        recipe: what it is built from.
        marks: labels it gets.
        args: build arguments.
        below: digests of the layers it stands on, lowest first; none for all but its last.
        sources: where packages of Debian come from; none for the image's own sources.
        cached: whether steps that were done before are not done again.
    """

    recipe: Recipe
    marks: Mapping[str, str]
    args: Mapping[str, str]
    below: tuple[str, ...] | None
    sources: tuple[str, ...] = ()
    cached: bool = True

    def anew(self) -> "Order":
        """The same, with every step done again."""
        return replace(self, cached=False)


def make(
    client: docker.DockerClient,
    address: Address,
    order: Order,
    progress: Progress,
    deadline_s: float,
    tags: Sequence[str] = (),
) -> str:
    """Build an image; what a build leaves that is not yet in its one form is gone afterwards.

    Args:
        client: the engine.
        address: where it is.
        order: what to build.
        progress: told each step.
        deadline_s: bound on the build, in seconds.
        tags: names it gets.

    Returns:
        Its id.

    Raises:
        CannotStart: the build failed, or left no list of packages.
    """
    # A name of its own, so that no two builds take the same image from each other.
    built = f"memory-bench/{order.recipe.name}:{UNFINISHED}{uuid.uuid4().hex[:12]}"
    try:
        _buildx.build(
            address,
            order.recipe.context,
            tags=[built],
            labels=order.marks,
            args=order.args,
            progress=progress,
            deadline_s=deadline_s,
            sources=order.sources,
            cached=order.cached,
        )
        return _finish(client, built, order, tags)
    finally:
        with contextlib.suppress(docker.errors.ImageNotFound):
            client.api.remove_image(built)


def _finish(client: docker.DockerClient, built: str, order: Order, tags: Sequence[str]) -> str:
    inspected = client.api.inspect_image(built)
    packages = identity.look(client, inspected["Id"])
    wanted = order.recipe
    drifted = drift.drift(
        wanted.name, inspected["Architecture"], wanted.version, identity.listed(packages)
    )
    layers = tuple(inspected["RootFS"]["Layers"])
    held = canonical(
        client,
        built,
        below=layers[:-1] if order.below is None else order.below,
        # What it stands on may have drifted by something else.
        marks={labels.DRIFT: drift.label(drifted)},
        latest=int(wanted.args["SOURCE_DATE_EPOCH"]),
    )
    identity.remember(held.id, packages)
    for tag in tags:
        client.api.tag(held.id, *tag.rsplit(":", 1))
    return held.id
