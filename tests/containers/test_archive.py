"""Archiving and restoring on a real engine, with images that are nobody else's."""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import docker.errors
import pytest

from runner import engine_api, images
from runner.archive import contents
from runner.errors import CannotStart
from runner.model import ImageIdentity
from runner.oci import engine_io
from runner.oci.engine_io import LoadedLayer, Loading
from runner.oci.folder import Folder
from runner.oci.packed import Packed
from tests.oci._kit import Image, image, layer, noise, put, sha, write

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    found = engine_api.connect()
    yield found
    found.close()


@pytest.fixture
def name(client: docker.DockerClient) -> Iterator[str]:
    """A name that nobody else's image has; whatever has it in the end is removed."""
    own = f"archived-{uuid.uuid4().hex[:12]}"
    yield own
    for one in client.api.images(filters={"label": f"memory-bench.name={own}"}):
        client.api.remove_image(one["Id"], force=True)


def bench(folder: Path, *args: str | Path) -> "subprocess.Popen[str]":
    """``bench images`` in a process of its own."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from runner.commands import main; main()",
            "images",
            *map(str, args),
        ],
        cwd=ROOT,
        env={**os.environ, "BENCH_STATE": str(folder / "state")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(folder: Path, *args: str | Path) -> str:
    with bench(folder, *args) as running:
        out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return out


def imported(client: docker.DockerClient, name: str) -> str:
    """An image from scratch, whose config the engine writes; its reference."""
    files = (("usr/share/memory-bench/packages.json", b"[]"), ("opt/words", b"words" * 9000))
    client.api.import_image_from_data(
        layer(*files),
        repository=f"memory-bench/{name}",
        tag="0123456789ab",
        changes=[f"LABEL memory-bench.name={name}", 'HEALTHCHECK CMD ["true"]'],
    )
    return f"memory-bench/{name}:0123456789ab"


def loaded(client: docker.DockerClient, made: Image) -> engine_io.Held:
    def given(raw: bytes) -> LoadedLayer:
        return LoadedLayer(sha(raw), len(raw), lambda: iter([raw]))

    (held,) = engine_io.load(client, [Loading(made.config, tuple(map(given, made.layers)))])
    return held


def test_an_image_comes_back_as_it_was(
    client: docker.DockerClient, name: str, tmp_path: Path
) -> None:
    reference = imported(client, name)
    before = engine_io.inspect(client, reference)
    assert before is not None
    saved = engine_io.config_of(client, before.id)
    out = tmp_path / "file.bench"
    assert done(tmp_path, "archive", reference, "-o", out) == f"{out}\n"
    with Packed(out) as layout:
        layout.check()
        (there,) = contents.read(layout).images.values()
        assert (there.reference, there.raw) == (reference, saved.config)
    client.api.remove_image(reference)
    assert engine_io.find(client, saved.digest, before.diff_ids) is None
    assert done(tmp_path, "restore", out) == f"{reference}\n"
    after = engine_io.find(client, saved.digest, before.diff_ids)
    assert after is not None
    assert (after.id, after.tags, after.labels) == (before.id, (reference,), before.labels)
    assert engine_io.config_of(client, after.id).config == saved.config
    assert json.loads(saved.config)["config"]["Healthcheck"] == {"Test": ["CMD", "true"]}
    # Restored once more, nothing changes.
    assert done(tmp_path, "restore", out) == f"{reference}\n"
    done(tmp_path, "archive", reference, "-o", tmp_path / "again.bench")
    assert (tmp_path / "again.bench").read_bytes() == out.read_bytes()


def test_a_config_of_anybodys_writing_is_kept_byte_for_byte(
    client: docker.DockerClient, name: str, tmp_path: Path
) -> None:
    made = image(name, shared=noise(30_000))
    held = loaded(client, made)
    reference = f"memory-bench/{name}:0123456789ab"
    engine_io.tag(client, held, reference)
    folder = Folder(tmp_path / "layout")
    write(tmp_path / "file", folder, (put(folder, made, reference),))
    client.api.remove_image(reference)
    done(tmp_path, "restore", tmp_path / "file")
    found = engine_io.find(client, made.digest, made.diff_ids)
    assert found is not None
    assert engine_io.config_of(client, found.id).config == made.config


def test_an_engine_takes_no_layers_that_are_not_the_configs(
    client: docker.DockerClient, name: str
) -> None:
    made = image(name, shared=noise(30_000))
    other = layer(("other", b"words"))
    wrong = LoadedLayer(made.diff_ids[0], len(other), lambda: iter([other]))
    right = LoadedLayer(made.diff_ids[1], len(made.layers[1]), lambda: iter([made.layers[1]]))
    with pytest.raises(CannotStart, match="did not load"):
        engine_io.load(client, [Loading(made.config, (wrong, right))])
    assert engine_io.find(client, made.digest, made.diff_ids) is None


@pytest.mark.slow
def test_a_restore_that_is_killed_leaves_nothing_named_that_is_not_whole(
    client: docker.DockerClient, name: str, tmp_path: Path
) -> None:
    made = image(name, shared=noise(24 << 20, 9))
    reference = f"memory-bench/{name}:0123456789ab"
    folder = Folder(tmp_path / "layout")
    write(tmp_path / "file", folder, (put(folder, made, reference),))
    for after in (0.0, 0.1, 0.3):
        with bench(tmp_path, "restore", tmp_path / "file") as running:
            assert running.stderr is not None
            for line in running.stderr:
                if line.startswith("loading"):
                    break
            time.sleep(after)
            running.kill()
        named = engine_io.inspect(client, reference)
        if named is not None:
            whole = engine_io.find(client, made.digest, made.diff_ids)
            assert whole is not None
            assert named.id == whole.id
    assert done(tmp_path, "restore", tmp_path / "file") == f"{reference}\n"
    named = engine_io.inspect(client, reference)
    whole = engine_io.find(client, made.digest, made.diff_ids)
    assert named is not None
    assert whole is not None
    assert named.id == whole.id
    assert engine_io.config_of(client, named.id).config == made.config


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[ImageIdentity, Path]:
    """The project's base image, and an archive of it."""
    found = images.ensure("base")
    folder = tmp_path_factory.mktemp("base")
    done(folder, "archive", "base", "-o", folder / "base.bench", "--level", "1")
    return found, folder / "base.bench"


def test_the_projects_own_base(
    client: docker.DockerClient, base: tuple[ImageIdentity, Path], tmp_path: Path
) -> None:
    found, out = base
    with Packed(out) as layout:
        layout.check()
        (there,) = contents.read(layout).images.values()
    assert (there.reference, there.diff_ids) == (found.name, found.layers)
    held = engine_io.find(client, there.config.digest, there.diff_ids)
    assert held is not None
    assert found.name in held.tags
    assert done(tmp_path, "restore", out) == f"{found.name}\n"


@pytest.mark.skipif(shutil.which("skopeo") is None, reason="skopeo is not installed")
def test_skopeo_reads_it(base: tuple[ImageIdentity, Path], tmp_path: Path) -> None:
    found, out = base
    source = f"oci-archive:{out}:{found.name}"

    def skopeo(*args: str) -> bytes:
        return subprocess.run(
            ["skopeo", *args], stdout=subprocess.PIPE, check=True, timeout=120
        ).stdout

    assert json.loads(skopeo("inspect", source))["Labels"]["memory-bench.name"] == "base"
    skopeo("copy", source, f"dir:{tmp_path / 'copy'}")
    with Packed(out) as layout:
        (there,) = contents.read(layout).images.values()
    assert (tmp_path / "copy" / there.config.hex).read_bytes() == there.raw
    assert all((tmp_path / "copy" / blob.hex).stat().st_size == blob.size for blob in there.layers)
