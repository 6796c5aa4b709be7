"""A system in a folder of somebody's own: built, run, and its store read by itself."""

import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import paths
from runner.errors import ContainerDied, DeadlineMissed, DriverError
from runner.model import Outcome
from runner.reports.schema import Report
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


# ---------------------------------------------------------------- one that asks a model

ASKER = """
import json, os, sys, urllib.request
claims = []
def ask(text):
    body = {"model": json.loads(os.environ["BENCH_SETTINGS"])["model"], "max_tokens": 100,
            "system": "You take statements out of notes.",
            "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(), {"content-type": "application/json", "x-api-key": "none"})
    with urllib.request.urlopen(request) as reply:
        return json.loads(json.load(reply)["content"][0]["text"])
for line in sys.stdin:
    asked, result = json.loads(line), {}
    if asked["verb"] == "describe":
        result = {"version": "1.0", "settings": {"none": True}}
    if asked["verb"] == "deposit":
        note = asked["text"]
        for text in ask("At " + os.urandom(4).hex() + ". <note>" + note + "</note>"):
            claims.append({"id": str(len(claims)), "text": text, "status": "ACTIVE",
                           "sources": [asked["name"]]})
    if asked["verb"] == "snapshot":
        result["path"] = "/run/exchange/" + str(len(os.listdir("/run/exchange")))
        os.mkdir(result["path"])
        json.dump(claims, open(result["path"] + "/claims.json", "w"))
    if asked["verb"] == "export":
        result = {"claims": json.load(open(asked["path"] + "/claims.json"))}
        result["claims"].append({"id": "door", "status": "NOTE",
                                 "text": os.environ.get("ANTHROPIC_BASE_URL", "no door")})
    print(json.dumps({"id": asked["id"], "ok": True, "result": result}), flush=True)
"""
DESCRIBED = """
schema = 1
name = "asker"
title = "Asker"
version = "1.0"
licence = "MIT"
about = "of a test"
verbs = ["describe", "deposit", "consolidate", "snapshot", "export", "stop"]
capabilities = ["claims"]
store = "claims.json"
[purposes]
extraction = "takes statements out of a note"
[[wire.purpose]]
purpose = "extraction"
system = ["take statements"]
answer = "json"
[[wire.field]]
name = "note"
after = "<note>"
before = "</note>"
[[wire.left_out.between]]
after = "At "
before = "."
reach = 8
"""
ANSWERS = """
schema = 1
[[answer]]
id = "both"
purpose = "extraction"
match.note = "*{home}*"
reply = ["The user lives in {home}.", "The user is in {away} for a week."]
[[answer]]
id = "moved"
purpose = "extraction"
match.note = "*{away}*"
reply = ["The user moved to {away}."]
"""


@pytest.fixture
def asked(bench: Bench, engine: Engine) -> Iterator[Report]:
    """Two runs of it."""
    folder = bench.folder / "asker"
    (folder / "scripted").mkdir(parents=True)
    (folder / "driver.py").write_text(ASKER)
    (folder / "system.toml").write_text(DESCRIBED)
    (folder / "scripted" / "reader.toml").write_text(ANSWERS)
    dockerfile = (EXAMPLE / "Dockerfile").read_text()
    (folder / "Dockerfile").write_text(dockerfile.replace("ENV ", f"ENV OF={folder.parent.name} "))
    runs = ("--move-runs", "2", "--trip-alone-runs", "0", "-q", "-o", "asked.json")
    done = bench.run("--system-dir", folder, "--arm", "scripted", *runs)
    assert done.returncode == 1, done.stderr + done.stdout
    report = bench.report("asked.json")
    yield report
    assert bench.left() == []
    engine.call("DELETE", f"/images/{report.images[0].name}")


def test_its_model_calls_are_told_apart_by_its_rules(asked: Report) -> None:
    one, other = asked.runs
    assert one.ending.outcome is Outcome.FAILED, one.ending
    sources = [f"asker/reader.toml:{answer}" for answer in ("both", "moved")]
    assert [call.source for call in one.calls] == sources
    assert [call.purpose for call in one.calls] == ["extraction", "extraction"]
    # What differs from call to call is no part of a digest.
    digests = [call.prompt_sha256 for call in one.calls]
    assert digests == [call.prompt_sha256 for call in other.calls]
    assert digests[0] != digests[1]
    assert one.final is not None
    assert one.final.claims[-1].text == "no door"


def test_its_result_is_made_again_from_an_archive_alone(asked: Report, bench: Bench) -> None:
    assert asked.system.reader == "system"
    quiet = ("--quiet", "--level", "1")
    done = bench.run("images", "archive", "asked.json", *quiet, "-o", "none.tar")
    assert done.returncode == 2
    assert "--system-dir" in done.stderr
    told = ("--system-dir", "asker", *quiet, "-o", "whole.tar")
    done = bench.run("images", "archive", "asked.json", *told)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(bench.folder / "asker")
    done = bench.run("rerun", "whole.tar", "--yes", "--quiet")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Identical: 2 runs." in done.stdout
