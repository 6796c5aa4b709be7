"""What the folder of an image says of it: what it stands on, versions, models, and who may have it.

Read from ``Dockerfile``, ``locks`` and the ``[image]`` table of ``system.toml``.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner import __version__, paths
from runner.errors import UsageError
from runner.model import ImageTable

BASE = "base"
BENCH = "bench"
LOCKS = "locks"
"""Folder of an image that can be built of several versions: a lock each, named after it."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_VERSION = re.compile(r"\d+(\.\w+)*")
_DEFAULT = re.compile(r"^ARG VERSION=(\S+)$", re.MULTILINE)
_MODEL = re.compile(r"^ARG MODEL\b", re.MULTILINE)
_STANDS_ON = re.compile(r"^ARG (BENCH_[A-Z0-9_]+)(?:=\S*)?[ \t]*$", re.MULTILINE)
_PREFIX = "BENCH_"


def place(name: str) -> Path:
    """Where the files of an image lie: in a folder of its name under ``images``, or in the one of
    a system that is not the project's."""
    own = paths.images() / name
    folder = paths.system_dir()
    return folder if folder is not None and not own.is_dir() and name == _outside() else own


def _outside() -> str | None:
    """The name of the system that is not the project's; none where there is none, or its folder
    does not say: who measures it is told."""
    folder = paths.system_dir()
    if folder is None:
        return None
    try:
        told = tomllib.loads((folder / "system.toml").read_text(encoding="utf-8")).get("name")
    except (OSError, ValueError):
        return None
    return told if isinstance(told, str) and _NAME.fullmatch(told) else None


def versions(name: str) -> tuple[str, ...]:
    """The versions an image can be built of, its default first; none where it has but one."""
    context = place(name)
    files = (file.name.removesuffix(".txt") for file in (context / LOCKS).glob("*.txt"))
    locks = sorted(filter(_VERSION.fullmatch, files), reverse=True)
    if not locks:
        return ()
    default = _DEFAULT.search(_dockerfile(name))
    first = default[1] if default else locks[0]
    return (first, *(other for other in locks if other != first))


def version(name: str) -> str:
    """The version of what is in an image, where nothing else is asked for; empty if none is told.

    Raises:
        UsageError: what its folder says is wrong.
    """
    if name == BENCH:
        return __version__
    return (versions(name) or (str(_system(name).get("version", "")),))[0]


def models(name: str) -> tuple[str, ...]:
    """The models that can be baked into an image, its default first; none where there is none.

    Raises:
        UsageError: the folder contradicts itself.
    """
    found = _table(name).models
    if found and not _MODEL.search(_dockerfile(name)):
        # All of them would be the same image under different names.
        raise UsageError(
            f"images/{name}/system.toml lists models, and its Dockerfile has no ARG MODEL."
        )
    return found


def restriction(name: str) -> str:
    """Why an image may not be handed on, by itself or by what it stands on; empty where it may."""
    return _restriction(name, frozenset())


def _restriction(name: str, above: frozenset[str]) -> str:
    table = _table(name)
    if not table.redistributable:
        return " ".join(table.why.split())
    for other in stands_on(name):
        if other not in above and (why := _restriction(other, above | {name})):
            return f"it holds parts of {other}: {why}"
    return ""


def stands_on(name: str) -> tuple[str, ...]:
    """The images of the project, beside the base, that the Dockerfile of one asks for by
    ``ARG BENCH_X``, X being the name in capitals with ``_`` for ``-``; in alphabetical order.
    """
    if name in (BASE, BENCH):
        return ()
    asked = {
        found.removeprefix(_PREFIX).lower().replace("_", "-")
        for found in _STANDS_ON.findall(_dockerfile(name))
    }
    return tuple(sorted(asked - {BASE}))


def argument(name: str) -> str:
    """The build argument that an image of the project is handed to another by."""
    return _PREFIX + name.upper().replace("-", "_")


def names() -> tuple[str, ...]:
    """Every image the project can build, in an order they can be built in."""
    there = {file.parent.name for file in paths.images().glob("*/Dockerfile")} - {BASE}
    if (other := _outside()) is not None and (place(other) / "Dockerfile").is_file():
        there.add(other)
    ordered: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        # Circles and images that do not exist are told of by who builds the one that asks.
        if name in there - seen:
            seen.add(name)
            for other in stands_on(name):
                visit(other)
            ordered.append(name)

    for name in sorted(there):
        visit(name)
    return (BASE, *ordered, BENCH)


def _dockerfile(name: str) -> str:
    """Empty where there is no such image, which is told of by who builds it."""
    file = place(name) / "Dockerfile"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _table(name: str) -> ImageTable:
    try:
        return ImageTable.model_validate(_system(name).get("image", {}))
    except ValidationError as error:
        raise UsageError(f"{_file(name)} describes no image: {error}") from error


def _system(name: str) -> dict[str, Any]:
    file = _file(name)
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _file(name: str) -> Path:
    return place(name) / "system.toml"
