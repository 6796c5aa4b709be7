"""The files that pin what is in an image, held to what is in it."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

import orjson

from runner.archive import media
from runner.archive.contents import ArchivedImage, Contents
from runner.archive.verify.images import Inside
from runner.archive.verify.sheet import Look, Looking, NotCheckable, told
from runner.errors import DamagedArchive
from runner.images import drift, locks
from runner.images.locks import Pins
from runner.model import Package
from runner.oci.packed import Packed

LOCKS = "locks"
_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]\n]*\])?==([^\s;\\]+)", re.MULTILINE)
_MODULES = "node_modules/"
_BASE = "base"
_BELOW = "base/debian.lock"
_DEBIAN = (_BELOW, "debian.lock")
_PINNING = ("pypi", "npm")
"""Managers whose packages come by a lock or not at all."""


def look(archive: Packed, found: Contents, inside: Mapping[str, Inside], looking: Looking) -> None:
    """Make the check of locks."""
    what = "packages, in the locks; of Debian's, what an image says it drifted by"
    with looking.check(LOCKS, what) as check:
        _locks(archive, found, inside, check)


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
        debian = {file.title: archive.get(file.blob) for file in files if file.title in _DEBIAN}
        if packages is not None and (_BELOW in debian or (debian and image.name == _BASE)):
            of_both = [debian[title] for title in _DEBIAN if title in debian]
            drifted(image, packages, of_both, look)
        elif any(one.manager == "deb" for one in packages or ()):
            look.note(f"Debian's packages of {image.reference} have no lock here.")
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


def drifted(
    image: ArchivedImage, packages: frozenset[Package], files: Iterable[bytes], look: Look
) -> None:
    """Hold what an image says it drifted by to its packages of Debian and their locks.

    Args:
        image: as it is archived.
        packages: what it holds.
        files: the locks, the base's first.
        look: is told what is amiss.
    """
    architecture = image.read.platform.split("/")[1]
    versions: dict[str, str] | None = {}
    for raw in files:
        try:
            debs = locks.parse(raw.decode()).packages.get(architecture)
        except Exception as error:
            look.amiss(f"A lock of Debian's packages of {image.reference}: {told(error)}")
            return
        if debs is None or versions is None:
            versions = None
        else:
            versions |= {deb.name: deb.version for deb in debs}
    held = [one for one in packages if one.manager == "deb"]
    wanted = Pins(versions, frozenset(), frozenset())
    now = set(drift.compare(held, wanted, architecture))
    said = {line for line in drift.of(image.read.labels) if line.startswith("deb")}
    look.at()
    for line in sorted(now ^ said):
        does = "does not say it drifted" if line in now else "says it drifted, and did not"
        look.amiss(f"{image.reference} {does}: {line}.")
    if now:
        look.note(f"{image.reference} drifted: {drift.brief(sorted(now))}.")


def pins(title: str, raw: bytes) -> Iterator[Package]:
    """What a lock of PyPI's or npm's packages pins; one of Debian's pins none of those.

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
