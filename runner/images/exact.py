"""One very image, named by the digest of its config: that one or none, whatever tags say."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import docker

from runner import engine_api
from runner.errors import CannotStart, UsageError
from runner.images import _folder, labels
from runner.images._folder import BENCH
from runner.images.identity import config_digest, identify
from runner.images.listing import built
from runner.model import ImageIdentity
from runner.oci import engine_io
from runner.oci.engine_io import Held

LEAST = 12
"""Digits that name an image at least."""
_HEX = 64
_NAMED = re.compile(rf"(?:sha256:)?([0-9a-f]{{{LEAST},{_HEX}}})")
_BUILT = re.compile(r"memory-bench/[a-z0-9][a-z0-9._-]*:[0-9a-f]{12}(?:-[0-9a-f]{12})?")
_GET = (
    "`bench images restore FILE` brings it back out of an archive; without --image the one of the"
    " files as they are is taken, and built where it is missing."
)


@dataclass(frozen=True, slots=True)
class Exact:
    """An image that an engine holds.

    Attributes:
        identity: what it is, everywhere.
        id: what this engine calls it; containers are started from that.
        version: of what is in it, as it says itself; none where it says none.
    """

    identity: ImageIdentity
    id: str
    version: str | None


def choose(
    text: str,
    image: str,
    *,
    version: str | None = None,
    model: str | None = None,
    client: docker.DockerClient | None = None,
) -> Exact:
    """The image of a system that somebody named by its digest.

    Args:
        text: the digest, or how it begins.
        image: the name of the image that the system runs from.
        version: the one that was asked for; none for whichever it holds.
        model: what has to be baked into it; none where nothing is to choose.
        client: the engine, where one is connected already.

    Raises:
        UsageError: it is no digest, or means several images; the image is another system's or
            none of one, of another version or with another model.
        CannotStart: no engine holds it, or it is of another platform.
    """
    begins = _digits(text)
    with _connected(client) as engine:
        digest, held = _one(engine, begins)
        short = f"{digest[7 : 7 + LEAST]}"
        name = held.labels.get(labels.NAME)
        if name is None:
            raise UsageError(f"{short} is not an image of the project.", hint=_GET)
        if name != image:
            what = _is(name)
            raise UsageError(
                f"{short} is {what}, not the image of {image}.",
                hint=f"`bench images list --all` lists those of {image}.",
            )
        _see_platform(engine, short, held.platform)
        _see_label(short, "version", held.labels.get(labels.VERSION), version, image)
        _see_label(short, "model", held.labels.get(labels.MODEL), model, image)
        return _exact(engine, digest, held)


def take(wanted: ImageIdentity, *, client: docker.DockerClient | None = None) -> Exact:
    """An image that a report or a plan names, as the engine holds it now.

    Raises:
        CannotStart: it does not hold it, or what it holds is not that: other layers, another
            platform.
    """
    with _connected(client) as engine:
        held = find(engine, wanted.config_digest, wanted.layers)
        if held is None:
            raise CannotStart(
                f"The engine does not hold {wanted.name} ({wanted.config_digest}).", hint=_GET
            )
        if held.platform != wanted.platform:
            raise CannotStart(
                f"{wanted.config_digest} is for {held.platform}, not for {wanted.platform}."
            )
        _see_platform(engine, wanted.name, held.platform)
        return _exact(engine, wanted.config_digest, held)


def see_named(found: ImageIdentity, *, client: docker.DockerClient | None = None) -> str:
    """See, just before something is started from an image, that its name still means it.

    Returns:
        What the engine calls the image.

    Raises:
        CannotStart: the engine lost it, or its name means another image by now.
    """
    with _connected(client) as engine:
        held = find(engine, found.config_digest, found.layers)
        if held is None:
            raise CannotStart(
                f"The image {found.name} ({found.config_digest[7:19]}) was removed while runs were"
                " made ready.",
                hint="Nothing was started. Run this again; what is missing is built.",
            )
        named = engine_io.inspect(engine, found.name)
        if named is None or named.id != held.id:
            means = "nothing" if named is None else named.id[7:19]
            raise CannotStart(
                f"{found.name} was {held.id[7:19]} when runs were planned, and means {means} now.",
                hint="Nothing was started: something else gives this engine's images their names."
                f" Run this again, or name the image with --image {found.config_digest[7:19]}.",
            )
        return held.id


def find(
    client: docker.DockerClient, digest: str, diff_ids: tuple[str, ...] | None = None
) -> Held | None:
    """The image of that config, whatever the engine calls it; none where it holds none.

    Raises:
        CannotStart: the engine says of that very image that it has other layers.
    """
    if not engine_io.by_manifest(client):
        return engine_io.find(client, digest, diff_ids)
    for one in built(client):
        held = engine_io.inspect(client, one.id)
        if held is None or (diff_ids is not None and held.diff_ids != diff_ids):
            continue
        if config_digest(client, held.id) == digest:
            return held
    return None


def _digits(text: str) -> str:
    """The digits of a digest, or of how it begins.

    Raises:
        UsageError: it is none.
    """
    found = _NAMED.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--image {text!r} is no digest of an image.",
            hint=f"Give sha256: and {_HEX} digits, or {LEAST} or more of them, as a report and"
            " `bench images list` have them. A name may come to mean another image.",
        )
    return found[1]


def _one(client: docker.DockerClient, begins: str) -> tuple[str, Held]:
    """The one image whose digest begins so.

    Raises:
        CannotStart: there is none.
        UsageError: there are several.
    """
    found: dict[str, Held] = {}
    if len(begins) == _HEX and (held := find(client, f"sha256:{begins}")) is not None:
        found[f"sha256:{begins}"] = held
    elif len(begins) < _HEX:
        for one in built(client):
            digest = config_digest(client, one.id)
            held = engine_io.inspect(client, one.id)
            if digest.startswith(f"sha256:{begins}") and held is not None:
                found[digest] = held
    if not found:
        raise CannotStart(f"The engine holds no image {begins} of the project.", hint=_GET)
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} images begin with {begins}.",
            hint=f"Give more digits: {', '.join(sorted(found))}.",
        )
    return found.popitem()


def _is(name: str) -> str:
    if name == BENCH:
        return "the bench itself, which gateways run from"
    if name in _folder.names() and not (_folder.place(name) / "system.toml").is_file():
        return f"{name}, which systems stand on and which is none"
    return f"an image of {name}"


def _see_platform(client: docker.DockerClient, what: str, platform: str) -> None:
    engine = client.api.version()
    own = f"{engine['Os']}/{engine['Arch']}"
    if platform.split("/")[:2] != own.split("/")[:2]:
        raise CannotStart(
            f"{what} is for {platform}, and this engine runs {own}.",
            hint="Run it on an engine of that platform: what another one would make of it is"
            " another result.",
        )


def _see_label(short: str, what: str, said: str | None, asked: str | None, image: str) -> None:
    """See that an image holds what was asked for, by what it says itself.

    Raises:
        UsageError: it does not, or does not say.
    """
    choices = _folder.versions(image) if what == "version" else _folder.models(image)
    if said is None and (asked is not None or choices):
        raise UsageError(
            f"{short} does not say which {what} of {image} it holds.",
            hint="It was built before images said so. Build it anew.",
        )
    if asked is not None and said != asked:
        raise UsageError(
            f"{short} holds {image} with the {what} {said}, and {asked} was asked for.",
            hint=f"The image decides. Name one of the {what} {asked}, or ask for {said}.",
        )


def _exact(client: docker.DockerClient, digest: str, held: Held) -> Exact:
    known = identify(client, held.id)
    name = next((tag for tag in sorted(held.tags) if _BUILT.fullmatch(tag)), None)
    if name is None:
        name = f"memory-bench/{held.labels.get(labels.NAME)}:{digest[7 : 7 + LEAST]}"
    identity = known.model_copy(update={"name": name, "config_digest": digest})
    return Exact(identity, held.id, held.labels.get(labels.VERSION))


@contextmanager
def _connected(client: docker.DockerClient | None) -> Iterator[docker.DockerClient]:
    if client is not None:
        yield client
        return
    engine = engine_api.connect()
    try:
        yield engine
    finally:
        engine.close()
