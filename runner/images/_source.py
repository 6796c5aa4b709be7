"""What an image is built from: its files, and one digest over all that decides its content."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner import paths
from runner.errors import UsageError
from runner.images import _folder
from runner.images._folder import BASE, BENCH

__all__ = ["BASE", "BENCH", "Recipe", "recipe", "settings", "source"]
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
_LEFT_OUT = {"__pycache__", ".git", ".mypy_cache", ".venv"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one image is built.

    Attributes:
        name: the image's name in the project.
        context: the folder handed to the build.
        source: sha256 over everything in it that may end up in the image.
        digest: sha256 over that and the image it stands on.
        args: build arguments.
        version: of what is in it; none where it has but one.
        model: what is baked into it; none where nothing is.
    """

    name: str
    context: Path
    source: str
    digest: str
    args: Mapping[str, str]
    version: str | None = None
    model: str | None = None

    @property
    def tag(self) -> str:
        """The name it has on an engine."""
        return f"memory-bench/{self.name}:{self.digest[:12]}"


def recipe(
    name: str,
    base_id: str | None = None,
    args: Mapping[str, str] | None = None,
    version: str | None = None,
    model: str | None = None,
    others: Mapping[str, str] | None = None,
) -> Recipe:
    """The recipe of an image, from the files as they are now.

    Args:
        name: ``base``, ``bench`` or a folder under ``images``.
        base_id: the image it stands on; none for the base itself.
        args: build arguments beside the epoch.
        version: of what is in it, where several can be built; none for its own default.
        model: what is baked into it, where there is a choice; none for its own default.
        others: ids of the images it stands on beside the base, by name.

    Raises:
        UsageError: no such image, or not of that version or with that model.
    """
    if name == BENCH:
        context = paths.root()
        parts: Iterable[Path] = (context / part for part in _BENCH_PARTS)
    else:
        context = _folder.place(name)
        parts = (context,)
        if not (context / "Dockerfile").is_file():
            images = ", ".join(_folder.names())
            raise UsageError(f"There is no image {name!r}.", hint=f"There are: {images}.")
    version = _one_of(_folder.versions(name), version, f"The image {name} cannot be built of")
    model = _one_of(
        _folder.models(name), model, f"The image {name} cannot be built with", what="model"
    )
    source = hashlib.sha256(f"{name}\n".encode())
    for file in sorted(file for part in parts for file in _walk(part)):
        # A link is where it leads to, not what is there: that may be anything on this machine.
        body = str(file.readlink()).encode() if file.is_symlink() else file.read_bytes()
        runs = "x" if file.lstat().st_mode & 0o100 else "-"
        head = f"{file.relative_to(context).as_posix()}\n{runs} {len(body)}\n"
        source.update(head.encode() + body)
    ground = f"{source.hexdigest()}\n{base_id or ''}\n"
    given = {"SOURCE_DATE_EPOCH": settings()["SOURCE_DATE_EPOCH"], **(args or {})}
    for other, image_id in sorted((others or {}).items()):
        ground += f"{_folder.argument(other)}={image_id}\n"
    if version is not None and version != _folder.versions(name)[0]:
        ground += f"VERSION={version}\n"
        given["VERSION"] = version
    if model is not None:
        given["MODEL"] = model
        if model != _folder.models(name)[0]:
            ground += f"MODEL={model}\n"
    digest = hashlib.sha256(ground.encode())
    return Recipe(
        name, context, source.hexdigest(), digest.hexdigest(), given, version=version, model=model
    )


def source(name: str) -> str:
    """sha256 over the files of an image as they are now: what its label ``source`` says of them.

    Raises:
        UsageError: there is no such image.
    """
    return recipe(name).source


def _one_of(
    known: tuple[str, ...], asked: str | None, cannot: str, what: str = "version"
) -> str | None:
    """What was asked for, or the default; none where there is nothing to choose.

    Raises:
        UsageError: it is none of those there are.
    """
    if asked is None:
        return known[0] if known else None
    if asked not in known:
        there_are = ", ".join(known) or ("its own and no other" if what == "version" else "none")
        raise UsageError(f"{cannot} {what} {asked!r}.", hint=f"There are: {there_are}.")
    return asked


def settings() -> dict[str, str]:
    """The Debian release all images stand on, from ``images/base/debian.env``."""
    lines = (paths.images() / BASE / "debian.env").read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def _walk(part: Path) -> Iterator[Path]:
    if part.is_file() or part.is_symlink():
        yield part
    elif part.is_dir():
        for child in part.iterdir():
            if child.name not in _LEFT_OUT and child.suffix != ".pyc":
                yield from _walk(child)
