"""However a bench is stopped, nothing of it goes on, nothing of it stays, and its report loads."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.runs.sandbox import Engine
from tests._trip import verdict_of
from tests.containers._bench import Bench, end, processes_of, until

pytestmark = pytest.mark.containers

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
PROTOCOL = ("--arm", "scripted", "--jobs", "2", "--output", "report.json")


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(tmp_path, engine=engine)


@pytest.fixture
def running(bench: Bench) -> Iterator[subprocess.Popen[str]]:
    """A bench that has finished one run of five and is in the middle of others."""
    process = bench.start(*PROTOCOL)
    output = bench.folder / "report.json"
    try:
        until(lambda: output.exists() and bench.report("report.json").runs, 60)
        yield process
    finally:
        end(process)


@pytest.mark.parametrize("number", CODES)
def test_a_signal_stops_everything_and_what_there_is_can_be_finished(
    number: signal.Signals, bench: Bench, running: subprocess.Popen[str]
) -> None:
    began = time.monotonic()
    running.send_signal(number)
    _, err = running.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert running.returncode == CODES[number], err
    assert "Traceback" not in err
    assert bench.left() == []
    assert processes_of(running.pid) == []

    report = bench.report("report.json")
    finished = {run.spec.id for run in report.runs if run.ending.kind == "checks"}
    stopped = {run.spec.id for run in report.runs if run.ending.kind == "interrupted"}
    assert finished
    assert finished | stopped == {run.spec.id for run in report.runs}
    assert report.missing or stopped
    assert report.finished_at is None

    done = bench.run("rescore", "report.json")
    assert done.returncode == 3, done.stderr
    rows = re.findall(r"^\S+ \d+ +not run", done.stdout, re.MULTILINE)
    assert len(rows) == len(report.missing)

    done = bench.run(*PROTOCOL, "--resume")
    assert done.returncode == 0, done.stderr
    whole = bench.report("report.json")
    assert whole.missing == ()
    kept = {run.spec.id: run for run in report.runs if run.spec.id in finished}
    assert {run.spec.id: run for run in whole.runs if run.spec.id in finished} == kept
    assert whole.verdict is not None
    assert verdict_of(whole).bar_met is True
    assert bench.left() == []


@pytest.mark.parametrize("number", CODES)
def test_somebody_impatient_leaves_nothing_either(
    number: signal.Signals, bench: Bench, running: subprocess.Popen[str]
) -> None:
    began = time.monotonic()
    for _ in range(5):
        if running.poll() is None:
            running.send_signal(number)
        time.sleep(0.2)
    _, err = running.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert running.returncode == CODES[number], err
    assert bench.left() == []
    assert processes_of(running.pid) == []
    bench.report("report.json")


@pytest.mark.parametrize("after_s", [0.4, 1.0, 1.6, 2.2])
def test_a_signal_while_it_starts(after_s: float, bench: Bench) -> None:
    process = bench.start(*PROTOCOL)
    try:
        time.sleep(after_s)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert time.monotonic() - began < 10
        # Before Python has come to the bench's own code, the kernel ends it.
        assert process.returncode in (143, -signal.SIGTERM), err
        assert bench.left() == []
        assert processes_of(process.pid) == []
    finally:
        end(process)


def test_after_sigkill_all_stops_by_itself_and_the_next_start_removes_it(
    bench: Bench, running: subprocess.Popen[str], engine: Engine
) -> None:
    running.kill()
    running.communicate()
    mine = set(bench.left())
    assert len(mine) >= 5

    def still_running() -> set[str]:
        found = engine.call("GET", "/containers/json")
        return {container["Names"][0] for container in found} & mine

    until(lambda: not still_running(), 10)
    assert processes_of(running.pid) == []
    report = bench.report("report.json")
    assert report.missing

    done = bench.run(*PROTOCOL, "--resume")
    assert done.returncode == 0, done.stderr
    assert "left by a bench that was killed" in done.stderr
    assert bench.left() == []
    assert bench.report("report.json").missing == ()


def test_after_sigkill_bench_clean_removes_the_rest(
    bench: Bench, running: subprocess.Popen[str]
) -> None:
    running.kill()
    running.communicate()
    mine: list[str] = []

    def settled() -> bool:
        """Whether the engine is done with what the bench had asked of it before it was killed."""
        before, mine[:] = list(mine), sorted(bench.left())
        time.sleep(0.2)
        return before == mine

    until(settled, 10)
    assert mine
    done = bench.run("clean")
    assert done.returncode == 0, done.stderr
    for name in mine:
        assert f"removed {name.lstrip('/')}" in done.stdout
    assert bench.left() == []
