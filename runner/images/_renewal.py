"""How the locks of an image are renewed: what its ``locks.toml`` says."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner import paths
from runner.errors import UsageError
from runner.images import _folder
from runner.images._folder import BENCH

TABLE = "locks.toml"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PythonLock(_Table):
    """A lock of distributions, which uv resolves."""

    lock: str
    """The file; with ``{version}`` in it there is one for each version of the image."""
    inputs: tuple[str, ...] = ()
    """Files with what is asked for."""
    require: str = ""
    """What is asked for beside that; ``{version}`` is that of the file."""
    overrides: str = ""
    """A file with requirements that take the place of others."""
    python: str
    """Version of Python it has to hold for."""
    dependencies: bool = True
    """Whether what is asked for brings what it needs."""
    source: tuple[str, ...] = ()
    """Distributions that come as source alone and are built for the image."""


class NpmLock(_Table):
    """A ``package-lock.json``, which npm resolves from the ``package.json`` beside it."""

    legacy_peers: bool = False
    """Whether packages need not get along with what they say they work beside."""


class Renewal(_Table):
    """All locks of an image but those of Debian's packages."""

    python: tuple[PythonLock, ...] = ()
    npm: NpmLock | None = None
    uv: tuple[str, ...] = Field(default=())
    """Files that ``uv.lock`` is resolved from, where there is one."""


def folder(name: str) -> Path:
    """The folder that the files of an image's locks are named from."""
    return paths.root() if name == BENCH else _folder.place(name)


def renewal(name: str) -> Renewal:
    """How an image's locks are renewed.

    Raises:
        UsageError: its table is none.
    """
    file = _folder.place(name) / TABLE
    try:
        return Renewal.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Renewal()
    except (ValueError, ValidationError) as error:
        raise UsageError(f"{file} does not say how locks are renewed: {error}") from error


def each(name: str, lock: PythonLock) -> tuple[PythonLock, ...]:
    """A lock for each version of the image, where it is one of many."""
    if "{version}" not in lock.lock:
        return (lock,)
    return tuple(
        lock.model_copy(
            update={
                "lock": lock.lock.format(version=version),
                "require": lock.require.format(version=version),
            }
        )
        for version in _folder.versions(name)
    )
