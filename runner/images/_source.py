"""What an image is built from: its files, and one digest over all that decides its content."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner import paths
from runner.errors import UsageError

BASE = "base"
BENCH = "bench"
# What .dockerignore lets into the bench image.
_BENCH_PARTS = (
    "Dockerfile",
    "LICENSE",
    "README.md",
    "fixtures",
    "images",
    "pyproject.toml",
    "runner",
    "scripts",
    "uv.lock",
)
_LEFT_OUT = {"__pycache__", ".mypy_cache", ".venv"}
LOCKS = "locks"
"""Folder of an image that can be built of several versions: a lock each, named after it."""
_DEFAULT = re.compile(r"^ARG VERSION=(\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one image is built.

    Attributes:
        name: the image's name in the project.
        context: the folder handed to the build.
        source: sha256 over everything in it that may end up in the image.
        digest: sha256 over that and the image it stands on.
        args: build arguments.
    """

    name: str
    context: Path
    source: str
    digest: str
    args: Mapping[str, str]

    @property
    def tag(self) -> str:
        """The name it has on an engine."""
        return f"memory-bench/{self.name}:{self.digest[:12]}"


def recipe(
    name: str,
    base_id: str | None = None,
    args: Mapping[str, str] | None = None,
    version: str | None = None,
) -> Recipe:
    """The recipe of an image, from the files as they are now.

    Args:
        name: ``base``, ``bench`` or a folder under ``images``.
        base_id: the image it stands on; none for the base itself.
        args: build arguments beside the epoch.
        version: of what is in it, where several can be built; none for its own default.

    Raises:
        UsageError: no such image, or not of that version.
    """
    if name == BENCH:
        context = paths.root()
        parts: Iterable[Path] = (context / part for part in _BENCH_PARTS)
    else:
        context = paths.images() / name
        parts = (context,)
        if not (context / "Dockerfile").is_file():
            images = ", ".join(names())
            raise UsageError(f"There is no image {name!r}.", hint=f"There are: {images}.")
    source = hashlib.sha256(f"{name}\n".encode())
    for file in sorted(file for part in parts for file in _walk(part)):
        body = file.read_bytes()
        runs = "x" if file.stat().st_mode & 0o100 else "-"
        head = f"{file.relative_to(context).as_posix()}\n{runs} {len(body)}\n"
        source.update(head.encode() + body)
    ground = f"{source.hexdigest()}\n{base_id or ''}\n"
    given = {"SOURCE_DATE_EPOCH": settings()["SOURCE_DATE_EPOCH"], **(args or {})}
    if version is not None:
        known = versions(name)
        if version not in known:
            there_are = ", ".join(known) or "its own and no other"
            raise UsageError(
                f"The image {name} cannot be built of version {version!r}.",
                hint=f"There are: {there_are}.",
            )
        if version != known[0]:
            ground += f"VERSION={version}\n"
            given["VERSION"] = version
    digest = hashlib.sha256(ground.encode())
    return Recipe(name, context, source.hexdigest(), digest.hexdigest(), given)


def versions(name: str) -> tuple[str, ...]:
    """The versions an image can be built of, its default first; none where it has but one."""
    context = paths.images() / name
    locks = sorted((file.stem for file in (context / LOCKS).glob("*.txt")), reverse=True)
    if not locks:
        return ()
    default = _DEFAULT.search((context / "Dockerfile").read_text())
    first = default[1] if default else locks[0]
    return (first, *(other for other in locks if other != first))


def names() -> tuple[str, ...]:
    """Every image the project can build, in an order they can be built in."""
    found = {file.parent.name for file in paths.images().glob("*/Dockerfile")}
    return (BASE, *sorted(found - {BASE}), BENCH)


def settings() -> dict[str, str]:
    """The Debian release all images stand on, from ``images/base/debian.env``."""
    lines = (paths.images() / BASE / "debian.env").read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def _walk(part: Path) -> Iterator[Path]:
    if part.is_file():
        yield part
    elif part.is_dir():
        for child in part.iterdir():
            if child.name not in _LEFT_OUT and child.suffix != ".pyc":
                yield from _walk(child)
