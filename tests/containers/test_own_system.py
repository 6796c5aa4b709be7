"""A system in a folder of somebody's own: built, run, and its store read by itself."""

import io
import tarfile
from pathlib import Path

import pytest

from runner import paths
from runner.errors import ContainerDied, DeadlineMissed, DriverError
from runner.model import Outcome
from runner.runs.sandbox import Engine, EngineSandbox, SystemBox
from runner.runs.sandbox.snapshot import Snapshot, from_tar
from runner.suites.memory_honesty import HonestyVerdict
from tests.containers._bench import Bench
from tests.containers.conftest import left

pytestmark = pytest.mark.containers

EXAMPLE = paths.root() / "examples" / "notebook"
READER = """
import json, os, socket, sys
for line in sys.stdin:
    asked = json.loads(line)
    seen = {}
    if asked["verb"] == "export":
        path = asked["path"]
        seen["files"] = sorted(os.listdir(path))
        seen["text"] = open(path + "/deep/a.txt").read()
        seen["door"] = os.path.exists("/run/door/model.sock")
        seen["network"] = [name for _, name in socket.if_nameindex()]
        try:
            open(path + "/deep/a.txt", "w")
        except OSError as error:
            seen["written"] = type(error).__name__ + str(error.errno)
    if asked["verb"] == "die":
        sys.exit(3)
    if asked["verb"] != "hang":
        print(json.dumps({"id": asked["id"], "ok": asked["verb"] != "fail", "result": seen,
                          "error": {"type": "degraded", "message": "no"}}), flush=True)
"""


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(tmp_path, env={"BENCH_STATE": str(tmp_path / "state")}, engine=engine)


def test_a_move_is_seen_in_the_store_that_it_reads_itself(bench: Bench) -> None:
    asked = ("--system-dir", EXAMPLE, "--arm", "scripted", "--move-runs", "1", "-q")
    done = bench.run(*asked, "--trip-alone-runs", "1", "-o", "reader.json")
    assert done.returncode == 0, done.stderr
    report = bench.report("reader.json")
    assert (report.system.name, report.system.reader) == ("notebook", "system")
    assert "systems/notebook/system.toml" in {fixture.name for fixture in report.fixtures}
    assert any("rests on the system's word" in note for note in report.notes)
    move = next(run for run in report.runs if run.spec.kind == "move")
    assert move.final is not None
    gone = [claim for claim in move.final.claims if not claim.active]
    by_id = {claim.id: claim for claim in move.final.claims}
    assert "live in Delhi" in " ".join(claim.text for claim in gone)
    assert all("reader-02-moved.md" in by_id[str(one.retired_by)].sources for one in gone)
    assert move.calls == ()
    assert {escape.result for escape in move.escapes} <= {"blocked", "inapplicable"}
    # The same blunt rule on a longer story: what was passed by luck is not passed twice.
    done = bench.run(*asked, "--case", "mid-trip", "--trip-alone-runs", "0", "-o", "trip.json")
    assert done.returncode == 1, done.stderr
    (run,) = bench.report("trip.json").runs
    assert run.ending.outcome is Outcome.FAILED
    assert run.ending.detail.startswith("(i)")
    assert bench.left() == []


def test_questions_are_asked_of_it(bench: Bench) -> None:
    done = bench.run("honesty", "--system-dir", EXAMPLE, "--set", "dev", "-q", "-o", "out")
    assert done.returncode == 0, done.stderr
    verdict = bench.report("out/honesty-notebook-dev.json").verdict
    assert isinstance(verdict, HonestyVerdict)
    assert verdict.result is not None
    metrics = verdict.result.metrics
    assert (metrics.answered, metrics.wrong, metrics.right) == (7, 3, 4)
    assert metrics.neighbours_refused.hits == 10
    assert bench.left() == []


# ---------------------------------------------------------------- the container that reads


@pytest.fixture
def store() -> Snapshot:
    """A store with a file in a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo("deep/a.txt")
        info.size = 5
        tar.addfile(info, io.BytesIO(b"words"))
    return from_tar(out.getvalue(), top=None, max_bytes=100, max_files=10)


@pytest.fixture
def reader(base_image: str) -> SystemBox:
    return SystemBox(base_image, command=("python3", "-I", "-c", READER))


def test_it_sees_the_store_and_nothing_else(
    sandbox: EngineSandbox, engine: Engine, reader: SystemBox, store: Snapshot
) -> None:
    with sandbox.read("a-run", reader, store, deadline_s=30) as reading:
        seen = reading.system.request("export", {"path": reading.store}, deadline_s=10).result
        there = left(engine, sandbox.lease.name)
    assert seen == {
        "files": ["deep"],
        "text": "words",
        "door": False,
        "network": ["lo"],
        "written": "OSError30",
    }
    assert len(there) == 2  # itself and the volume; what it was put there through is gone
    assert left(engine, sandbox.lease.name) == []


@pytest.mark.parametrize(
    ("verb", "error"), [("die", ContainerDied), ("hang", DeadlineMissed), ("fail", DriverError)]
)
def test_nothing_of_it_is_left_however_it_ends(
    sandbox: EngineSandbox,
    engine: Engine,
    reader: SystemBox,
    store: Snapshot,
    verb: str,
    error: type[Exception],
) -> None:
    with pytest.raises(error), sandbox.read("a-run", reader, store, deadline_s=30) as reading:
        reading.system.request(verb, deadline_s=1)
    assert left(engine, sandbox.lease.name) == []


def test_it_is_closed_while_it_opens(
    sandbox: EngineSandbox, engine: Engine, reader: SystemBox, store: Snapshot
) -> None:
    with (
        pytest.raises(ContainerDied),
        sandbox.read("a-run", reader, store, deadline_s=30, on_opening=lambda one: one.close()),
    ):
        raise AssertionError("it was opened all the same")
    assert left(engine, sandbox.lease.name) == []
