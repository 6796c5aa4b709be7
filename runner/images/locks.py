"""Lock files: what pins every package in an image, by version and hash.

* ``images/NAME/debian.lock``: packages of Debian, for each architecture. An image holds those of
  the base's and of its own.
* ``requirements.lock``, ``locks/*.txt``, ``*.lock``: distributions of Python.
* ``package-lock.json``: packages of npm.
* ``uv.lock``: the bench's own.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner import paths
from runner.errors import UsageError
from runner.images import _folder
from runner.images._apt import Deb
from runner.images._folder import BASE, BENCH
from runner.model import Package

DEBIAN = "debian.lock"
ARCHITECTURES = ("amd64", "arm64")
NPM = "package-lock.json"
UV = "uv.lock"
_ROW = re.compile(r"(\S+) (\S+) (\S+) ([0-9a-f]{64})")
_HEAD = re.compile(r"# Debian (\S+) as of (\d{8}T\d{6}Z)")
_SECTION = re.compile(r"\[([a-z0-9]+)\]")
_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]\n]*\])?==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
_MODULES = "node_modules/"


@dataclass(frozen=True, slots=True)
class DebianLock:
    """The packages of Debian that an image adds to those below it.

    Attributes:
        suite: the release.
        moment: of the archive they were found in, as its snapshot service has it.
        packages: for each architecture, by name.
    """

    suite: str
    moment: str
    packages: Mapping[str, tuple[Deb, ...]]

    def text(self) -> str:
        """As it is written."""
        lines = [
            f"# Debian {self.suite} as of {self.moment}",
            "# package, version, architecture, sha256; renewed by `bench images lock`",
        ]
        for architecture, debs in sorted(self.packages.items()):
            lines.append(f"[{architecture}]")
            lines += [
                f"{deb.name} {deb.version} {deb.architecture} {deb.sha256}" for deb in sorted(debs)
            ]
        return "\n".join(lines) + "\n"


def parse(text: str, title: str = DEBIAN) -> DebianLock:
    """A ``debian.lock``.

    Raises:
        UsageError: it is none.
    """
    head, *lines = text.splitlines() or [""]
    told = _HEAD.fullmatch(head)
    if told is None:
        raise UsageError(f"{title} does not say which Debian it is of.", hint=_RENEW)
    packages: dict[str, list[Deb]] = {}
    rows: list[Deb] | None = None
    for number, line in enumerate(lines, start=2):
        if not line or line.startswith("#"):
            continue
        if section := _SECTION.fullmatch(line):
            if section[1] in packages:
                raise UsageError(f"{title} has [{section[1]}] twice.", hint=_RENEW)
            rows = packages[section[1]] = []
        elif rows is not None and (row := _ROW.fullmatch(line)):
            rows.append(Deb(row[1], row[2], row[3], row[4]))
        else:
            raise UsageError(f"Line {number} of {title} is no package: {line!r}.", hint=_RENEW)
    for architecture, debs in packages.items():
        if len({deb.name for deb in debs}) != len(debs):
            raise UsageError(f"{title} has a package twice in [{architecture}].", hint=_RENEW)
    return DebianLock(told[1], told[2], {one: tuple(debs) for one, debs in packages.items()})


_RENEW = "`bench images lock` makes it anew."


def file(name: str) -> Path:
    """Where the lock of an image's packages of Debian lies; that of the bench beside the others."""
    return _folder.place(name) / DEBIAN


def debian(name: str) -> DebianLock | None:
    """The lock of what an image adds; none where it has none.

    Raises:
        UsageError: it is no lock.
    """
    try:
        text = file(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return parse(text, f"images/{name}/{DEBIAN}")


@dataclass(frozen=True, slots=True)
class Pins:
    """What may be in an image.

    Attributes:
        debian: versions by name; none where no lock tells for that architecture.
        others: packages of other managers.
        managers: those that there is a lock of.
    """

    debian: Mapping[str, str] | None
    others: frozenset[Package]
    managers: frozenset[str]


def pins(name: str, architecture: str, version: str | None = None) -> Pins:
    """What the locks pin for an image, as they are now.

    Args:
        name: of the image.
        architecture: as engines and Debian name it.
        version: of what is in it, where it can be built of several.

    Raises:
        UsageError: a file is no lock.
    """
    versions: dict[str, str] | None = {}
    for one in dict.fromkeys((BASE, name)):
        lock = debian(one)
        if lock is None and one != BASE:
            continue
        if lock is None or architecture not in lock.packages:
            versions = None
            break
        assert versions is not None
        versions |= {deb.name: deb.version for deb in lock.packages[architecture]}
    others = frozenset(one for path in files(name, version) for one in pinned(path))
    return Pins(versions, others, frozenset(one.manager for one in others))


def files(name: str, version: str | None = None) -> tuple[Path, ...]:
    """The lock files of an image, those of Debian's packages apart.

    Args:
        name: of the image.
        version: only the lock of this one, where it can be built of several; none for all.
    """
    if name == BENCH:
        return (paths.root() / UV,)
    folder = _folder.place(name)
    found = {*folder.glob("*.lock"), *folder.glob(NPM), *folder.glob(f"{_folder.LOCKS}/*.txt")}
    if version is not None:
        found -= {folder / _folder.LOCKS / f"{one}.txt" for one in _folder.versions(name)}
        found.add(folder / _folder.LOCKS / f"{version}.txt")
    return tuple(sorted(one for one in found if one.name != DEBIAN and one.is_file()))


def pinned(path: Path) -> Iterator[Package]:
    """What a lock file pins.

    Raises:
        UsageError: it is none.
    """
    try:
        yield from read(path.name, path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no lock: {type(error).__name__}: {error}.") from error


def read(title: str, text: str) -> Iterator[Package]:
    """What the text of a lock file of that name pins, those of Debian apart.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is no lock.
    """
    if title == UV:
        for row in tomllib.loads(text)["package"]:
            yield python(row["name"], row["version"])
    elif title == NPM:
        for place, row in json.loads(text)["packages"].items():
            if _MODULES in place and not row.get("link"):
                yield _npm(place, row)
    else:
        for name, version in _PINNED.findall(text):
            yield python(name, version)


def digests(title: str, text: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """The hashes in the text of a lock file of that name: by package, then version.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is no lock.
    """
    found: dict[str, dict[str, set[str]]] = {}

    def add(package: Package, *hashes: str) -> None:
        found.setdefault(package.name, {}).setdefault(package.version, set()).update(hashes)

    if not text.strip():
        return {}
    if title == UV:
        for row in tomllib.loads(text)["package"]:
            files = [*row.get("wheels", ()), *filter(None, [row.get("sdist")])]
            add(python(row["name"], row["version"]), *(one["hash"] for one in files))
    elif title == NPM:
        for place, row in json.loads(text)["packages"].items():
            if place and not row.get("link"):
                add(_npm(place, row), row.get("integrity", ""))
    else:
        package = None
        for line in text.splitlines():
            if start := _PINNED.match(line):
                package = python(*start.groups())
                # What decides where it is installed counts too.
                add(package, *line.partition(";")[2:])
            for digest in _HASH.findall(line):
                assert package is not None
                add(package, digest)
    return {
        name: {version: tuple(sorted(hashes)) for version, hashes in sorted(versions.items())}
        for name, versions in found.items()
    }


def _npm(place: str, row: Mapping[str, Any]) -> Package:
    name = row.get("name") or place.rsplit(_MODULES, 1)[-1]
    return Package(manager="npm", name=name, version=row["version"])


def python(name: str, version: str) -> Package:
    """A distribution, its name in the one spelling the index uses."""
    return Package(manager="pypi", name=re.sub(r"[-_.]+", "-", name).lower(), version=version)
