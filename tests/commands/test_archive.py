"""``bench images archive`` and ``bench images restore``, on an engine that is none."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.archive import contents, media
from runner.oci.packed import Packed
from tests.archive._kit import (
    BENCH,
    ENGINE,
    IDENTITIES,
    blank_report,
    hold_both,
    remember_packages,
    save,
    with_snapshots,
)
from tests.commands.conftest import Bench
from tests.oci._engine import Engine, running
from tests.oci._kit import image, noise

NAMES = ("memory-bench/engine:0123456789ab", "memory-bench/bench:ba9876543210")


ZSTD = bytes.fromhex("28b52ffd")
"""What a compressed layer begins with."""


@pytest.fixture
def engine(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine that holds the images of a report, found as any other is."""
    with running(Engine()) as found:
        hold_both(found)
        monkeypatch.setenv("DOCKER_HOST", found.url)
        yield found


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return save(with_snapshots(blank_report(), tmp_path / "kept"), tmp_path / "report.json")


def words(text: str) -> str:
    return " ".join(text.replace("next: ", "").split())


# ---------------------------------------------------------------- before an engine is looked for


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["archive"], "REPORT|NAME"),
        (["archive", "base"], "Nothing to write to. Give --output FILE, or --store FOLDER and"),
        (["archive", "base", "--store", "s"], "Nothing to write to."),
        (["archive", "base", "-o", "f", "--name", "n"], "there is no --store"),
        (["archive", "base", "--store", "s", "--name", "a/b"], "'a/b' is no name of an archive"),
        (["archive", "base", "-o", "f", "--level", "20"], "less than or equal to 19"),
        (["archive", "base", "-o", "f", "--threads", "0"], "greater than or equal to 1"),
        (["archive", "missing.json", "-o", "f"], "There is no report missing.json."),
        (["archive", "base", "-o", "."], "is a folder"),
        (["restore"], "FILE"),
        (["restore", "missing"], "missing cannot be read"),
        (["restore", "."], "no folder that archives share"),
    ],
)
def test_what_cannot_be_is_said_before_an_engine_is_looked_for(
    bench: Bench, args: list[str], says: str
) -> None:
    done = bench("images", *args)
    assert done.code == 2
    assert says in words(done.err)
    assert done.out == ""


def test_two_reports_are_refused(bench: Bench, report: Path) -> None:
    other = save(blank_report(), report.with_name("other.json"))
    done = bench("images", "archive", report, other, "-o", "f")
    assert done.code == 2
    assert "An archive holds one report." in done.err


def test_a_file_that_is_there_is_refused(bench: Bench, report: Path) -> None:
    Path("f").write_text("mine")
    done = bench("images", "archive", report, "-o", "f")
    assert (done.code, Path("f").read_text()) == (2, "mine")
    assert "f exists already. Choose another name, or add --force" in words(done.err)


def test_without_an_engine_it_says_so_and_leaves_nothing(bench: Bench, report: Path) -> None:
    done = bench("images", "archive", report, "-o", "f")
    assert done.code == 6
    assert "no-engine.sock" in done.err.replace("\n", "")
    assert list(Path().iterdir()) == []


# ---------------------------------------------------------------- with one


def test_a_report_goes_into_a_file_and_its_images_come_out(
    bench: Bench, engine: Engine, report: Path
) -> None:
    done = bench(
        "images", "archive", report, "-o", "out/file.bench", "--kept", report.parent / "kept"
    )
    assert done.code == 0, done.err
    assert done.out == "out/file.bench\n"
    for told in (
        "saving engine, bench",
        "MB compressed",
        "writing file.bench",
        f"archived {NAMES[0]}",
        "with the report, 3 snapshots, 4 inputs",
    ):
        assert told in words(done.err)
    assert [path.name for path in Path("out").iterdir()] == ["file.bench"]
    with Packed(Path("out/file.bench")) as layout:
        layout.check()
        assert len(contents.read(layout).of(media.SNAPSHOT)) == 3
    engine.images.clear()
    engine.tags.clear()
    done = bench("images", "restore", "out/file.bench")
    assert done.code == 0, done.err
    assert done.out.split() == list(NAMES)
    assert f"{NAMES[0]}: loaded, {ENGINE.digest[7:19]}" in words(done.err)
    done = bench("images", "restore", "out/file.bench", "--only", "bench", "--quiet")
    assert done.out.split() == [NAMES[1]]
    assert words(done.err) == f"{NAMES[1]}: was there, {BENCH.digest[7:19]}"


def test_snapshots_that_were_left_behind_are_told_of(
    bench: Bench, engine: Engine, report: Path
) -> None:
    done = bench("images", "archive", report, "-o", "f", "-q")
    assert done.code == 0
    assert "without snapshots: --kept says where they lie" in words(done.err)
    assert "saving" not in done.err


def test_archives_share_a_folder(bench: Bench, engine: Engine, report: Path) -> None:
    first = bench("images", "archive", report, "--store", "s", "--name", "one")
    assert (first.code, first.out) == (0, "s: one\n")
    second = bench("images", "archive", report, "--store", "s", "-o", "two.bench")
    assert (second.code, second.out) == (0, "two.bench\n")
    assert "compressed" not in second.err
    third = bench("images", "archive", report, "-o", "three.bench")
    assert third.code == 0
    assert Path("two.bench").read_bytes() == Path("three.bench").read_bytes()
    assert sorted(path.name for path in Path("s/archives").iterdir()) == ["one.json", "two.json"]
    assert bench("images", "restore", "s").code == 2
    assert bench("images", "restore", "s", "--name", "one").out.split() == list(NAMES)
    assert bench("images", "restore", "two.bench", "--name", "one").code == 2


def test_images_alone(bench: Bench, engine: Engine, tmp_path: Path) -> None:
    secret = image("other", labels={"memory-bench.redistribution": "no: it is a secret"})
    engine.hold(secret, "memory-bench/other:0123456789ab")
    remember_packages(tmp_path / "state", ENGINE, secret)
    done = bench("images", "archive", "memory-bench/other:0123456789ab", "-o", "f")
    assert done.code == 2
    assert "None of the images may be handed on: it is a secret" in words(done.err)
    assert not Path("f").exists()
    names = ("memory-bench/other:0123456789ab", NAMES[0])
    done = bench("images", "archive", *names, "-o", "f")
    assert done.code == 0, done.err
    assert f"left out {names[0]}: it is a secret" in words(done.err)
    done = bench("images", "restore", "f")
    assert done.out.split() == [NAMES[0]]
    assert f"{names[0]} is not in the archive: it is a secret" in words(done.err)
    done = bench("images", "archive", *names, "-o", "f", "--include-restricted", "--force")
    assert done.code == 0, done.err
    assert bench("images", "restore", "f").out.split() == list(names)
    with Packed(Path("f")) as layout:
        assert contents.read(layout).one(media.REPORT) is None


def test_images_that_are_missing_are_all_named(bench: Bench, engine: Engine, report: Path) -> None:
    engine.images.clear()
    done = bench("images", "archive", report, "-o", "f")
    assert done.code == 6
    for identity in IDENTITIES:
        assert identity.config_digest in done.err
    assert list(Path().iterdir()) == []


def test_a_damaged_archive(bench: Bench, engine: Engine, report: Path) -> None:
    assert bench("images", "archive", report, "-o", "f").code == 0
    data = bytearray(Path("f").read_bytes())
    data[data.index(ZSTD) + 16] ^= 1
    Path("f").write_bytes(data)
    engine.asked.clear()
    done = bench("images", "restore", "f")
    assert done.code == 7
    assert "error: The blob sha256:" in done.err
    assert not any("load" in asked for asked in engine.asked)


def test_an_archive_whose_name_is_taken(bench: Bench, engine: Engine, report: Path) -> None:
    assert bench("images", "archive", report, "-o", "f").code == 0
    engine.tags[NAMES[0]] = engine.hold(image("engine", labels={"mine": "yes"}))
    done = bench("images", "restore", "f")
    assert done.code == 0
    assert done.out.split()[0] == f"{NAMES[0]}-{ENGINE.digest[7:19]}"
    assert f"{NAMES[0]} means another image here, and was left to it." in words(done.err)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(2, 130), (15, 143), (9, -9)])
def test_being_stopped_leaves_nothing(
    engine: Engine, tmp_path: Path, number: int, code: int
) -> None:
    slow = image("engine", shared=noise(60 << 20, 5))
    engine.hold(slow)
    told = IDENTITIES[0].model_copy(update={"config_digest": slow.digest, "layers": slow.diff_ids})
    report = save(blank_report((told, IDENTITIES[1])), tmp_path / "report.json")
    code_ = "from runner.commands import main; main()"
    args = ["images", "archive", str(report), "-o", "f", "--level", "19", "--threads", "1"]
    with subprocess.Popen(
        [sys.executable, "-c", code_, *args], stderr=subprocess.PIPE, text=True
    ) as running_:
        deadline = time.monotonic() + 60
        while not list(Path().glob(".f.*/store/.new/*")):
            assert time.monotonic() < deadline
            assert running_.poll() is None
            time.sleep(0.01)
        running_.send_signal(number)
        assert running_.wait(60) == code
    left = [path.name for path in Path().iterdir()]
    if number != 9:
        assert left == []
        return
    # Nobody can tidy up after being killed; the next one does.
    assert len(left) == 1
    hold_both(engine)
    save(blank_report(), report)
    done = subprocess.run(
        [sys.executable, "-c", code_, *args, "-q"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path().iterdir()] == ["f"]
