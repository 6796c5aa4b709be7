"""Which packages of Debian an image asks for, read from the files that ask."""

import re
from pathlib import Path

from runner import paths
from runner.images import _apt, _folder
from runner.images._folder import BASE, BENCH

_CONTINUED = re.compile(r"\\\n(?:\s*#.*\n)*")
_STAGE = re.compile(
    r"^FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_ASKS = re.compile(
    r"(?:\bbench-apt|apt-get install(?:\s+-\S+)*)((?:[ \t]+[a-z0-9][a-z0-9+.-]+)+)(?![^\s;&|])"
)
_INCLUDED = re.compile(r"--include=(\S+)")


def wanted(name: str) -> tuple[str, ...]:
    """What the last stage of an image installs, and those it begins with, by name; of the base, all
    that a Debian has from the start too.

    What other stages install does not end up in the image: they leave files, held by other locks.
    """
    if name == BASE:
        folder = paths.images() / BASE
        made = _text(folder / "make-debian")
        included = (one for found in _INCLUDED.findall(made) for one in found.split(","))
        return (*_apt.SMALLEST, *sorted({*included, *_asked(_text(folder / "install"))}))
    file = paths.root() / "Dockerfile" if name == BENCH else _folder.place(name) / "Dockerfile"
    _, *parts = _STAGE.split(_text(file))
    below: dict[str, set[str]] = {}
    asked: set[str] = set()
    for ground, stage, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        asked = below.get(ground, set()) | _asked(text)
        below[stage or ""] = asked
    return tuple(sorted(asked))


def _text(file: Path) -> str:
    """Nothing where there is no such file, which is told of by who builds the image."""
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _asked(text: str) -> set[str]:
    return {one for found in _ASKS.findall(_CONTINUED.sub(" ", text)) for one in found.split()}


def names() -> tuple[str, ...]:
    """Images that install packages of Debian."""
    return tuple(name for name in _folder.names() if wanted(name))
