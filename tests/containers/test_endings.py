"""Every way a run can end other than well, brought about for real."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner import images
from runner.model import RunRecord
from runner.prices import load_prices
from runner.reports import files
from runner.reports.rescore import verify
from runner.runs.clock import Clock
from runner.runs.job import Job
from runner.runs.keep import Keep
from runner.runs.plan import Images, jobs
from runner.runs.protocol import Protocol
from runner.runs.run import Attempt
from runner.runs.sandbox import Box, Domain, Engine, EngineSandbox, reap, start
from runner.runs.sandbox._box import EngineBox
from runner.runs.watch import Unwatched
from runner.suites.trip_vs_move import load_case
from runner.systems.catalog import load
from tests.containers._bench import Bench, end, until
from tests.containers._second_engine import SecondEngine, second_engine
from tests.containers.conftest import left

pytestmark = pytest.mark.containers

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and starts an engine")
MODEL = "claude-sonnet-5-5"
At = Callable[[EngineBox], None]


@pytest.fixture(scope="session")
def ids(engine: Engine) -> Images:
    """The images of both sides."""
    return Images(images.ensure("engine").config_digest, images.ensure("bench").config_digest)


@pytest.fixture
def job(ids: Images) -> Callable[..., Job]:
    """Makes one job on the reader's case."""

    def make(kind: str = "move", **fields: Any) -> Job:
        usual: dict[str, Any] = {
            "case": load_case("reader"),
            "system": load("engine"),
            "arm": "scripted",
            "model": MODEL,
            "runs": {kind: 1},
            "clock": Clock("note"),
            "options": {"same_slot_admits": True},
        }
        return jobs(Protocol(**{**usual, **fields}), ids, load_prices())[0]

    return make


class AtStep(Unwatched):
    """Does something to a run's box when a step begins."""

    def __init__(self, step: str, act: At) -> None:
        self.attempt: Attempt | None = None
        self._step = step
        self._act = act

    def step(self, run_id: str, name: str) -> None:
        assert self.attempt is not None
        if name == self._step:
            box = self.attempt._box
            assert isinstance(box, EngineBox)
            self._act(box)


def run(job: Job, sandbox: Any, step: str = "", act: At = lambda box: None) -> RunRecord:
    """Run a job, and do something to its box when a step begins."""
    watch = AtStep(step, act)
    watch.attempt = Attempt(job, sandbox, watch=watch, keep=Keep(None))
    return watch.attempt.run()


MOVE = "deposit reader-02-moved.md"


# ---------------------------------------------------------------- money


def test_a_ceiling_is_never_passed(sandbox: EngineSandbox, job: Callable[..., Job]) -> None:
    for ceiling in ("0.001", "0.024", "0.045"):
        record = run(job(max_usd=Decimal(ceiling)), sandbox)
        assert (record.ending.outcome, record.ending.kind) == ("incomplete", "ceiling"), ceiling
        assert record.cost_usd <= Decimal(ceiling)
        assert record.checks == ()


def test_a_measured_ceiling_is_looked_at_between_steps(
    sandbox: EngineSandbox, job: Callable[..., Job]
) -> None:
    record = run(job(max_usd=Decimal("0.03"), ceiling="measured"), sandbox)
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "ceiling")
    assert record.cost_usd > Decimal("0.03"), "what the published check lets through"
    assert MOVE in record.ending.detail
    made = [step.name for step in record.steps if step.verb != "recall"]
    assert made == ["deposit reader-01.md", MOVE]


# ---------------------------------------------------------------- time, and the two containers


def test_a_step_that_does_not_end(
    engine: Engine, sandbox: EngineSandbox, job: Callable[..., Job]
) -> None:
    """Frozen whole, so that it cannot even notice that its input ends."""

    def freeze(box: EngineBox) -> None:
        engine.call("POST", f"/containers/{box.names.system}/pause")

    began = time.monotonic()
    record = run(job(step_deadline_s=10.0), sandbox, MOVE, freeze)
    assert (record.ending.outcome, record.ending.kind) == ("incomplete", "deadline")
    assert "10 s" in record.ending.detail
    assert record.steps[-1].error is not None
    assert time.monotonic() - began < 40
    assert len(record.calls) == 1, "what was paid for stays on record"


@pytest.mark.parametrize("side", ["system", "gateway"])
def test_a_container_that_is_killed_under_a_run(
    engine: Engine, sandbox: EngineSandbox, job: Callable[..., Job], side: str
) -> None:
    def kill(box: EngineBox) -> None:
        engine.call("POST", f"/containers/{getattr(box.names, side)}/kill")

    record = run(job(), sandbox, MOVE, kill)
    assert (record.ending.outcome, record.ending.kind) == ("errored", "container_died")
    assert side in record.ending.detail
    assert len(record.snapshots) == 1


# ---------------------------------------------------------------- answers


def test_an_answer_that_is_missing(sandbox: EngineSandbox, job: Callable[..., Job]) -> None:
    whole = job()
    strange = {**whole.steps[0].payload, "text": "Nothing that any table was written for.\n"}
    steps = (replace(whole.steps[0], payload=strange), *whole.steps[1:])
    record = run(replace(whole, steps=steps), sandbox)
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "script_missing")
    assert "engine/reader.toml:" in record.ending.detail, "the nearest entry is shown"
    [call] = record.calls
    assert (call.outcome, call.error) == ("refused", "script_missing")
    assert call.cost_usd == 0


def test_a_model_that_was_not_asked_for(sandbox: EngineSandbox, job: Callable[..., Job]) -> None:
    """A system that asks another model than it was told to."""
    whole = job()
    settings = orjson.loads(whole.system.env["BENCH_SETTINGS"])
    other = orjson.dumps({**settings, "model": "claude-haiku-4-5"}).decode()
    system = replace(whole.system, env={**whole.system.env, "BENCH_SETTINGS": other})
    record = run(replace(whole, system=system), sandbox)
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "wrong_model")
    assert "claude-haiku-4-5" in record.ending.detail
    assert record.cost_usd == 0


# ---------------------------------------------------------------- the walls


class Leaky:
    """A sandbox whose system's container is given a network once it is open."""

    def __init__(self, sandbox: EngineSandbox) -> None:
        self._sandbox = sandbox

    @contextmanager
    def open(self, *args: Any, **options: Any) -> Iterator[Box]:
        with self._sandbox.open(*args, **options) as box:
            name = {"Container": box.names.system, "Force": True}
            self._sandbox.engine.call("POST", "/networks/none/disconnect", body=name)
            self._sandbox.engine.call(
                "POST", "/networks/bridge/connect", body={"Container": box.names.system}
            )
            yield box

    def close(self) -> None:
        self._sandbox.close()


def test_a_wall_with_a_hole_in_it(sandbox: EngineSandbox, job: Callable[..., Job]) -> None:
    record = run(job(), Leaky(sandbox))
    assert (record.ending.outcome, record.ending.kind) == ("invalid", "escape")
    out = [escape for escape in record.escapes if escape.result == "escaped"]
    assert out
    for escape in out:
        assert escape.probe in record.ending.detail
    assert (record.steps, record.calls) == ((), ())


# ---------------------------------------------------------------- the engine


@pytest.fixture(scope="module")
def second(ids: Images) -> Iterator[SecondEngine]:
    """A second engine that holds both images."""
    with second_engine() as other:
        other.take_in(ids.system, ids.gateway)
        yield other


def test_the_engine_stops_under_a_run(
    second: SecondEngine, job: Callable[..., Job], tmp_path: Path
) -> None:
    leases = {"BENCH_LEASES": str(tmp_path / "leases")}
    engine = second.engine()
    with start(leases, engine=engine) as sandbox:
        usual = run(job("trip-alone"), sandbox)
        assert usual.ending.outcome == "passed", usual.ending
        lease = sandbox.lease.name
        began = time.monotonic()
        record = run(job(), sandbox, MOVE, lambda box: second.kill())
        assert time.monotonic() - began < 30
    assert (record.ending.outcome, record.ending.kind) == ("errored", "engine_lost")
    assert len(record.snapshots) == 1
    assert len(record.calls) == 1

    # The engine comes back, and the next bench removes what the last one could not.
    second.stop()
    engine = second.start()
    assert left(engine, lease) != []
    reap(engine, Domain.at(Path(leases["BENCH_LEASES"])))
    assert left(engine, lease) == []


# ---------------------------------------------------------------- the disk


def fill(path: Path) -> None:
    """Take all the room there is."""
    with path.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(1024))


@as_root
def test_the_output_s_disk_fills_up(engine: Engine, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    bench = Bench(tmp_path, engine=engine, env={"TMPDIR": str(temporary)})
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "small", str(small)], check=True)
    process = bench.start("--arm", "scripted", "--jobs", "1", "--output", "small/report.json")
    try:
        output = small / "report.json"
        until(lambda: output.exists() and files.load(output).runs, 60)
        fill(small / "filler")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 6, err
        assert out == ""
        assert "cannot be written" in err
        assert "No space left on device" in err
        rescued = temporary / "report.rescued.json"
        assert str(rescued) in err
        report = files.load(rescued)
        verify(report)
        assert len(report.runs) >= 2
        assert len(report.missing) >= 1
        # The old file is whole, and is what there was before.
        verify(files.load(output))
        assert len(files.load(output).runs) < len(report.runs)
        assert [path.name for path in small.iterdir() if path.name.startswith(".")] == []
        assert bench.left() == []
    finally:
        end(process)
        subprocess.run(["umount", str(small)], check=True)
    # Its own advice: make room and go on.
    shutil.copy(rescued, tmp_path / "resumed.json")
    done = bench.run("--arm", "scripted", "--output", "resumed.json", "--resume")
    assert done.returncode == 0, done.stderr
    assert bench.report("resumed.json").runs[: len(report.runs) - 1] == report.runs[:-1]
