"""linkedparticles' image, alone and as a bench runs it."""

import hashlib
import json
import subprocess

import pytest

from runner.errors import CannotStart
from runner.images import ensure, upstream, versions
from runner.systems import catalog
from tests.containers.test_engine_image import SANDBOX, Container

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

MOST_BYTES = 700_000_000
ENV = (
    "--env=HOME=/home/bench",
    "--env=ANTHROPIC_API_KEY=none",
    "--env=ANTHROPIC_BASE_URL=http://127.0.0.1:8080",
    '--env=BENCH_SETTINGS={"model": "m-1"}',
)


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("particles").config_digest


@pytest.fixture(scope="module", params=versions("particles"))
def built(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each version, with its image."""
    return request.param, ensure("particles", version=request.param).config_digest


def test_the_default_version_is_the_one_that_is_built_unasked(image: str) -> None:
    default, older = versions("particles")
    assert ensure("particles", version=default).config_digest == image
    found = ensure("particles", version=older)
    assert found.config_digest != image
    held = {package.name: package.version for package in found.packages}
    assert held["linkedparticles"] == older


def test_it_holds_the_files_of_the_published_runs(built: tuple[str, str]) -> None:
    found = upstream.files(built[1])
    assert {name: hashlib.sha256(body).hexdigest() for name, body in found.items()} == dict(
        upstream.digests()
    )
    assert found["reader-01.md"].decode()
    assert json.loads(found["gate_pairs.json"])["rows"]


def test_no_other_image_does() -> None:
    base = ensure("base").config_digest
    with pytest.raises(CannotStart, match="does not hold"):
        upstream.files(base)


def test_it_is_no_larger_than_it_may_be(image: str) -> None:
    said = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{.Size}}", image],
        capture_output=True,
        check=True,
    )
    assert int(said.stdout) < MOST_BYTES


def test_it_says_what_its_description_says(built: tuple[str, str]) -> None:
    version, image = built
    container = Container(image, *ENV)
    try:
        described = container.ask("describe")["result"]
    finally:
        container.close()
    system = catalog.load("particles", version)
    assert (described["name"], described["version"]) == (system.name, system.version)
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["settings"]["options"] == system.settle({})
    assert described["encoder"].startswith("all-MiniLM-L6-v2")
    assert "copied" in described["settings"]["store"]


def test_without_its_encoder_it_is_degraded(image: str) -> None:
    container = Container(image, *ENV, "--env=HF_HOME=/nonexistent")
    try:
        assert container.ask("describe")["error"]["type"] == "degraded"
    finally:
        container.close()


def test_the_clock_moves_no_wait(image: str) -> None:
    script = (
        "import time, threading, select; s = time.perf_counter();"
        "threading.Event().wait(0.2); time.sleep(0.2); select.select([], [], [], 0.2);"
        "print(time.perf_counter() - s)"
    )
    preload = ("--env=LD_PRELOAD=/usr/local/lib/libfaketime.so", "--env=FAKETIME=+1000000")
    monotonic = "--env=FAKETIME_DONT_FAKE_MONOTONIC=1"
    command = ["docker", "run", "--rm", *SANDBOX, *preload, monotonic, image]
    said = subprocess.run([*command, "python", "-c", script], capture_output=True, check=False)
    assert said.returncode == 0, said.stderr.decode()
    assert 0.6 <= float(said.stdout.split()[0]) < 1.5


def test_it_answers_questions_and_judges_claims(built: tuple[str, str]) -> None:
    container = Container(built[1], *ENV)
    try:
        said = container.ask("ask", question="Where does the user live?", top_k=5)["result"]
        assert said["pages"] == []
        assert said["receipt"]["claims"] == []
        lives, moved = ({"text": f"The user {did} Oslo."} for did in ("lives in", "left"))
        # Nothing listens behind the door of this container.
        assert container.ask("probe", older=lives, newer=moved)["error"]["type"] == "provider"
    finally:
        container.close()
