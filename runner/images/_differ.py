"""Where two images that should be the same are not: in which layer, of which file, what."""

import hashlib
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import docker
import orjson

from runner.errors import CannotStart
from runner.images import _spool

_XATTR = "SCHILY.xattr."
_CHUNK = 1 << 20
_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
ONE_ONLY = "is in one only"
AS_BELOW = "is as it was below"
HIDES = "hides what was below"


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """Something in one image that is otherwise in the other.

    Attributes:
        layer: its number, from 1; 0 for the config.
        path: a file of the layer, or a place in the config.
        what: in which ways, such as ``bytes``, ``mode``, ``time``, ``owner``.
    """

    layer: int
    path: str
    what: tuple[str, ...]

    def __str__(self) -> str:
        where = f"layer {self.layer}" if self.layer else "config"
        return f"{where}, {self.path}: {', '.join(self.what)}"


def differences(client: docker.DockerClient, one: str, other: str) -> tuple[Difference, ...]:
    """All of them, lowest layers first, then the config.

    Args:
        client: the engine that holds both.
        one: an image.
        other: the other.

    Raises:
        CannotStart: the engine does not save them.
    """
    configs: list[dict[str, Any]] = []
    layers: list[list[tuple[str, Path]]] = []
    with _spool.scratch() as folder:
        for image in (one, other):
            (place := folder / str(len(configs))).mkdir()
            saved, files = _spool.save(client, image, place)
            configs.append(orjson.loads(saved.config))
            layers.append([(digest, files[digest]) for digest in saved.read.diff_ids])
        found = list(_in_layers(*layers))
    # Of layers that differ the config differs too, and says no more.
    for config in configs:
        config.pop("rootfs", None)
    found += in_config(configs[0], configs[1])
    return tuple(found)


def unsteady(client: docker.DockerClient, image: str, first: int) -> tuple[Difference, ...]:
    """What an image's layers hold that is as it was below them, and markers of folders that hide
    what was below: an engine leaves such things out of a layer, or does not, as it comes to know
    what a step changed.

    Args:
        client: the engine that holds it.
        image: which.
        first: number of the lowest layer to look at, from 1.

    Raises:
        CannotStart: the engine does not save it.
    """
    with _spool.scratch() as folder:
        saved, files = _spool.save(client, image, folder)
        layers = [files[digest] for digest in saved.read.diff_ids]
        return tuple(spurious(layers, first))


def spurious(layers: Sequence[Path], first: int) -> Iterator[Difference]:
    """As `unsteady`, with the layers at hand, lowest first."""
    below: dict[str, dict[str, str]] = {}
    for number, layer in enumerate(layers, start=1):
        entries = _entries(layer)
        if number >= first:
            yield from _spurious(number, entries, below)
        for path in entries:
            folder, _, name = path.rpartition("/")
            if name == _OPAQUE:
                _remove(below, folder, itself=False)
            elif name.startswith(_WHITEOUT):
                _remove(below, f"{folder}/{name.removeprefix(_WHITEOUT)}".lstrip("/"), itself=True)
        below |= {path: told for path, told in entries.items() if _WHITEOUT not in path}


def _spurious(
    number: int, entries: Mapping[str, Mapping[str, str]], below: Mapping[str, Mapping[str, str]]
) -> Iterator[Difference]:
    # A folder is told of because of what changed in it.
    told: set[str] = set()
    for path in entries:
        if _same(path, entries, below):
            continue
        while "/" in path:
            path = path.rpartition("/")[0]
            told.add(path)
    for path in entries:
        if path.rpartition("/")[2] == _OPAQUE:
            yield Difference(number, path, (HIDES,))
        elif path not in told and _same(path, entries, below):
            yield Difference(number, path, (AS_BELOW,))


def _same(
    path: str, entries: Mapping[str, Mapping[str, str]], below: Mapping[str, Mapping[str, str]]
) -> bool:
    """Whether it looks as it did; those who compare do not read what is in a file."""
    if path.rpartition("/")[2] == _OPAQUE:
        return True
    now, was = dict(entries[path]), dict(below.get(path, {}))
    if now["type"] == tarfile.DIRTYPE.decode():
        return bool(was) and now | {"time": ""} == was | {"time": ""}
    for told in (now, was):
        told.pop("bytes", None)
    return now == was


def _remove(found: dict[str, dict[str, str]], path: str, *, itself: bool) -> None:
    for other in [one for one in found if one.startswith(f"{path}/") or (itself and one == path)]:
        del found[other]


def _in_layers(
    one: Sequence[tuple[str, Path]], other: Sequence[tuple[str, Path]]
) -> Iterator[Difference]:
    for number, (first, second) in enumerate(zip_longest(one, other), start=1):
        if first is None or second is None:
            yield Difference(number, "the layer", (ONE_ONLY,))
        elif first[0] != second[0]:
            yield from in_layer(number, first[1], second[1])


def in_layer(number: int, one: Path, other: Path) -> Iterator[Difference]:
    """What differs between two layers.

    Args:
        number: to tell them by.
        one: a layer as a file.
        other: the other.

    Raises:
        CannotStart: one is no layer.
    """
    first, second = _entries(one), _entries(other)
    some = False
    for path in sorted({*first, *second}):
        was, now = first.get(path), second.get(path)
        if was is None or now is None:
            some = True
            yield Difference(number, path, (ONE_ONLY,))
        elif what := tuple(
            key for key in sorted({*was, *now} - {"size"}) if was.get(key) != now.get(key)
        ):
            some = True
            yield Difference(number, path, what)
    if not some:
        how = "order" if list(first) != list(second) else "how the tar is written"
        yield Difference(number, "the layer", (how,))


def _entries(layer: Path) -> dict[str, dict[str, str]]:
    """What a layer says of each path, in the order they come."""
    found: dict[str, dict[str, str]] = {}
    try:
        with tarfile.open(layer) as tar:
            for member in tar:
                # Later words on the same path are what counts, as for an engine.
                found[member.name] = _told(tar, member)
    except tarfile.TarError as error:
        raise CannotStart(f"A layer that the engine saved is none: {error}.") from error
    return found


def _told(tar: tarfile.TarFile, member: tarfile.TarInfo) -> dict[str, str]:
    told = {
        "type": member.type.decode("latin-1"),
        "mode": oct(member.mode),
        "time": str(member.mtime),
        "owner": f"{member.uid}:{member.gid} {member.uname}:{member.gname}",
        "link": member.linkname,
        "device": f"{member.devmajor}:{member.devminor}",
    }
    for key, value in member.pax_headers.items():
        if key.startswith(_XATTR):
            told[f"xattr {key.removeprefix(_XATTR)}"] = value
    if member.isreg():
        file = tar.extractfile(member)
        assert file is not None
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        told["bytes"] = digest.hexdigest()
        told["size"] = str(member.size)
    return told


def in_config(one: Any, other: Any, place: str = "") -> Iterator[Difference]:
    """What differs between two configs, by where."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from in_config(one.get(key), other.get(key), f"{place}.{key}" if place else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from in_config(first, second, f"{place}[{at}]")
    elif one != other:
        yield Difference(0, place, ("value",))
