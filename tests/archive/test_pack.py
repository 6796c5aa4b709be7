"""Archives written: what is in them, that they are the same each time, and what can go wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runner import images, paths
from runner.archive import contents, media, pack, plan, sbom
from runner.archive.opening import opened
from runner.archive.store import Store, temporary
from runner.archive.watch import Nobody
from runner.errors import AlteredReport, CannotStart, DamagedArchive, UsageError
from runner.oci.packed import Packed
from tests.archive._kit import (
    BENCH,
    ENGINE,
    IDENTITIES,
    PACKAGES,
    archived,
    blank_report,
    hold_both,
    packed,
    save,
    with_snapshots,
)
from tests.archive.test_out import at_most
from tests.oci._engine import Engine, running
from tests.oci._kit import image, noise

RESTRICTED = {"redistributable": False, "restriction": "its licence forbids it"}


class Heard(Nobody):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bytes = 0

    def line(self, text: str) -> None:
        self.lines.append(text)

    def moved(self, count: int) -> None:
        self.bytes += count


def test_an_archive_of_a_report_holds_all_that_belongs_to_it(
    engine: Engine, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    report = save(with_snapshots(blank_report(), kept), tmp_path / "report.json")
    out = tmp_path / "file.bench"
    index = archived(engine, report, out, kept=kept)
    with Packed(out) as layout:
        layout.check()
        assert layout.index == index
        found = contents.read(layout)
        assert list(found.images) == [ENGINE.digest, BENCH.digest]
        for made, there in zip((ENGINE, BENCH), found.images.values(), strict=True):
            assert there.raw == made.config
            assert there.diff_ids == made.diff_ids
            for blob, raw, diff_id in zip(there.layers, made.layers, made.diff_ids, strict=True):
                assert b"".join(layout.layer(blob, diff_id)) == raw
        system, bench = found.images.values()
        # The layer that both have lies there once.
        assert system.layers[0] == bench.layers[0]
        on_system = {
            kind: [one.title for one in found.on(system, kind)] for kind in media.OF_A_REPORT
        }
        assert on_system == {
            media.REPORT: ["report.json"],
            media.SNAPSHOT: [one.title for one in found.of(media.SNAPSHOT)],
            media.CASSETTE: [],
            media.SEALED: [],
            media.INPUTS: [
                "cases/reader.toml",
                "notes/reader-01.md",
                "notes/reader-02-moved.md",
                "scripted/engine/reader.toml",
            ],
        }
        assert len(on_system[media.SNAPSHOT]) == 3
        told = found.one(media.REPORT)
        assert told is not None
        assert layout.get(told.blob) == report.read_bytes()
        assert told.blob.media_type == media.JSON
        for one in found.of(media.INPUTS):
            assert one.blob.note(media.FIXTURE) == one.title
        for there in found.images.values():
            (bill,) = found.on(there, media.SBOM)
            assert bill.title == sbom.TITLE
            read = json.loads(layout.get(bill.blob))
            assert [part["name"] for part in read["components"]] == [PACKAGES[0].name]
            assert read["metadata"]["component"]["version"] == there.config.digest


def test_the_same_archive_is_the_same_file(engine: Engine, report: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        archived(engine, report, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with running(Engine(by_manifest=not engine.by_manifest, compressed=True)) as other:
        hold_both(other)
        archived(other, report, tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    planned = plan.make(engine.client(), report=report)
    with temporary(tmp_path / "d") as store:
        index = pack.pack(engine.client(), planned, store, Nobody(), workers=3)
        pack.write(tmp_path / "d", store, index, Nobody())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "d").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "c", "d", "report.json"}


def test_locks_come_along_where_they_are_those_of_the_image(
    classic: Engine, tmp_path: Path
) -> None:
    mine = image("particles", labels={"memory-bench.source": images.source("particles")})
    old = image("engine")
    for made in (mine, old):
        classic.hold(made)
    told = (
        IDENTITIES[0].model_copy(
            update={
                "name": "memory-bench/particles:0123456789ab",
                "config_digest": mine.digest,
                "layers": mine.diff_ids,
                "source": images.source("particles"),
            }
        ),
        IDENTITIES[1],
    )
    heard = Heard()
    planned = plan.make(classic.client(), report=save(blank_report(told), tmp_path / "report.json"))
    with temporary(tmp_path / "out") as store:
        index = pack.pack(classic.client(), planned, store, heard)
        store.folder.index = index
        found = contents.read(store.folder)
        locks = {one.title: store.folder.get(one.blob) for one in found.of(media.LOCKS)}
        assert {one.on for one in found.of(media.LOCKS)} == {
            found.images[mine.digest].manifest.digest
        }
    folder = paths.images() / "particles"
    assert locks == {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.glob("locks/*.txt"))
    }
    assert locks
    assert any("bench was built from other files" in line for line in heard.lines)


def test_what_stays_out_is_told_in_the_index(engine: Engine, tmp_path: Path) -> None:
    restricted = IDENTITIES[0].model_copy(update=RESTRICTED)
    report = save(blank_report((restricted, IDENTITIES[1])), tmp_path / "report.json")
    archived(engine, report, tmp_path / "out")
    with Packed(tmp_path / "out") as layout:
        layout.check()
        found = contents.read(layout)
        assert list(found.images) == [BENCH.digest]
        (left,) = found.left_out
        assert (left.config_digest, left.why) == (ENGINE.digest, "its licence forbids it")
        (there,) = found.images.values()
        assert [one.title for one in found.on(there, media.REPORT)] == ["report.json"]
        assert left.layers == ENGINE.diff_ids
    everything = [one.model_copy(update=RESTRICTED) for one in IDENTITIES]
    report = save(blank_report(everything), tmp_path / "all.json")
    archived(engine, report, tmp_path / "none")
    with Packed(tmp_path / "none") as layout:
        layout.check()
        found = contents.read(layout)
        assert not found.images
        told = found.one(media.REPORT)
        assert told is not None
        assert told.on is None
    archived(engine, report, tmp_path / "whole", restricted=True)
    with Packed(tmp_path / "whole") as layout:
        assert len(contents.read(layout).images) == 2
        assert layout.index.annotations is None


# ---------------------------------------------------------------- a store that archives share


def test_what_is_stored_is_neither_asked_for_nor_packed_again(
    engine: Engine, report: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    planned = plan.make(engine.client(), report=report)
    packed(engine, planned, tmp_path / "a", store)
    blobs = {path.name: path.stat().st_ino for path in (store.root / "blobs/sha256").iterdir()}
    engine.asked.clear()
    packed(engine, planned, tmp_path / "b", store)
    assert "GET /images/get" not in engine.asked
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    archived(engine, report, tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    assert store.names() == ("a", "b")
    layers = {store.blob_of(layer).hex for made in (ENGINE, BENCH) for layer in made.diff_ids}
    for path in (store.root / "blobs/sha256").iterdir():
        if path.name in layers:
            assert blobs[path.name] == path.stat().st_ino


def test_two_archives_share_the_layers_they_have_in_common(engine: Engine, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for number, (identity, made) in enumerate(zip(IDENTITIES, (ENGINE, BENCH), strict=True)):
        path = save(blank_report((identity,)), tmp_path / f"{number}.json")
        heard = Heard()
        planned = plan.make(engine.client(), report=path)
        index = pack.pack(engine.client(), planned, store, heard, name=f"n{number}")
        packed_now = [line for line in heard.lines if line.startswith("layer ")]
        assert len(packed_now) == (2 if number == 0 else 1)
        pack.write(tmp_path / f"{number}.bench", store, index, Nobody())
        assert store.layer(made.diff_ids[0]) is not None
    for number in range(2):
        with opened(store.root, f"n{number}") as layout:
            layout.check()
            assert len(contents.read(layout).images) == 1
    notes = list((store.root / "layers").iterdir())
    assert {note.name for note in notes} == {
        layer[7:] for made in (ENGINE, BENCH) for layer in made.diff_ids
    }


def test_a_damaged_store_is_mended_or_refused(engine: Engine, report: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    planned = plan.make(engine.client(), report=report)
    packed(engine, planned, tmp_path / "a", store)
    blob = store.root / "blobs/sha256" / store.blob_of(ENGINE.diff_ids[1]).hex
    raw = blob.read_bytes()
    blob.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    heard = Heard()
    index = pack.pack(engine.client(), planned, store, heard)
    assert any("packed anew" in line for line in heard.lines)
    assert blob.read_bytes() == raw
    blob.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(DamagedArchive, match=blob.name):
        pack.write(tmp_path / "b", store, index, Nobody())
    assert not (tmp_path / "b").exists()
    blob.write_bytes(raw)
    config = store.root / "blobs/sha256" / ENGINE.digest[7:]
    config.write_bytes(b"{}")
    pack.pack(engine.client(), planned, store, heard)
    assert config.read_bytes() == ENGINE.config


def test_a_name_that_is_taken(engine: Engine, report: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    planned = plan.make(engine.client(), report=report)
    other = plan.make(
        engine.client(), report=save(blank_report(IDENTITIES[:1]), tmp_path / "other.json")
    )
    pack.pack(engine.client(), planned, store, Nobody(), name="one")
    with pytest.raises(UsageError, match="another archive named one"):
        pack.pack(engine.client(), other, store, Nobody(), name="one")
    pack.pack(engine.client(), other, store, Nobody(), name="one", force=True)


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data[: len(data) // 2], "did not save its images whole"),
        (lambda data: data.replace(b"opt/noise", b"opt/NOISE"), "did not save its images whole"),
        (lambda data: data.replace(b'"created"', b'"Created"'), "which it was not asked for"),
    ],
)
def test_an_engine_that_saves_something_else(
    classic: Engine,
    report: Path,
    tmp_path: Path,
    spoil: Callable[[bytes], bytes],
    says: str,
) -> None:
    planned = plan.make(classic.client(), report=report)
    classic.spoil = spoil
    with pytest.raises(CannotStart, match=says):
        packed(classic, planned, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_an_image_that_is_another_meanwhile(engine: Engine, report: Path, tmp_path: Path) -> None:
    planned = plan.make(engine.client(), report=report)
    engine.images[engine.id_of(ENGINE)] = image("engine", shared=noise(10))
    with pytest.raises(CannotStart, match="which it was not asked for"):
        packed(engine, planned, tmp_path / "out")


def test_a_file_that_changes_while_it_is_packed(engine: Engine, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    report = save(with_snapshots(blank_report(), kept), tmp_path / "report.json")
    planned = plan.make(engine.client(), report=report, kept=kept)
    next((kept / "snapshots").iterdir()).write_bytes(b"others")
    with pytest.raises(AlteredReport, match="changed while it was archived"):
        packed(engine, planned, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("most", [3_000, 30_000, 80_000])
def test_no_room_is_told_and_leaves_nothing(
    engine: Engine, report: Path, tmp_path: Path, most: int
) -> None:
    planned = plan.make(engine.client(), report=report)
    before = sorted(path.name for path in tmp_path.iterdir())
    with at_most(most), pytest.raises(CannotStart, match="cannot be written: File too large"):
        packed(engine, planned, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


class Stopping(Nobody):
    """Breaks off, as Ctrl-C does, after so many bytes."""

    def __init__(self, after: int) -> None:
        self._left = after

    def moved(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0, 50_000, 80_000])
def test_what_is_broken_off_leaves_nothing(
    engine: Engine, report: Path, tmp_path: Path, after: int
) -> None:
    planned = plan.make(engine.client(), report=report)
    stopping = Stopping(after)

    def go() -> None:
        with temporary(tmp_path / "out") as store:
            index = pack.pack(engine.client(), planned, store, stopping)
            pack.write(tmp_path / "out", store, index, stopping)

    with pytest.raises(KeyboardInterrupt):
        go()
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
