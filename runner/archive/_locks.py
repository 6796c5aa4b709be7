"""The files that pin what is in an image, as they are where it is built from."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from runner import images, paths
from runner.images import drift, locks
from runner.images.locks import DEBIAN
from runner.model import ImageIdentity

_BASE = "base"
_BENCH = "bench"
BELOW = f"{_BASE}/{DEBIAN}"
"""What the lock of the base's packages of Debian is called, beside the image's own."""
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
    root = paths.root() if name == _BENCH else images.place(name)
    files = (root / one for one in _OF_THE_BENCH) if name == _BENCH else _locks(root)
    found = {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(files)}
    return found | _debian(name, image)


def _debian(name: str, image: ImageIdentity) -> dict[str, bytes]:
    """The locks of its packages of Debian, its own and those of the base it stands on; none where
    the base's is another than the image was built with.
    """
    architecture = image.platform.split("/")[1]
    own, below = locks.file(name), locks.file(_BASE)
    held = {DEBIAN: own, BELOW: below} if name != _BASE else {DEBIAN: own}
    if _told(image.drift) != _told(drift.drift(name, architecture, None, image.packages)):
        return {}
    return {title: file.read_bytes() for title, file in held.items() if file.is_file()}


def _told(lines: Iterable[str]) -> set[str]:
    """What of a drift is about packages of Debian."""
    return {line for line in lines if line.startswith("deb")}


def _locks(root: Path) -> Iterator[Path]:
    for file in root.rglob("*"):
        of_versions = file.parent.name == "locks" and file.suffix == ".txt"
        if file.name == DEBIAN:
            continue
        if file.is_file() and (file.suffix == ".lock" or file.name in _NPM or of_versions):
            yield file
