"""Builds an image two times from nothing, and looks whether it is the same one."""

import contextlib
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import docker.errors

from runner.errors import CannotStart
from runner.images import _differ, _source
from runner.images._builder import Builder
from runner.images._differ import Difference
from runner.images._source import BASE

__all__ = ["Difference", "Twice", "twice"]


@dataclass(frozen=True, slots=True)
class Twice:
    """An image that was built two times.

    Attributes:
        name: of the image.
        version: of what is in it; empty where it has but one.
        model: what is baked into it; empty where there is no choice.
        ids: of the two.
        layers: digests of the layers of each, lowest first.
        below: how many of them it did not make itself.
        bytes: its size, layers of others counted too.
        differences: what is not the same; none where all is.
        unsteady: what is in layers, though it is as it was below them: an engine might have left it
            out of one of the two, and is as free to do so next time.
        seconds: that each build took.
    """

    name: str
    version: str
    model: str
    ids: tuple[str, str]
    layers: tuple[tuple[str, ...], tuple[str, ...]]
    below: int
    bytes: int
    differences: tuple[Difference, ...]
    unsteady: tuple[Difference, ...]
    seconds: tuple[float, float]

    @property
    def same(self) -> bool:
        """Whether they are one image."""
        return self.ids[0] == self.ids[1]

    @property
    def repeats(self) -> bool:
        """Whether they are one image, and not by luck."""
        return self.same and not self.unsteady

    @property
    def differing(self) -> int:
        """How many layers are not the same."""
        return sum(one != other for one, other in zip(*self.layers, strict=False)) + abs(
            len(self.layers[0]) - len(self.layers[1])
        )


def twice(
    builder: Builder, name: str, version: str | None = None, model: str | None = None
) -> Twice:
    """Build an image two times, no step of it taken from before; what it stands on is as it is.

    A Debian that is made from packages is made two times too, for the base. Both images are gone
    afterwards, but for one that is in use under its own name.

    Args:
        builder: of an engine.
        name: of the image.
        version: of what is in it; none for the default.
        model: what is baked into it; none for the default.

    Raises:
        CannotStart: a build failed, or the files changed between the two.
        UsageError: there is no such image.
    """
    tags = [f"memory-bench/{name}:twice-{uuid.uuid4().hex[:12]}" for _ in range(2)]
    seconds: list[float] = []
    order = builder.order(name, version, model, anew=True)
    source = order.recipe.source
    try:
        for tag in tags:
            if seconds and name == BASE:
                order = builder.order(name, version, model, anew=True)
            start = time.monotonic()
            builder.make(order.anew(), tag)
            seconds.append(time.monotonic() - start)
        if _source.source(name) != source:
            raise CannotStart(
                f"The files of image {name} changed while it was built two times.",
                hint="Run this again when they stand still.",
            )
        return _compared(builder, order.recipe, order.below, tags, seconds)
    finally:
        for tag in tags:
            with contextlib.suppress(docker.errors.ImageNotFound):
                builder.client.api.remove_image(tag)


def _compared(
    builder: Builder,
    recipe: _source.Recipe,
    below: Sequence[str] | None,
    tags: Sequence[str],
    seconds: Sequence[float],
) -> Twice:
    one, other = (builder.client.api.inspect_image(tag) for tag in tags)
    found: tuple[Difference, ...] = ()
    if one["Id"] != other["Id"]:
        found = _differ.differences(builder.client, one["Id"], other["Id"])
    # Of the first layer on those of others an engine knows for sure what changed.
    above = len(one["RootFS"]["Layers"]) if below is None else len(below) + 1
    unsteady = _differ.unsteady(builder.client, one["Id"], above + 1)
    layers = (tuple(one["RootFS"]["Layers"]), tuple(other["RootFS"]["Layers"]))
    return Twice(
        name=recipe.name,
        version=recipe.version or "",
        model=recipe.model or "",
        ids=(one["Id"], other["Id"]),
        layers=layers,
        # The base has made all of it where it stands on what was made from packages.
        below=0 if below is None else len(below),
        bytes=one["Size"],
        differences=found,
        unsteady=unsteady,
        seconds=(seconds[0], seconds[1]),
    )
