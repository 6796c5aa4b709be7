import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.errors import AlteredReport, CannotStart, UsageError
from runner.reports import files

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands files on")
Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may be longer than 1000 bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# ---------------------------------------------------------------- writing


def test_what_is_saved_is_what_is_loaded(reader: Path, tmp_path: Path) -> None:
    report = files.load(reader)
    again = tmp_path / "again.json"
    files.save(report, again)
    assert again.read_bytes() == reader.read_bytes()
    assert stat.S_IMODE(again.stat().st_mode) == 0o644
    assert {path.name for path in tmp_path.iterdir()} == {"reader.json", "again.json"}


@pytest.mark.usefixtures("small_files")
def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    files.write_atomically(path, b"old")
    with pytest.raises(OSError) as caught:
        files.write_atomically(path, b"x" * 5000)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path], "no half file is left beside it"


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """A name always leads to one whole content: the old file itself is never written to."""
    path = tmp_path / "report.json"
    files.write_atomically(path, b"old")
    with path.open("rb") as held:
        files.write_atomically(path, b"new and longer")
        assert held.read() == b"old"
    assert path.read_bytes() == b"new and longer"


@as_root
def test_a_file_of_root_belongs_to_the_folder_s_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 4242, 4343)
    path = tmp_path / "a" / "b" / "report.json"
    files.prepare(path, resume=False)
    files.write_atomically(path, b"{}")
    for made in (path, path.parent, path.parent.parent):
        assert (made.stat().st_uid, made.stat().st_gid) == (4242, 4343)


# ---------------------------------------------------------------- before anything starts


def test_a_place_that_is_fine_is_left_as_it_was(tmp_path: Path) -> None:
    files.prepare(tmp_path / "a" / "report.json", resume=False)
    assert list((tmp_path / "a").iterdir()) == []


def test_a_report_that_is_there_is_only_written_over_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"{}")
    with pytest.raises(UsageError, match="exists already"):
        files.prepare(path, resume=False)
    files.prepare(path, resume=True)
    assert path.read_bytes() == b"{}"


def test_places_where_no_report_can_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "folder").mkdir()
    for path in (
        file / "report.json",
        file / "below" / "report.json",
        Path("/proc/report.json"),
        Path("/proc/below/report.json"),
        tmp_path / ("x" * 300 + ".json"),
    ):
        with pytest.raises(CannotStart, match="cannot be written"):
            files.prepare(path, resume=False)
    with pytest.raises(CannotStart, match="is a folder"):
        files.prepare(tmp_path / "folder", resume=True)


@pytest.mark.usefixtures("small_files")
def test_no_room_is_found_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be written"):
        files.prepare(tmp_path / "report.json", resume=False)
    assert list(tmp_path.iterdir()) == []


@as_root
def test_a_folder_of_somebody_else_is_found_before_anything_starts(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o700)
    os.seteuid(65534)
    try:
        for path in (tmp_path / "report.json", locked / "report.json", locked / "a/report.json"):
            with pytest.raises(CannotStart, match="cannot be written"):
                files.prepare(path, resume=False)
    finally:
        os.seteuid(0)


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 2000, "no JSON"),
        (b"[]", "no report"),
        (b"{}", "no report"),
        (b'{"report_version": 2}', "version 2"),
        (b'{"report_version": 1}', "integrity"),
        (b'{"report_version": 1, "runs": 5, "integrity": {}}', "runs"),
        (b'{"report_version": 1, "runs": [5], "integrity": {}}', r"runs\[0\]"),
    ],
)
def test_what_is_no_report(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(AlteredReport, match=says):
        files.load(path)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            files.load(path)


def test_half_a_file_is_refused_at_every_length(reader: Path, tmp_path: Path) -> None:
    whole = reader.read_bytes()
    path = tmp_path / "half.json"
    for length in range(0, len(whole) - 2, len(whole) // 40):
        path.write_bytes(whole[:length])
        with pytest.raises(AlteredReport):
            files.load(path)


def test_an_altered_part_is_named(reader: Path) -> None:
    document = orjson.loads(reader.read_bytes())
    document["runs"][2]["ending"]["outcome"] = "failed"
    document["model"] = "another"
    reader.write_bytes(orjson.dumps(document))
    with pytest.raises(AlteredReport, match=r"model, runs\[2\]\.ending"):
        files.load(reader)


def test_a_field_that_the_schema_does_not_know_is_refused(reader: Path, forge: Forge) -> None:
    forge(reader, lambda document: document["runs"][0]["ending"].update(colour="red"))
    with pytest.raises(AlteredReport, match=r"schema: runs\.0\.ending\.colour"):
        files.load(reader)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("suite", "another"),
        ("case", "mid-trip"),
        ("fixture_variant", "lisbon"),
        ("arm", "live"),
        ("model", "claude-haiku-4-5"),
        ("pins", {"update": "claude-haiku-4-5"}),
        ("system", "another"),
        ("options", {"same_slot_admits": False}),
        ("clock", "now"),
        ("max_usd", "1.5"),
        ("ceiling", "measured"),
    ],
)
def test_a_run_of_another_protocol_is_refused(
    reader: Path, forge: Forge, field: str, value: object
) -> None:
    forge(reader, lambda document: document["runs"][3]["spec"].update({field: value}))
    with pytest.raises(AlteredReport, match=rf"runs\[3\]\.spec\.{field}"):
        files.load(reader)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (
            lambda doc: doc["runs"].append(doc["runs"][0]),
            r"runs\[5\] is run reader-move-1 a second",
        ),
        (lambda doc: doc["runs"].__setitem__(1, doc["runs"][0]), r"runs\[1\] is run reader-move-1"),
        (lambda doc: doc["runs"][0]["spec"].update(id="other"), "not a run the protocol planned"),
        (lambda doc: doc["runs"][0]["spec"].update(index=9), "not a run the protocol planned"),
        (lambda doc: doc["runs"][0]["spec"].update(kind="trip-alone"), "not a run"),
        (lambda doc: doc["planned"].append(doc["planned"][0]), "planned names a run twice"),
        (lambda doc: doc["planned"].pop(), "not a run the protocol planned"),
    ],
)
def test_runs_that_were_not_planned_or_come_twice_are_refused(
    reader: Path, forge: Forge, how: Callable[[dict[str, Any]], object], says: str
) -> None:
    forge(reader, how)
    with pytest.raises(AlteredReport, match=says):
        files.load(reader)
