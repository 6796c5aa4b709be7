"""One very image, by its digest, on engines of both kinds of storage: that one, or none."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest

from runner import paths
from runner.errors import BenchError, CannotStart, UsageError
from runner.images import choose, identify, see_named, take
from runner.images._files import write_atomically
from runner.images.exact import find
from runner.systems.catalog import load
from tests.oci._engine import Engine, running
from tests.oci._kit import Image, image

TAG = "memory-bench/engine:0123456789ab"


@pytest.fixture(params=[False, True], ids=["classic", "containerd"])
def engine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    monkeypatch.setenv("BENCH_STATE", str(tmp_path / "state"))
    with running(Engine(by_manifest=request.param)) as found:
        yield found


@pytest.fixture
def client(engine: Engine) -> Iterator[docker.DockerClient]:
    found = engine.client()
    yield found
    found.close()


def held(engine: Engine, made: Image, *tags: str) -> Image:
    """An image the engine holds, whose list of packages was read before."""
    image_id = engine.hold(made, *tags)
    listed = paths.state_dir() / "packages" / f"{image_id.removeprefix('sha256:')}.json"
    write_atomically(listed, b'[{"manager": "deb", "name": "libc6", "version": "2.41-12"}]')
    return made


def refused(kind: type[BenchError], *told: str, **how: Any) -> str:
    with pytest.raises(kind) as caught:
        choose(**how)
    text = str(caught.value)
    for word in told:
        assert word in text
    return text


@pytest.mark.parametrize("digits", [12, 13, 40, 64])
@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_it_is_found_by_its_digest(
    engine: Engine, client: docker.DockerClient, digits: int, prefix: str
) -> None:
    made = held(engine, image("engine"), TAG)
    held(engine, image("engine", shared=b"other"))
    found = choose(prefix + made.digest[7 : 7 + digits], "engine", client=client)
    assert found.identity.config_digest == made.digest
    assert found.identity.layers == made.diff_ids
    assert found.identity.platform == "linux/amd64"
    assert found.identity.name == TAG
    assert [package.name for package in found.identity.packages] == ["libc6"]
    assert found.id == engine.id_of(made)
    assert (found.id == made.digest) is not engine.by_manifest


def test_without_a_name_it_is_called_by_its_digest(
    engine: Engine, client: docker.DockerClient
) -> None:
    made = held(engine, image("engine"), "somebody/elses:latest")
    found = choose(made.digest, "engine", client=client)
    assert found.identity.name == f"memory-bench/engine:{made.digest[7:19]}"


@pytest.mark.parametrize("text", ["", "0123456789a", "engine", TAG, "sha256:", "A" * 12, "0" * 65])
def test_what_is_no_digest_is_refused(client: docker.DockerClient, text: str) -> None:
    told = refused(UsageError, "is no digest", text=text, image="engine", client=client)
    assert "A name may come to mean another image" in told


def test_what_is_not_held_says_how_to_get_it(engine: Engine, client: docker.DockerClient) -> None:
    held(engine, image("engine"), TAG)
    for text in ("0" * 12, "0" * 64):
        refused(
            CannotStart, f"holds no image {text}", "bench images restore FILE", "built",
            text=text, image="engine", client=client,
        )  # fmt: skip


def test_several_that_begin_so_are_refused(
    engine: Engine, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [held(engine, image("engine", shared=bytes([n]))) for n in range(2)]
    begins = {one.digest: f"sha256:{'a' * 20}{n}{'0' * 43}" for n, one in enumerate(made)}
    by_id = {engine.id_of(one): begins[one.digest] for one in made}
    monkeypatch.setattr("runner.images.exact.config_digest", lambda _, one: by_id[one])
    told = refused(UsageError, "2 images begin with", text="a" * 12, image="engine", client=client)
    assert all(digest in told for digest in begins.values())
    found = choose("a" * 20 + "1", "engine", client=client)
    assert found.id == engine.id_of(made[1])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("particles", "is an image of particles, not the image of engine"),
        ("bench", "is the bench itself, which gateways run from"),
        ("base", "is base, which systems stand on and which is none"),
        ("minilm", "is minilm, which systems stand on"),
        ("unheard-of", "is an image of unheard-of"),
    ],
)
def test_another_image_of_the_project_is_refused(
    engine: Engine, client: docker.DockerClient, name: str, told: str
) -> None:
    made = held(engine, image(name), f"memory-bench/{name}:0123456789ab")
    refused(UsageError, told, text=made.digest[:30], image="engine", client=client)


def test_a_strangers_image_is_refused(engine: Engine, client: docker.DockerClient) -> None:
    made = replace(image("engine"), labels={"memory-bench.other": "x"})
    engine.hold(made, TAG)
    # An engine that hides digests is asked for those of the project's images alone.
    kind: type[BenchError] = CannotStart if engine.by_manifest else UsageError
    refused(kind, "of the project", text=made.digest, image="engine", client=client)


def test_another_platform_is_refused(engine: Engine, client: docker.DockerClient) -> None:
    made = held(engine, replace(image("engine"), architecture="arm64"), TAG)
    told = "is for linux/arm64, and this engine runs linux/amd64"
    refused(CannotStart, told, text=made.digest, image="engine", client=client)
    with pytest.raises(CannotStart, match=told):
        take(identify(client, TAG), client=client)


def test_the_labels_decide_on_version_and_model(
    engine: Engine, client: docker.DockerClient
) -> None:
    particles = load("particles")
    other = particles.versions[0]
    marks = {"memory-bench.version": other}
    made = held(engine, image("particles", labels=marks))
    asked: dict[str, Any] = {"text": made.digest, "image": "particles", "client": client}
    assert choose(**asked).version == other
    assert choose(**asked, version=other).version == other
    refused(
        UsageError, f"with the version {other}", f"{particles.version} was asked for",
        **asked, version=particles.version,
    )  # fmt: skip
    old = held(engine, image("particles"))
    refused(
        UsageError, "does not say which version",
        text=old.digest, image="particles", client=client,
    )  # fmt: skip

    marks = {"memory-bench.version": "0.24.1", "memory-bench.model": "e5"}
    made = held(engine, image("basic-memory", labels=marks))
    asked = {"text": made.digest, "image": "basic-memory", "client": client}
    assert choose(**asked, model="e5").id == engine.id_of(made)
    refused(UsageError, "with the model e5", "minilm was asked for", **asked, model="minilm")


def test_what_a_report_names_is_taken_or_not(engine: Engine, client: docker.DockerClient) -> None:
    made = held(engine, image("engine"), TAG)
    wanted = identify(client, TAG)
    assert wanted.config_digest == made.digest
    found = take(wanted, client=client)
    assert found.identity == wanted
    assert found.id == engine.id_of(made)
    gone = wanted.model_copy(update={"config_digest": f"sha256:{'0' * 64}"})
    with pytest.raises(CannotStart, match="does not hold memory-bench/engine:0123456789ab"):
        take(gone, client=client)
    layers = wanted.model_copy(update={"layers": wanted.layers[1:]})
    with pytest.raises(CannotStart, match=r"with other layers|does not hold"):
        take(layers, client=client)
    arm = wanted.model_copy(update={"platform": "linux/arm64"})
    with pytest.raises(CannotStart, match="is for linux/amd64, not for linux/arm64"):
        take(arm, client=client)


def test_a_name_that_moved_meanwhile_is_noticed(
    engine: Engine, client: docker.DockerClient
) -> None:
    made = held(engine, image("engine"), TAG)
    planned = identify(client, TAG)
    assert see_named(planned, client=client) == engine.id_of(made)
    other = held(engine, image("engine", shared=b"other"), TAG)
    with pytest.raises(CannotStart) as caught:
        see_named(planned, client=client)
    told = str(caught.value)
    assert f"was {engine.id_of(made)[7:19]} when runs were planned" in told
    assert f"means {engine.id_of(other)[7:19]} now" in told
    assert f"--image {made.digest[7:19]}" in told
    del engine.tags[TAG]
    with pytest.raises(CannotStart, match="means nothing now"):
        see_named(planned, client=client)
    del engine.images[engine.id_of(made)]
    with pytest.raises(CannotStart, match="was removed while runs were made ready"):
        see_named(planned, client=client)


def test_what_a_manifest_hides_is_asked_once(client: docker.DockerClient, engine: Engine) -> None:
    made = held(engine, image("engine"), TAG)
    for _ in range(3):
        assert find(client, made.digest, made.diff_ids) is not None
        assert identify(client, TAG).config_digest == made.digest
    saves = sum(one.endswith("/images/get") for one in engine.asked)
    assert saves == (1 if engine.by_manifest else 0)
