"""Images on one engine, each with those it stands on."""

import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

import docker
import docker.errors

from runner import engine_api, paths
from runner.engine_api import Address
from runner.errors import CannotStart, UsageError
from runner.images import _compose, _debian, _folder, _installs, _mirrors, _source, identity, labels
from runner.images._buildx import Progress
from runner.images._files import locked
from runner.images._making import Order, make
from runner.images._source import BASE, BENCH, Recipe
from runner.model import ImageIdentity

DEADLINE_S = 1800.0
BENCH_LOCAL = "memory-bench/bench:local"
"""The name Compose runs the bench by."""
_TRIES = 3

Found = tuple[Recipe, dict[str, Any]]
"""A recipe, and what the engine says of the image made by it."""


class Builder:
    """Images on one engine, each with those it stands on."""

    def __init__(
        self,
        client: docker.DockerClient,
        progress: Progress,
        deadline_s: float = DEADLINE_S,
        snapshot: str | None = None,
    ) -> None:
        """Set what all images here are built by.

        Args:
            client: the engine.
            progress: told, a line at a time, what is being built.
            deadline_s: bound on one build, in seconds.
            snapshot: a moment as Debian's snapshot service has it, whose packages are taken: then
                whatever installs packages is built again.
        """
        self.client = client
        self._progress = progress
        self._deadline_s = deadline_s
        self._snapshot = snapshot
        self._renewed: set[str] = set()

    def ensure(
        self, name: str, version: str | None = None, model: str | None = None
    ) -> ImageIdentity:
        """An image, built where the engine does not hold it yet; as the function of that name."""
        running = os.environ.get("BENCH_IMAGE")
        if name == BENCH and running:
            return _running(self.client, running)
        base = self._base()
        wanted, found = base if name == BASE else self._above(name, version, model, base)
        return identity.from_inspection(self.client, wanted.tag, found)

    def order(
        self, name: str, version: str | None = None, model: str | None = None, *, anew: bool = False
    ) -> Order:
        """What an image is built by; what it stands on is there afterwards.

        Args:
            name: of the image.
            version: of what is in it; none for the default.
            model: what is baked into it; none for the default.
            anew: whether a Debian from packages is made again for the base.
        """
        if name == BASE:
            return self._base_order(_source.recipe(BASE), anew=anew)
        base = self._base()
        look, others = self._recipes(name, version, model, base, ())
        return self._above_order(look(), base, others)

    def make(self, order: Order, *tags: str) -> str:
        """Build an image; its id."""
        return make(self.client, _address(), order, self._progress, self._deadline_s, tags)

    def _base(self) -> Found:
        anew = self._snapshot is not None

        def build(wanted: Recipe) -> None:
            self._build(self._base_order(wanted, anew=anew))

        wanted, found = self._obtain(lambda: _source.recipe(BASE), build, anew=anew)
        origin = _origin(found)
        # A public image Compose finds by itself.
        local = {"BENCH_BASE": wanted.tag, "BENCH_ORIGIN": origin}
        _compose.remember(local if origin.startswith(_debian.PACKAGES) else {})
        return wanted, found

    def _base_order(self, wanted: Recipe, *, anew: bool) -> Order:
        debian = _debian.obtain(_address(), self._progress, self._snapshot, anew=anew)
        self._progress(f"building {wanted.tag} on {debian.origin}")
        return self._ordered(
            wanted,
            debian.origin,
            {**wanted.args, "DEBIAN": debian.reference},
            # One layer on a Debian that the engine may not hold by itself.
            None,
        )

    def _above(
        self,
        name: str,
        version: str | None,
        model: str | None,
        base: Found,
        path: tuple[str, ...] = (),
    ) -> Found:
        """An image on the base, after the others it stands on; ``path`` holds those that wait."""
        look, others = self._recipes(name, version, model, base, path)

        def build(wanted: Recipe) -> None:
            self._build(self._above_order(wanted, base, others))

        anew = self._snapshot is not None and bool(_installs.wanted(name))
        wanted, found = self._obtain(look, build, anew=anew)
        if name == BENCH and BENCH_LOCAL not in found["RepoTags"]:
            self.client.api.tag(wanted.tag, *BENCH_LOCAL.split(":"))
        return wanted, found

    def _recipes(
        self,
        name: str,
        version: str | None,
        model: str | None,
        base: Found,
        path: tuple[str, ...],
    ) -> tuple[Callable[[], Recipe], dict[str, Found]]:
        """How to look at the files of an image on the base, and the others it stands on."""
        path = (*path, name)
        ground, below = base
        others: dict[str, Found] = {}
        for other in _folder.stands_on(name):
            if other in path:
                raise UsageError(f"Images stand on each other in a circle: {' on '.join(path)}.")
            if other not in _folder.names():
                raise UsageError(
                    f"images/{name}/Dockerfile asks for {_folder.argument(other)}, and there is no"
                    f" image {other}.",
                    hint=f"There are: {', '.join(_folder.names())}.",
                )
            others[other] = self._above(other, None, None, base, path)

        def look() -> Recipe:
            args = {_folder.argument(one): made.tag for one, (made, _) in others.items()}
            return _source.recipe(
                name,
                base_id=below["Id"],
                args={"BENCH_BASE": ground.tag, **args},
                version=version,
                model=model,
                others={one: inspected["Id"] for one, (_, inspected) in others.items()},
            )

        return look, others

    def _above_order(self, wanted: Recipe, base: Found, others: dict[str, Found]) -> Order:
        ground, below = base
        self._progress(f"building {wanted.tag} on {ground.tag}")
        layers = tuple(below["RootFS"]["Layers"])
        return self._ordered(wanted, _origin(below), wanted.args, layers)

    def _ordered(
        self, wanted: Recipe, origin: str, args: Mapping[str, str], below: tuple[str, ...] | None
    ) -> Order:
        mirrors = _mirrors.mirrors(self._snapshot)
        lines = mirrors.lines(_source.settings()["DEBIAN_SUITE"])
        return Order(
            recipe=wanted,
            marks=_labels(wanted, origin),
            args=args,
            below=below,
            sources=() if mirrors.usual else lines,
            # What was done before was done with the packages of another day.
            cached=self._snapshot is None,
        )

    def _build(self, order: Order) -> None:
        self.make(order, order.recipe.tag)

    def _obtain(
        self,
        look: Callable[[], Recipe],
        build: Callable[[Recipe], None],
        *,
        anew: bool = False,
    ) -> Found:
        """The image of the files as they are, made where it is missing, or in any case."""
        wanted = look()
        anew = anew and wanted.tag not in self._renewed
        if not anew and (found := _inspect(self.client, wanted.tag)):
            return wanted, found
        with locked(paths.state_dir() / "locks" / wanted.name):
            for _ in range(_TRIES):
                wanted = look()
                if not anew and (found := _inspect(self.client, wanted.tag)):
                    return wanted, found
                build(wanted)
                if look().digest == wanted.digest:
                    self._renewed.add(wanted.tag)
                    return wanted, self.client.api.inspect_image(wanted.tag)
                # Nobody can say which of the changed files it was built from.
                self.client.api.remove_image(wanted.tag, force=True)
        raise CannotStart(
            f"The files of image {wanted.name} kept changing while it was built.",
            hint="Run this again when they stand still.",
        )


def _address() -> Address:
    client, address = engine_api.find()
    client.close()
    return address


def _labels(wanted: Recipe, origin: str) -> dict[str, str]:
    marks = {labels.NAME: wanted.name, labels.SOURCE: wanted.source, labels.BASE: origin}
    if wanted.version is not None:
        marks[labels.VERSION] = wanted.version
    if wanted.model is not None:
        marks[labels.MODEL] = wanted.model
    if why := _folder.restriction(wanted.name):
        marks[labels.REDISTRIBUTION] = labels.restricted(why)
    return marks


def _origin(found: dict[str, Any]) -> str:
    origin: str = found["Config"]["Labels"][labels.BASE]
    return origin


def _inspect(client: docker.DockerClient, tag: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = client.api.inspect_image(tag)
    except docker.errors.ImageNotFound:
        return None
    return found


def _running(client: docker.DockerClient, reference: str) -> ImageIdentity:
    """The image this very process runs from, even where its name has moved on to another."""
    try:
        image = client.api.inspect_container(socket.gethostname())["Image"]
    except docker.errors.NotFound:
        image = reference
    found = identity.identify(client, image)
    # Compose cannot compute a digest for a label; the files are here to be looked at.
    source = _source.recipe(BENCH).source if found.source == identity.UNKNOWN else found.source
    return found.model_copy(update={"name": reference, "source": source})
