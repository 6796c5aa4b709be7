"""The very files that the published runs were made on, out of an image of linkedparticles.

The notes and the sets of claim pairs lie inside the package that the image has installed; its
build puts them at one place. They are the publisher's, so no copy is kept here: only their
digests (``fixtures/published/upstream.sha256``), which each is held to every time it is read.
"""

import hashlib
from collections.abc import Mapping

import docker
import docker.errors

from runner import engine_api, paths
from runner.errors import CannotStart
from runner.images.exact import find
from runner.images.identity import read_files

PLACE = "/opt/particles/upstream"
"""Where the image has them."""
_HINT = "Build the image anew: python -m runner.images particles."


def digests() -> Mapping[str, str]:
    """The sha256 of each file, by its name."""
    listed = (paths.fixtures() / "published" / "upstream.sha256").read_text(encoding="utf-8")
    rows = (line.split() for line in listed.splitlines())
    return {name: digest for digest, name in rows}


def files(image_id: str, client: docker.DockerClient | None = None) -> Mapping[str, bytes]:
    """Every file of the published runs, by its name, such as ``reader-01.md``.

    Nothing of the image is run.

    Args:
        image_id: the image, by the digest of its config, by tag or as the engine calls it.
        client: the engine, where one is connected already.

    Raises:
        CannotStart: there is no such image, or a file is not in it or not as it was published.
    """
    engine = client or engine_api.connect()
    try:
        held = find(engine, image_id) if image_id.startswith("sha256:") else None
        found = read_files(engine, held.id if held is not None else image_id, PLACE)
    except docker.errors.NotFound as error:
        raise CannotStart(
            f"Image {image_id} does not hold the files of the published runs.", hint=_HINT
        ) from error
    finally:
        if client is None:
            engine.close()
    return checked(found)


def checked(found: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Those of the files that are the published runs', all of them, each as it was.

    Raises:
        CannotStart: one is not there, or not as it was published.
    """
    wanted = digests()
    for name, digest in wanted.items():
        if name not in found:
            raise CannotStart(f"The file {name} of the published runs is missing.", hint=_HINT)
        seen = hashlib.sha256(found[name]).hexdigest()
        if seen != digest:
            raise CannotStart(
                f"The file {name} is not the published runs': its sha256 is {seen}.", hint=_HINT
            )
    return {name: found[name] for name in wanted}
