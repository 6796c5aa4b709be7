"""The files that pin what is in an image, held to what is in it."""

import re
import tomllib
from collections.abc import Iterator, Mapping

import orjson

from runner.archive import media
from runner.archive.contents import Contents
from runner.archive.verify.images import Inside
from runner.archive.verify.sheet import Look, Looking, NotCheckable, told
from runner.errors import DamagedArchive
from runner.model import Package
from runner.oci.packed import Packed

LOCKS = "locks"
_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]\n]*\])?==([^\s;\\]+)", re.MULTILINE)
_MODULES = "node_modules/"
_PINNING = ("pypi", "npm")
"""Managers whose packages come by a lock or not at all."""


def look(archive: Packed, found: Contents, inside: Mapping[str, Inside], looking: Looking) -> None:
    """Make the check of locks."""
    with looking.check(LOCKS, "packages of PyPI and npm, in the locks") as locks:
        _locks(archive, found, inside, locks)


def _locks(archive: Packed, found: Contents, inside: Mapping[str, Inside], look: Look) -> None:
    without = []
    for digest, image in found.images.items():
        files, packages = found.on(image, media.LOCKS), inside[digest].packages
        pinned: set[Package] = set()
        for file in files:
            try:
                pinned |= set(pins(file.title, archive.get(file.blob)))
            except Exception as error:
                look.amiss(f"{file.title} of {image.reference}: {told(error)}")
        own = [one for one in packages or () if one.manager in _PINNING]
        if packages is None or (own and not files):
            without.append(image.reference)
            continue
        for package in sorted(own, key=str):
            look.at()
            if package not in pinned:
                look.amiss(
                    f"{image.reference} holds {package.manager} {package.name}"
                    f" {package.version}, which no lock pins."
                )
    if without and not look.wrong:
        raise NotCheckable(f"No lock hangs on {', '.join(without)}.")


def pins(title: str, raw: bytes) -> Iterator[Package]:
    """What a lock pins, whatever kind of lock it is.

    Raises:
        DamagedArchive: it is no such lock.
    """
    try:
        if title.endswith("uv.lock"):
            for row in tomllib.loads(raw.decode())["package"]:
                yield _python(row["name"], row["version"])
        elif title.endswith(".json"):
            for place, row in orjson.loads(raw)["packages"].items():
                if _MODULES in place and not row.get("link"):
                    name = row.get("name") or place.rsplit(_MODULES, 1)[1]
                    yield Package(manager="npm", name=name, version=row["version"])
        else:
            for name, version in _PINNED.findall(raw.decode()):
                yield _python(name, version)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedArchive(f"It is no lock: {type(error).__name__}: {error}.") from error


def _python(name: str, version: str) -> Package:
    return Package(manager="pypi", name=re.sub(r"[-_.]+", "-", name).lower(), version=version)
