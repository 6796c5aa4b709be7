"""Images out of engines and into them, of both kinds of storage, and what engines may do wrong."""

import io
import tarfile
from collections.abc import Iterator
from dataclasses import replace

import pytest

from runner.errors import BenchError, CannotStart, DamagedArchive
from runner.oci import engine_io
from runner.oci._saved import Reader
from runner.oci.engine_io import LoadedLayer, Loading, Saved, Saving
from tests.oci._engine import Engine, running
from tests.oci._kit import Image, image, layer, noise, sha

KINDS = [
    pytest.param({}, id="classic"),
    pytest.param({"by_manifest": True}, id="containerd"),
    pytest.param({"by_manifest": True, "compressed": True}, id="containerd-built"),
]
SHARED = noise(70_000)


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with running(Engine(**request.param)) as found:
        yield found


@pytest.fixture
def classic() -> Iterator[Engine]:
    with running(Engine()) as found:
        yield found


def save(engine: Engine, *ids: str) -> tuple[dict[str, bytes], tuple[Saved, ...]]:
    with Saving(engine.client(), ids) as saving:
        layers = {}
        for one in saving.layers():
            data = b"".join(one)
            layers[one.diff_id] = data
            assert one.size in (None, len(data))
        return layers, saving.images()


def loading(made: Image) -> Loading:
    def given(raw: bytes) -> LoadedLayer:
        return LoadedLayer(sha(raw), len(raw), lambda: iter([raw[:700], raw[700:]]))

    return Loading(made.config, tuple(map(given, made.layers)))


# ---------------------------------------------------------------- out


def test_images_come_out_with_each_layer_once_and_their_configs_as_they_are(
    engine: Engine,
) -> None:
    one, two = image("one", shared=SHARED), image("two", shared=SHARED)
    layers, images = save(engine, engine.hold(one), engine.hold(two))
    assert layers == {sha(raw): raw for made in (one, two) for raw in made.layers}
    assert {found.digest: found.config for found in images} == {
        one.digest: one.config,
        two.digest: two.config,
    }


def test_a_layer_that_an_image_has_twice(engine: Engine) -> None:
    raw = layer(("name", b"words"))
    made = Image((raw, layer(("other", b"")), raw, bytes(1024)))
    layers, (found,) = save(engine, engine.hold(made))
    assert set(layers) == set(made.diff_ids)
    assert found.read.diff_ids == made.diff_ids


def test_layers_that_nobody_reads_are_digested_all_the_same(engine: Engine) -> None:
    made = image(shared=SHARED)
    with Saving(engine.client(), [engine.hold(made)]) as saving:
        for one in saving.layers():
            next(iter(one))
        (found,) = saving.images()
    assert found.digest == made.digest
    with Saving(engine.client(), [engine.hold(made)]) as saving:
        assert [one.diff_id for one in saving.layers()] != []
        assert saving.images()[0].digest == made.digest


def test_names_tell_what_a_layer_is_where_they_are_digests(engine: Engine) -> None:
    made = image()
    with Saving(engine.client(), [engine.hold(made)]) as saving:
        (named,) = [one.named for one in saving.layers()]
    plain = engine.by_manifest and not engine.compressed
    assert named == (made.diff_ids[0] if plain else None)


def test_an_image_that_is_not_there(engine: Engine) -> None:
    with pytest.raises(CannotStart, match="No such image"):
        Saving(engine.client(), ["sha256:" + "0" * 64])


@pytest.mark.parametrize("after", [0, 1000, 30_000, 71_000])
def test_an_engine_that_hangs_up(engine: Engine, after: int) -> None:
    engine.break_off = after
    with pytest.raises(CannotStart, match="did not save its images whole"):
        save(engine, engine.hold(image(shared=SHARED)))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b'{"error": "no space left on device"}' * 20,
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"manifest.json", b"Manifest.json"),
        lambda data: data.replace(b'"Config"', b'"config"'),
        lambda data: data.replace(b'[{"Config"', b'{[{"Confi'),
        lambda data: data.replace(b"opt/noise", b"opt/NOISE"),
        lambda data: data.replace(b'"Layers": [', b'"Layers": ["x", '),
    ],
)
def test_an_engine_that_saves_something_else(classic: Engine, spoil: object) -> None:
    classic.spoil = spoil  # type: ignore[assignment]
    with pytest.raises(CannotStart, match="did not save its images whole"):
        save(classic, classic.hold(image(shared=SHARED)))


def test_an_engine_that_saves_a_config_of_another_form(classic: Engine) -> None:
    classic.spoil = lambda data: data.replace(b'"layers"', b'"lairs_"')
    with pytest.raises((CannotStart, DamagedArchive)):
        save(classic, classic.hold(image()))


def test_hard_links_are_followed_too() -> None:
    made = image()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in (
            ("a/layer.tar", made.layers[0]),
            ("c.json", made.config),
            ("manifest.json", b'[{"Config":"c.json","Layers":["b/layer.tar"]}]'),
        ):
            told = tarfile.TarInfo(name)
            told.size = len(data)
            tar.addfile(told, io.BytesIO(data))
        link = tarfile.TarInfo("b/layer.tar")
        link.type, link.linkname = tarfile.LNKTYPE, "a/layer.tar"
        tar.addfile(link)
    reader = Reader(io.BytesIO(out.getvalue()))
    assert [one.diff_id for one in reader.layers()] == list(made.diff_ids)
    assert list(reader.images()) == [(made.config, made.diff_ids)]


# ---------------------------------------------------------------- found


def test_an_image_is_found_by_its_config_whatever_the_engine_calls_it(engine: Engine) -> None:
    one, two = image("one"), image("two")
    client = engine.client()
    assert engine_io.find(client, one.digest, one.diff_ids) is None
    held = engine.hold(one, "memory-bench/one:1")
    engine.hold(two)
    for layers in (one.diff_ids, None):
        found = engine_io.find(client, one.digest, layers)
        assert found is not None
        assert (found.id, found.tags, found.diff_ids, found.platform) == (
            held,
            ("memory-bench/one:1",),
            one.diff_ids,
            "linux/amd64",
        )
        assert found.labels["memory-bench.name"] == "one"
    assert engine_io.by_manifest(client) == engine.by_manifest
    assert engine_io.config_of(client, held).config == one.config


def test_an_image_of_the_same_layers_is_not_the_same(engine: Engine) -> None:
    made = image()
    other = replace(made, labels={"memory-bench.name": "one", "other": "label"})
    engine.hold(other)
    assert engine_io.find(engine.client(), made.digest, made.diff_ids) is None


def test_an_engine_whose_storage_is_damaged(classic: Engine) -> None:
    made = image()
    classic.hold(made)
    with pytest.raises(CannotStart, match="with other layers"):
        engine_io.find(classic.client(), made.digest, [sha(b"")])


def test_an_engine_that_says_nothing_of_what_it_holds(engine: Engine) -> None:
    made = image()
    client = engine.client()
    engine.broken = True
    for ask in (
        lambda: engine_io.find(client, made.digest),
        lambda: engine_io.by_manifest(client),
        lambda: engine_io.inspect(client, "memory-bench/one:1"),
    ):
        with pytest.raises(CannotStart, match="driver is down"):
            ask()


# ---------------------------------------------------------------- in


def test_images_go_in_without_names_and_are_named_then(engine: Engine) -> None:
    one, two = image("one", shared=SHARED), image("two", shared=SHARED)
    client = engine.client()
    moved: list[int] = []
    held = engine_io.load(client, [loading(one), loading(two)], moved.append)
    assert engine.tags == {}
    assert sum(moved) == len(one.layers[0]) + len(one.layers[1]) + len(two.layers[1])
    assert [found.id for found in held] == [engine.id_of(one), engine.id_of(two)]
    assert [engine.images[found.id].config for found in held] == [one.config, two.config]
    engine_io.tag(client, held[1], "memory-bench/two:2")
    assert engine.tags == {"memory-bench/two:2": engine.id_of(two)}


def test_what_goes_in_comes_out_again(engine: Engine) -> None:
    made = image("one", shared=SHARED)
    engine_io.load(engine.client(), [loading(made)])
    layers, (found,) = save(engine, engine.id_of(made))
    assert found.config == made.config
    assert layers == {sha(raw): raw for raw in made.layers}


def test_an_engine_that_does_not_load(engine: Engine) -> None:
    engine.refuse = "no space left on device"
    with pytest.raises(CannotStart, match="no space left on device"):
        engine_io.load(engine.client(), [loading(image())])
    engine.refuse, engine.forget = "", True
    with pytest.raises(CannotStart, match="does not hold sha256:"):
        engine_io.load(engine.client(), [loading(image())])
    engine.forget, engine.swallow = False, 10_000
    with pytest.raises(CannotStart, match="did not load"):
        engine_io.load(engine.client(), [loading(image(shared=noise(3 << 20)))])
    assert engine.images == {}


def test_a_layer_that_is_damaged_on_its_way_is_never_loaded(engine: Engine) -> None:
    made = image(shared=SHARED)

    def broken() -> Iterator[bytes]:
        yield made.layers[0][:1000]
        raise DamagedArchive("The blob is damaged.")

    given = loading(made)
    layers = (replace(given.layers[0], read=broken), given.layers[1])
    with pytest.raises(DamagedArchive, match="The blob is damaged"):
        engine_io.load(engine.client(), [replace(given, layers=layers)])
    for wrong in (lambda: iter([b"x"]), lambda: iter([bytes(1 << 20)])):
        layers = (replace(given.layers[0], read=wrong), given.layers[1])
        with pytest.raises(CannotStart, match="is not of"):
            engine_io.load(engine.client(), [replace(given, layers=layers)])
    assert engine.images == {}


def test_naming_what_is_not_there(engine: Engine) -> None:
    made = image()
    engine.hold(made)
    held = engine_io.inspect(engine.client(), engine.id_of(made))
    assert held is not None
    engine.images.clear()
    with pytest.raises(BenchError, match="memory-bench/one:1"):
        engine_io.tag(engine.client(), held, "memory-bench/one:1")
