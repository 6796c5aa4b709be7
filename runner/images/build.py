"""Makes sure an image is there: found by the digest of what it is built from, else built."""

import os
import socket
from collections.abc import Callable
from typing import Any

import docker
import docker.errors

from runner import engine_api, paths
from runner.engine_api import Address
from runner.errors import CannotStart, UsageError
from runner.images import _buildx, _compose, _debian, _folder, _source, identity, labels
from runner.images._buildx import Progress
from runner.images._files import locked
from runner.images._source import BASE, BENCH, Recipe
from runner.model import ImageIdentity

DEADLINE_S = 1800.0
_TRIES = 3
BENCH_LOCAL = "memory-bench/bench:local"
"""The name Compose runs the bench by."""

names = _folder.names
versions = _folder.versions
models = _folder.models


def _quiet(_line: str) -> None:
    """Says nothing."""


def ensure(
    name: str,
    *,
    version: str | None = None,
    model: str | None = None,
    progress: Progress = _quiet,
    client: docker.DockerClient | None = None,
    deadline_s: float = DEADLINE_S,
) -> ImageIdentity:
    """An image of the project, built when the engine does not hold it yet.

    The image the bench itself runs from (``BENCH_IMAGE``, set in its container) is taken as it is.

    Args:
        name: ``base``, ``bench``, or a folder under ``images``.
        version: of the system in it, one of ``versions(name)``; none for the default.
        model: what is baked into it, one of ``models(name)``; none for the default.
        progress: told, a line at a time, what is being built; never called when nothing is.
        client: the engine, where one is connected already.
        deadline_s: bound on one build, in seconds.

    Raises:
        CannotStart: no engine, or a build failed; the message holds its last lines.
        UsageError: there is no such image, or not of that version or with that model.
    """
    # What cannot be built is said before anything it stands on is.
    check(name, version=version, model=model)
    if client is not None:
        return _ensure(client, name, version, model, progress, deadline_s)
    client = engine_api.connect()
    try:
        return _ensure(client, name, version, model, progress, deadline_s)
    finally:
        client.close()


def check(name: str, *, version: str | None = None, model: str | None = None) -> None:
    """Whether an image can be asked for, from its files alone.

    Raises:
        UsageError: there is no such image, or not of that version or with that model.
    """
    _source.recipe(name, version=version, model=model)


def _ensure(
    client: docker.DockerClient,
    name: str,
    version: str | None,
    model: str | None,
    progress: Progress,
    deadline_s: float,
) -> ImageIdentity:
    running = os.environ.get("BENCH_IMAGE")
    if name == BENCH and running:
        return _running(client, running)
    base = _base(client, progress, deadline_s)
    if name == BASE:
        wanted, found = base
    else:
        wanted, found = _above(client, (name, version, model), base, progress, deadline_s)
    return identity.from_inspection(client, wanted.tag, found)


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


def _base(
    client: docker.DockerClient, progress: Progress, deadline_s: float
) -> tuple[Recipe, dict[str, Any]]:
    def make(wanted: Recipe) -> None:
        address = _address()
        debian = _debian.obtain(address, progress)
        progress(f"building {wanted.tag} on {debian.origin}")
        _buildx.build(
            address,
            wanted.context,
            tags=[wanted.tag],
            labels=_labels(wanted, debian.origin),
            args={**wanted.args, "DEBIAN": debian.reference},
            progress=progress,
            deadline_s=deadline_s,
        )

    wanted, found = _obtain(client, lambda: _source.recipe(BASE), make)
    origin = _origin(found)
    # A public image Compose finds by itself.
    local = {"BENCH_BASE": wanted.tag, "BENCH_ORIGIN": origin}
    _compose.remember(local if origin.startswith(_debian.PACKAGES) else {})
    return wanted, found


def _above(
    client: docker.DockerClient,
    which: tuple[str, str | None, str | None],
    base: tuple[Recipe, dict[str, Any]],
    progress: Progress,
    deadline_s: float,
    path: tuple[str, ...] = (),
) -> tuple[Recipe, dict[str, Any]]:
    """An image on the base, after the others it stands on; ``path`` holds those that wait for it.

    Args:
        which: its name, version and model.
    """
    name, version, model = which
    ground, below = base
    path = (*path, name)
    others: dict[str, tuple[Recipe, dict[str, Any]]] = {}
    for other in _folder.stands_on(name):
        if other in path:
            raise UsageError(f"Images stand on each other in a circle: {' on '.join(path)}.")
        if other not in names():
            raise UsageError(
                f"images/{name}/Dockerfile asks for {_folder.argument(other)}, and there is no"
                f" image {other}.",
                hint=f"There are: {', '.join(names())}.",
            )
        others[other] = _above(client, (other, None, None), base, progress, deadline_s, path)

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

    def make(wanted: Recipe) -> None:
        progress(f"building {wanted.tag} on {ground.tag}")
        _buildx.build(
            _address(),
            wanted.context,
            tags=[wanted.tag],
            labels=_labels(wanted, _origin(below)),
            args=wanted.args,
            progress=progress,
            deadline_s=deadline_s,
        )

    wanted, found = _obtain(client, look, make)
    if name == BENCH and BENCH_LOCAL not in found["RepoTags"]:
        client.api.tag(wanted.tag, *BENCH_LOCAL.split(":"))
    return wanted, found


def _obtain(
    client: docker.DockerClient, look: Callable[[], Recipe], make: Callable[[Recipe], None]
) -> tuple[Recipe, dict[str, Any]]:
    """The image of the files as they are, made where it is missing."""
    wanted = look()
    if found := _inspect(client, wanted.tag):
        return wanted, found
    with locked(paths.state_dir() / "locks" / wanted.name):
        for _ in range(_TRIES):
            wanted = look()
            if found := _inspect(client, wanted.tag):
                return wanted, found
            make(wanted)
            if look().digest == wanted.digest:
                return wanted, client.api.inspect_image(wanted.tag)
            # Nobody can say which of the changed files it was built from.
            client.api.remove_image(wanted.tag, force=True)
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
