import io
import os
import tarfile
from pathlib import Path

import orjson
import pytest

from runner.errors import CannotStart
from runner.model import RunRecord
from runner.runs.disk import make_folder
from runner.runs.keep import Keep
from runner.runs.run import Attempt
from runner.runs.sandbox.snapshot import load
from runner.runs.watch import Unwatched
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import jobs_of

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands files on")


def run_all_kept(folder: Path, keep: Path) -> list[RunRecord]:
    sandbox = MemorySandbox(folder)
    jobs = jobs_of(runs={"move": 2})
    return [Attempt(job, sandbox, watch=Unwatched(), keep=Keep(keep)).run() for job in jobs]


def test_snapshots_are_kept_by_digest_and_runs_by_name(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    records = run_all_kept(tmp_path / "boxes", keep)
    wanted = {seen.sha256 for record in records for seen in record.snapshots}
    blobs = list((keep / "snapshots").iterdir())
    assert {blob.stem for blob in blobs} == wanted
    for blob in blobs:
        snapshot = load(blob.read_bytes(), max_bytes=1 << 24, max_files=10)
        assert snapshot.sha256 == blob.stem
        assert set(snapshot.files) == {"memory.db"}
    for record in records:
        folder = keep / "runs" / record.spec.id
        calls = (folder / "calls.jsonl").read_text().splitlines()
        assert [orjson.loads(line)["seq"] for line in calls] == list(range(1, 9))
        assert RunRecord.model_validate_json((folder / "record.json").read_bytes()) == record
        assert (folder / "system.log").read_text() == "the log of the system\n"


def test_a_folder_that_cannot_be_written_is_found_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for impossible in (file, file / "below", Path("/proc/memory-bench")):
        with pytest.raises(CannotStart, match="Nothing can be kept"):
            Keep(impossible).prepare()
    Keep(tmp_path / "a" / "b").prepare()
    assert list((tmp_path / "a" / "b").iterdir()) == []
    Keep(None).prepare()


def test_a_verdict_outlives_evidence_that_cannot_be_kept(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    keep.mkdir()
    (keep / "snapshots").touch()  # where folders have to be
    (keep / "runs").touch()
    for record in run_all_kept(tmp_path / "boxes", keep):
        assert record.ending.outcome == "passed"
        lost = [warning for warning in record.warnings if "not kept" in warning]
        assert len(lost) == 4  # three snapshots, and the calls and the log


@as_root
def test_what_root_makes_belongs_to_the_folder_s_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 4242, 4343)
    (tmp_path / "boxes").mkdir()
    run_all_kept(tmp_path / "boxes", tmp_path / "kept")
    make_folder(tmp_path / "x" / "y")
    made = [*(tmp_path / "kept").rglob("*"), tmp_path / "kept", tmp_path / "x", tmp_path / "x/y"]
    assert len(made) > 8
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(4242, 4343)}


def test_the_archive_kept_is_a_plain_tar(tmp_path: Path) -> None:
    run_all_kept(tmp_path / "boxes", tmp_path / "kept")
    blob = next((tmp_path / "kept" / "snapshots").iterdir())
    with tarfile.open(fileobj=io.BytesIO(blob.read_bytes()), mode="r:") as tar:
        assert tar.getnames() == ["memory.db"]
