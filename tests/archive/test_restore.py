"""Archives restored: verified before an engine is told anything, and never half there."""

import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.archive import contents, pack, plan
from runner.archive.opening import opened
from runner.archive.restore import Restored, choose, restore, verify
from runner.archive.store import Store
from runner.archive.watch import Nobody
from runner.errors import CannotStart, DamagedArchive, UsageError
from runner.oci import zstd
from runner.oci.documents import Config, Index, Manifest
from runner.oci.folder import Folder
from tests.archive._kit import BENCH, ENGINE, archived
from tests.oci._engine import Engine, running
from tests.oci._kit import image, noise, put, sha, write

NAMES = ("memory-bench/engine:0123456789ab", "memory-bench/bench:ba9876543210")


@pytest.fixture
def file(classic: Engine, report: Path, tmp_path: Path) -> Path:
    """An archive of a report of two images."""
    archived(classic, report, tmp_path / "file.bench")
    return tmp_path / "file.bench"


@pytest.fixture(params=[False, True], ids=["classic", "containerd"])
def fresh(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine that never saw the images."""
    with running(Engine(by_manifest=request.param)) as found:
        yield found


def restored(engine: Engine, path: Path, **how: object) -> tuple[Restored, ...]:
    with opened(path) as layout:
        return restore(engine.client(), layout, Nobody(), **how)  # type: ignore[arg-type]


def loads(engine: Engine) -> int:
    return engine.asked.count("POST /images/load")


# ---------------------------------------------------------------- what is restored


def test_an_engine_then_holds_just_what_was_archived(fresh: Engine, file: Path) -> None:
    done = restored(fresh, file)
    assert [(one.reference, one.config_digest, one.was_there, one.taken) for one in done] == [
        (NAMES[0], ENGINE.digest, False, None),
        (NAMES[1], BENCH.digest, False, None),
    ]
    for made, name, one in zip((ENGINE, BENCH), NAMES, done, strict=True):
        assert fresh.tags[name] == one.id == fresh.id_of(made)
        held = fresh.images[one.id]
        assert (held.config, held.layers) == (made.config, made.layers)
    assert loads(fresh) == 1


def test_what_is_there_is_not_loaded_again(fresh: Engine, file: Path) -> None:
    restored(fresh, file)
    assert all(one.was_there for one in restored(fresh, file))
    assert loads(fresh) == 1
    # One of two, and without its name.
    del fresh.images[fresh.id_of(BENCH)]
    fresh.tags.clear()
    done = restored(fresh, file)
    assert [one.was_there for one in done] == [True, False]
    assert set(fresh.tags) == set(NAMES)
    assert loads(fresh) == 2


def test_an_archive_out_of_one_kind_of_engine_goes_into_the_other(
    fresh: Engine, report: Path, tmp_path: Path, file: Path
) -> None:
    restored(fresh, file)
    archived(fresh, report, tmp_path / "again.bench")
    assert (tmp_path / "again.bench").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("only", ["bench", NAMES[1], BENCH.digest])
def test_one_image_alone(fresh: Engine, file: Path, only: str) -> None:
    (one,) = restored(fresh, file, only=only)
    assert one.config_digest == BENCH.digest
    assert set(fresh.tags) == {NAMES[1]}
    assert len(fresh.images) == 1


@pytest.mark.parametrize("only", ["particles", "memory-bench/bench:other", sha(b"")])
def test_an_image_that_is_not_in_it(fresh: Engine, file: Path, only: str) -> None:
    with pytest.raises(UsageError) as caught:
        restored(fresh, file, only=only)
    assert f"holds no image {only!r}" in caught.value.message
    assert caught.value.hint == f"It holds: {', '.join(NAMES)}."


def test_a_name_that_means_another_image_is_left_to_it(fresh: Engine, file: Path) -> None:
    mine = fresh.hold(image("engine", labels={"mine": "yes"}), NAMES[0])
    done = restored(fresh, file)
    assert fresh.tags[NAMES[0]] == mine
    other = f"{NAMES[0]}-{ENGINE.digest[7:19]}"
    assert (done[0].reference, done[0].taken) == (other, NAMES[0])
    assert fresh.tags[other] == fresh.id_of(ENGINE)
    assert restored(fresh, file)[0].reference == other
    assert (done[1].reference, done[1].taken) == (NAMES[1], None)


def test_out_of_a_folder_that_archives_share(
    fresh: Engine, classic: Engine, report: Path, tmp_path: Path
) -> None:
    planned = plan.make(classic.client(), report=report)
    pack.pack(classic.client(), planned, Store(tmp_path / "store"), Nobody(), name="one")
    assert len(restored(fresh, tmp_path / "store")) == 2
    assert set(fresh.tags) == set(NAMES)


def test_it_is_followed(fresh: Engine, file: Path) -> None:
    class Heard(Nobody):
        def __init__(self) -> None:
            self.works: list[list[object]] = []

        def begins(self, what: str, total: int | None = None) -> None:
            self.works.append([what, total, 0])

        def moved(self, count: int) -> None:
            self.works[-1][2] += count  # type: ignore[operator]

    heard = Heard()
    with opened(file) as layout:
        restore(fresh.client(), layout, heard, workers=2)
    assert [work[0] for work in heard.works] == ["verifying", "loading engine, bench"]
    for _, total, moved in heard.works:
        assert total == moved


# ---------------------------------------------------------------- what is damaged


def test_no_engine_is_told_of_a_damaged_archive(fresh: Engine, file: Path) -> None:
    data = file.read_bytes()
    chosen = random.Random(3)
    for _ in range(60):
        other = bytearray(data)
        other[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        file.write_bytes(other)
        with pytest.raises(DamagedArchive):
            restored(fresh, file)
    for cut in (0, 511, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:cut])
        with pytest.raises(DamagedArchive):
            restored(fresh, file)
    file.write_bytes(data + b"\0")
    with pytest.raises(DamagedArchive):
        restored(fresh, file)
    assert fresh.asked == []


def test_an_archive_that_changes_after_it_was_verified(fresh: Engine, file: Path) -> None:
    data = bytearray(file.read_bytes())

    class Changing(Nobody):
        def begins(self, what: str, total: int | None = None) -> None:
            if what.startswith("loading"):
                with opened(file) as layout:
                    system = next(iter(contents.read(layout).images.values()))
                    blob = layout._spans[f"blobs/sha256/{system.layers[1].hex}"]  # type: ignore[attr-defined]
                with file.open("r+b") as out:
                    out.seek(blob.offset + blob.size // 2)
                    out.write(bytes([data[blob.offset + blob.size // 2] ^ 1]))

    with opened(file) as layout, pytest.raises(DamagedArchive):
        restore(fresh.client(), layout, Changing())
    assert (fresh.images, fresh.tags) == ({}, {})


def _manifest(folder: Folder, change: Callable[[Manifest], dict[str, object]]) -> Index:
    one = put(folder, image(shared=noise(100)), NAMES[0])
    manifest = folder.manifest(one)
    changed = manifest.model_copy(update=change(manifest))
    return Index(manifests=(folder.add(changed, annotations=one.annotations),))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: {"layers": tuple(reversed(one.layers))}, "does not unpack to"),
        (lambda one: {"layers": one.layers[:1]}, "has not the layers"),
        (
            lambda one: {"layers": (one.layers[0], one.layers[0])},
            "does not unpack to",
        ),
    ],
)
def test_layers_that_are_not_the_configs(
    fresh: Engine,
    tmp_path: Path,
    change: Callable[[Manifest], dict[str, object]],
    says: str,
) -> None:
    folder = Folder(tmp_path / "layout")
    index = _manifest(folder, change)
    write(tmp_path / "file", folder, index.manifests)
    with pytest.raises(DamagedArchive, match=says):
        restored(fresh, tmp_path / "file")
    assert fresh.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "debian:trixie",
        "memory-bench/engine",
        "memory-bench/engine:",
        "docker.io/memory-bench/engine:1",
        "memory-bench/../debian:1",
        "memory-bench/engine:1\n",
        "memory-bench/Engine:1",
    ],
)
def test_names_that_are_not_the_projects_are_given_to_nothing(
    fresh: Engine, tmp_path: Path, name: str
) -> None:
    folder = Folder(tmp_path / "layout")
    write(tmp_path / "file", folder, (put(folder, image(), name),))
    with pytest.raises(DamagedArchive, match="is no name of an image of the project"):
        restored(fresh, tmp_path / "file")
    assert fresh.asked == []


def test_a_layer_that_unpacks_to_more_than_can_be_loaded(tmp_path: Path) -> None:
    # A head that tells of more than a tar's member can hold; nothing of it is unpacked.
    folder = Folder(tmp_path / "layout")
    head = struct.pack("<IBBQ", 0xFD2FB528, 0b11000100, 0, 1 << 40)
    made = image()
    blob = folder.put(head + bytes(100), "application/vnd.oci.image.layer.v1.tar+zstd")
    manifest = Manifest(config=folder.put(made.config, "x"), layers=(blob,))
    assert Config.model_validate_json(made.config).diff_ids == made.diff_ids
    with pytest.raises(DamagedArchive, match="would unpack to 1099511627776 bytes"):
        list(folder.layer(manifest.layers[0], made.diff_ids[0]))
    assert zstd.MOST < 1 << 40


# ---------------------------------------------------------------- what an engine does


@pytest.mark.parametrize(
    ("mood", "says"),
    [
        ({"refuse": "no space left on device"}, "no space left on device"),
        ({"forget": True}, "does not hold sha256:"),
        ({"swallow": 20_000}, "did not load"),
        ({"broken": True}, "driver is down"),
    ],
)
def test_an_engine_that_fails_names_nothing_and_can_be_asked_again(
    fresh: Engine, file: Path, mood: dict[str, object], says: str
) -> None:
    for key, value in mood.items():
        setattr(fresh, key, value)
    with pytest.raises(CannotStart, match=says) as caught:
        restored(fresh, file)
    assert caught.value.exit_code == 6
    assert fresh.tags == {}
    fresh.refuse, fresh.forget, fresh.swallow, fresh.broken = "", False, None, False
    assert not any(one.was_there for one in restored(fresh, file))
    assert set(fresh.tags) == set(NAMES)


def test_an_engine_that_loads_one_of_two_names_none_until_it_has_both(
    fresh: Engine, file: Path
) -> None:
    with opened(file) as layout:
        verified = verify(layout, Nobody())
        assert len(choose(verified.contents, None)) == 2
        assert set(verified.sizes) == {*ENGINE.diff_ids, *BENCH.diff_ids}
    fresh.hold(ENGINE)
    fresh.refuse = "stopped"
    with pytest.raises(CannotStart, match="stopped"):
        restored(fresh, file)
    assert fresh.tags == {}
    fresh.refuse = ""
    assert [one.was_there for one in restored(fresh, file)] == [True, False]


def test_an_archive_without_images(fresh: Engine, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "layout")
    write(tmp_path / "file", folder, ())
    with pytest.raises(UsageError, match="holds no image") as caught:
        restored(fresh, tmp_path / "file")
    assert caught.value.hint == "It holds: none."
