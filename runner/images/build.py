"""Makes sure an image is there: found by the digest of what it is built from, else built."""

import docker

from runner import engine_api
from runner.images import _folder, _source
from runner.images._builder import BENCH_LOCAL, DEADLINE_S, Builder
from runner.images._buildx import Progress
from runner.model import ImageIdentity

__all__ = ["BENCH_LOCAL", "DEADLINE_S", "check", "ensure", "models", "names", "versions"]

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
    found = None if client is not None else engine_api.connect()
    try:
        return Builder(client or found, progress, deadline_s).ensure(name, version, model)
    finally:
        if found is not None:
            found.close()


def check(name: str, *, version: str | None = None, model: str | None = None) -> None:
    """Whether an image can be asked for, from its files alone.

    Raises:
        UsageError: there is no such image, or not of that version or with that model.
    """
    _source.recipe(name, version=version, model=model)
