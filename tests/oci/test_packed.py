"""Layouts in one file: no byte of it can change unnoticed, and other programs read it."""

import io
import json
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.errors import DamagedArchive, UsageError
from runner.oci import packed, tars
from runner.oci.documents import Index
from runner.oci.folder import Folder
from runner.oci.packed import Packed
from tests.oci._kit import Image, attach, image, put, sha, write

REFERENCE = "memory-bench/one:0123456789ab"


@dataclass(frozen=True)
class Made:
    path: Path
    data: bytes
    image: Image
    folder: Folder
    index: Index


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """An archive of an image with two layers and a report on it."""
    root = tmp_path_factory.mktemp("packed")
    folder, one = Folder(root / "layout"), image(shared=b"words" * 2000)
    subject = put(folder, one, REFERENCE)
    report = attach(folder, subject, "application/x.report", {"r.json": b"{}" * 300})
    index = write(root / "file", folder, (subject, report), annotations={"key": "value"})
    return Made(root / "file", (root / "file").read_bytes(), one, folder, index)


def check(path: Path) -> Index:
    with Packed(path) as opened:
        opened.check()
        return opened.index


def test_what_was_written_is_read(made: Made) -> None:
    with Packed(made.path) as opened:
        opened.check()
        assert opened.index == made.index
        subject = opened.find(REFERENCE)
        assert subject is not None
        manifest = opened.manifest(subject)
        assert opened.get(manifest.config) == made.image.config
        for blob, diff_id, raw in zip(
            manifest.layers, made.image.diff_ids, made.image.layers, strict=True
        ):
            assert b"".join(opened.layer(blob, diff_id)) == raw
        assert opened.index_digest == sha(made.index.written())
        assert set(opened.sizes) == set(opened.reached())
        assert packed.size_of(opened, opened.index) == sum(opened.sizes.values())


def test_it_is_the_same_file_whenever_it_is_written(made: Made, tmp_path: Path) -> None:
    with (tmp_path / "again").open("wb") as file:
        packed.write(file, made.folder, made.index)
    assert (tmp_path / "again").read_bytes() == made.data
    with Packed(made.path) as opened, (tmp_path / "copy").open("wb") as file:
        packed.write(file, opened, opened.index)
    assert (tmp_path / "copy").read_bytes() == made.data


def test_its_members_lie_in_one_order(made: Made) -> None:
    with tarfile.open(made.path) as tar:
        names = tar.getnames()
    blobs = [name for name in names if name.startswith("blobs/sha256/")]
    assert names == ["oci-layout", "index.json", *sorted(blobs), "checksums"]
    said = subprocess.run(
        ["sha256sum", "-c", "checksums"],
        cwd=_unpacked(made),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "index.json: OK\noci-layout: OK\n"


def _unpacked(made: Made) -> Path:
    folder = made.path.with_name("unpacked")
    with tarfile.open(made.path) as tar:
        tar.extractall(folder, filter="data")
    return folder


# ---------------------------------------------------------------- nothing changes unnoticed


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bits_of_any_byte_are_noticed(made: Made, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(made.data) - 1))
    mask = data.draw(st.integers(1, 255))
    other = bytearray(made.data)
    other[place] ^= mask
    damaged = made.path.with_name("flipped")
    damaged.write_bytes(other)
    with pytest.raises(DamagedArchive):
        check(damaged)


@pytest.mark.slow
def test_every_byte_flipped_is_noticed(made: Made, tmp_path: Path) -> None:
    chosen = random.Random(11)
    damaged = tmp_path / "flipped"
    damaged.write_bytes(made.data)
    with damaged.open("r+b") as file:
        for place, byte in enumerate(made.data):
            file.seek(place)
            file.write(bytes([byte ^ (1 << chosen.randrange(8))]))
            file.flush()
            with pytest.raises(DamagedArchive):
                check(damaged)
            file.seek(place)
            file.write(bytes([byte]))


@pytest.mark.slow
def test_every_cut_is_noticed(made: Made, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    chosen = random.Random(5)
    edges = [
        at + more
        for at in range(0, len(made.data), 512)
        for more in (0, 1)
        if at + more < len(made.data)
    ]
    for length in [*edges, *(chosen.randrange(len(made.data)) for _ in range(200))]:
        cut.write_bytes(made.data[:length])
        with pytest.raises(DamagedArchive):
            check(cut)


@pytest.mark.parametrize("more", [b"\0", b"x", bytes(512), bytes(10240), b"\n"])
def test_everything_behind_the_end_is_noticed(made: Made, tmp_path: Path, more: bytes) -> None:
    longer = tmp_path / "longer"
    for data in (made.data + more, more + made.data, made.data + made.data):
        longer.write_bytes(data)
        with pytest.raises(DamagedArchive):
            check(longer)


def members(made: Made) -> dict[str, bytes]:
    return {
        one.name: made.data[one.offset : one.offset + one.size]
        for one in tars.members(io.BytesIO(made.data))
    }


def rewritten(path: Path, files: list[tuple[str, bytes]]) -> Path:
    with path.open("wb") as out:
        writer = tars.Writer(out)
        for name, data in files:
            writer.add(name, len(data), (data,))
        writer.end()
    return path


def _checksums(files: dict[str, bytes]) -> bytes:
    return "".join(
        f"{sha(files[name])[7:]}  {name}\n" for name in ("index.json", "oci-layout")
    ).encode()


def _without(files: dict[str, bytes], name: str) -> list[tuple[str, bytes]]:
    return [(key, data) for key, data in files.items() if key != name]


def _stray(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    more = files | {f"blobs/sha256/{sha(b'stray')[7:]}": b"stray"}
    blobs = sorted(name for name in more if name.startswith("blobs"))
    return [(name, more[name]) for name in ("oci-layout", "index.json", *blobs, "checksums")]


def _of_version_2(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    changed = files | {"oci-layout": b'{"imageLayoutVersion":"2.0.0"}'}
    return list((changed | {"checksums": _checksums(changed)}).items())


def _of_no_index(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    changed = files | {"index.json": b"[]"}
    return list((changed | {"checksums": _checksums(changed)}).items())


def _of_another_index(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    index = json.loads(files["index.json"])
    index["manifests"][0]["size"] += 1
    changed = files | {"index.json": json.dumps(index).encode()}
    return list((changed | {"checksums": _checksums(changed)}).items())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda files: list(reversed(files.items())), "in its order"),
        (lambda files: _without(files, "checksums"), "in its order"),
        (lambda files: _without(files, "index.json"), "in its order"),
        (lambda files: [*files.items(), ("more", b"")], "in its order"),
        (lambda files: [*list(files.items())[:3], *list(files.items())[2:]], "in its order"),
        (lambda files: _without(files, min(files)), "is not there"),
        (_stray, "Nothing in the archive asks for"),
        (_of_version_2, "of a version"),
        (_of_no_index, "The index of the archive is none"),
        (_of_another_index, "bytes, not"),
        (lambda files: [], "in its order"),
        (
            lambda files: list((files | {"index.json": bytes((16 << 20) + 1)}).items()),
            "are allowed",
        ),
        (
            lambda files: [
                *list(files.items())[:2],
                ("blobs/sha256/abc", b""),
                *list(files.items())[2:],
            ],
            "in its order|no name of a blob",
        ),
    ],
)
def test_what_is_in_it_is_what_a_layout_has(
    made: Made,
    tmp_path: Path,
    change: Callable[[dict[str, bytes]], list[tuple[str, bytes]]],
    says: str,
) -> None:
    path = rewritten(tmp_path / "other", change(members(made)))
    with pytest.raises(DamagedArchive, match=says):
        check(path)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Packed(tmp_path / "nothing")
    with pytest.raises(UsageError, match="cannot be read"):
        Packed(tmp_path)
    for data in (b"", b"words", bytes(1024), bytes(512), b"x" * 5000):
        (tmp_path / "none").write_bytes(data)
        with pytest.raises(DamagedArchive):
            Packed(tmp_path / "none")


def test_nothing_is_written_of_a_damaged_layout(made: Made, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "layout")
    one = put(folder, image(), REFERENCE)
    blob = folder.manifest(one).layers[0]
    path = folder.root / "blobs/sha256" / blob.hex
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(DamagedArchive, match=blob.digest):
        packed.write(io.BytesIO(), folder, Index(manifests=(one,)))


# ---------------------------------------------------------------- other programs


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("skopeo") is None, reason="skopeo is not installed")
def test_skopeo_reads_it(made: Made, tmp_path: Path) -> None:
    source = f"oci-archive:{made.path}:{REFERENCE}"

    def skopeo(*args: str) -> str:
        done = subprocess.run(
            ["skopeo", *args], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = json.loads(skopeo("inspect", source))
    assert told["Labels"]["memory-bench.name"] == "one"
    assert told["Architecture"] == "amd64"
    assert len(told["Layers"]) == 2
    assert skopeo("inspect", "--config", "--raw", source).encode().strip() == (
        made.image.config.strip()
    )
    skopeo("copy", source, f"dir:{tmp_path / 'copy'}")
    copied = {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()}
    assert copied[made.image.digest[7:]] == made.image.config
    with Packed(made.path) as opened:
        subject = opened.find(REFERENCE)
        assert subject is not None
        for blob in opened.manifest(subject).layers:
            assert copied[blob.hex] == opened.get(blob)
