"""A result of real containers and images, as a stranger with nothing but the file sees it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from runner.runs.sandbox import Engine
from tests.containers._bench import COMMAND, Bench

pytestmark = pytest.mark.containers

NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/engine.sock"}


@pytest.fixture(scope="module")
def archive(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of the engine, with its snapshots and its images."""
    folder = tmp_path_factory.mktemp("verify")
    bench = Bench(folder, engine=engine)
    done = bench.run(
        "--arm", "scripted", "--keep", "kept", "-o", "report.json", "--quiet"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = bench.run(
        "images", "archive", "report.json", "--kept", "kept", "--level", "1", "-o", "a.tar", "-q"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "a.tar"


def alone(*args: str | Path) -> subprocess.CompletedProcess[str]:
    """A command where no engine answers."""
    return subprocess.run(
        [COMMAND, *map(str, args)],
        env={**os.environ, **NO_ENGINE},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_everything_in_it_holds(archive: Path) -> None:
    """Not least that what is installed in the images is what they list and the report says."""
    done = alone("verify", archive, "--format", "json")
    sheet = json.loads(done.stdout)
    states = {line["id"]: line["state"] for line in sheet["lines"]}
    assert done.returncode == 0, done.stdout
    assert set(states.values()) <= {"holds", "not checked"}
    # The bench's own locks are left out where its files have changed since its image was built.
    assert {name for name, state in states.items() if state == "not checked"} <= {"locks"}
    looked_at = {line["id"]: line["looked_at"] for line in sheet["lines"]}
    assert looked_at["packages"] > 300
    # Of three steps a move run and two a trip alone; its consolidation writes nothing.
    assert looked_at["snapshots"] == 3 * 3 + 2 * 1


def test_it_may_be_put_in_public(archive: Path) -> None:
    done = alone("submit", "check", archive)
    assert done.returncode == 0, done.stdout
    assert "It follows every rule" in done.stdout


def test_a_byte_of_a_layer_that_is_another_is_found(archive: Path, tmp_path: Path) -> None:
    """In the largest blob, which is a layer of the bench's."""
    whole = bytearray(archive.read_bytes())
    whole[len(whole) // 2] ^= 0x10
    spoiled = tmp_path / "spoiled.tar"
    spoiled.write_bytes(whole)
    done = alone("verify", spoiled)
    assert done.returncode == 7
    assert "does not match its digest" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr
