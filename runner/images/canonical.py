"""Makes of an image that was just built the same image in its one form.

What a build leaves differs from that by times: in the config always, in layers where a step did not
end with ``bench-seal``. Where every step did, only the config is written anew, and the engine keeps
the layers it has; that takes a fraction of a second. Otherwise the layers are looked at too, which
takes the engine as long as saving the image.
"""

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import docker
import docker.errors
import orjson

from runner.errors import CannotStart
from runner.images import _canon, _config, _spool
from runner.oci import engine_io
from runner.oci.engine_io import Held, LoadedLayer, Loading


def canonical(
    client: docker.DockerClient,
    reference: str,
    *,
    below: Sequence[str],
    marks: Mapping[str, str],
    latest: int,
    thorough: bool = False,
) -> Held:
    """The image in its one form, held by the engine beside the one it was made of, without a name.

    Args:
        client: the engine.
        reference: the image as it was built.
        below: digests of layers it stands on, lowest first, that are left as they are.
        marks: labels to set; those without a value are taken away.
        latest: seconds since 1970 that are every later time.
        thorough: look at every layer, whatever its step says.

    Raises:
        CannotStart: the engine does not save it, or does not take it back.
    """
    if not thorough and not engine_io.by_manifest(client):
        try:
            inspected = client.api.inspect_image(reference)
            history = client.api.history(inspected["Id"])
        except docker.errors.APIError as error:
            raise CannotStart(f"The engine does not tell of {reference}: {error}.") from error
        config = _config.told(inspected, history)
        diff_ids = inspected["RootFS"]["Layers"]
        known = len(below) if tuple(diff_ids[: len(below)]) == tuple(below) else 0
        if _config.sealed(config, diff_ids, known):
            layers = tuple(LoadedLayer(one, 0, _never) for one in diff_ids)
            new = Loading(_config.canonical(config, diff_ids, marks, latest), layers)
            return engine_io.load(client, [new], there=diff_ids)[0]
    return _rewritten(client, reference, frozenset(below), marks, latest)


def _never() -> Iterator[bytes]:
    raise AssertionError("a layer that is there was to be sent")


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer as it is to be, which is made from that in a file whenever it is read.

    Attributes:
        diff_id: its digest.
        size: its bytes.
        file: the layer as the engine saved it.
        latest: as for `canonical`; none where the two are the same.
    """

    diff_id: str
    size: int
    file: Path
    latest: int | None = None

    def read(self) -> Iterator[bytes]:
        """The layer, a piece at a time."""
        pieces = _spool.pieces(self.file)
        return pieces if self.latest is None else _canon.canonical(pieces, self.latest)


def _rewritten(
    client: docker.DockerClient,
    reference: str,
    below: Container[str],
    marks: Mapping[str, str],
    latest: int,
) -> Held:
    """As `canonical`, by way of all of the image's bytes, which are kept on disk meanwhile."""
    held = engine_io.inspect(client, reference)
    if held is None:
        raise CannotStart(f"The engine no longer holds {reference}.", hint="Try again.")
    with _spool.scratch() as folder:
        saved, files = _spool.save(client, held.id, folder)
        old = saved.read.diff_ids
        new = [_layer(one, files[one], None if one in below else latest) for one in old]
        ids = [one.diff_id for one in new]
        # An engine has a layer as the one on all that lie below it.
        same = next((at for at, one in enumerate(old) if ids[at] != one), len(old))
        there = set() if engine_io.by_manifest(client) else set(ids[:same]) - set(ids[same:])
        config = _config.canonical(orjson.loads(saved.config), ids, marks, latest)
        layers = tuple(LoadedLayer(one.diff_id, one.size, one.read) for one in new)
        return engine_io.load(client, [Loading(config, layers)], there=there)[0]


def _layer(diff_id: str, file: Path, latest: int | None) -> _Layer:
    if latest is None:
        return _Layer(diff_id, file.stat().st_size, file)
    digest, size = hashlib.sha256(), 0
    for piece in _canon.canonical(_spool.pieces(file), latest):
        digest.update(piece)
        size += len(piece)
    found = f"sha256:{digest.hexdigest()}"
    return _Layer(found, size, file, None if found == diff_id else latest)
