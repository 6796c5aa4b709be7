"""The files that pin what is in an image, as they are where it is built from."""

from collections.abc import Iterator
from pathlib import Path

from runner import images, paths
from runner.model import ImageIdentity

_BENCH = "bench"
_OF_THE_BENCH = ("uv.lock", "scripts/uv.txt")
_NPM = ("package-lock.json", "npm-shrinkwrap.json")


def of(name: str, image: ImageIdentity) -> dict[str, bytes] | None:
    """The locks of an image, by their paths; none where it was built from other files than these.

    Args:
        name: which image of the project it is.
        image: of which build.
    """
    if name not in images.names() or images.source(name) != image.source:
        return None
    root = paths.root() if name == _BENCH else paths.images() / name
    files = (root / one for one in _OF_THE_BENCH) if name == _BENCH else _locks(root)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(files)}


def _locks(root: Path) -> Iterator[Path]:
    for file in root.rglob("*"):
        of_versions = file.parent.name == "locks" and file.suffix == ".txt"
        if file.is_file() and (file.suffix == ".lock" or file.name in _NPM or of_versions):
            yield file
