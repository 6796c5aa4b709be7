"""An image's layers as files, for as long as they are looked at."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

from runner import paths
from runner.oci import layout
from runner.oci.engine_io import Saved, Saving


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, on the disk of what the project remembers: layers are too
    big for where temporary files may lie.
    """
    folder = paths.state_dir() / "layers"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        yield Path(made)


def save(client: docker.DockerClient, image_id: str, folder: Path) -> tuple[Saved, dict[str, Path]]:
    """An image, and its layers in a folder, by their digests.

    Raises:
        CannotStart: the engine does not save it.
    """
    files: dict[str, Path] = {}
    with Saving(client, [image_id]) as saving:
        for number, layer in enumerate(saving.layers()):
            target = folder / str(number)
            with target.open("wb") as file:
                for piece in layer:
                    file.write(piece)
            files[layer.diff_id] = target
        (saved,) = saving.images()
    return saved, files


def pieces(file: Path) -> Iterator[bytes]:
    """What is in a file, a piece at a time."""
    with file.open("rb") as source:
        while piece := source.read(layout.CHUNK):
            yield piece
