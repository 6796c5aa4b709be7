"""The router's image, alone: what is in it, and its driver under the sandbox's own conditions."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.images import ensure
from runner.suites.memory_honesty import load_set, load_vault
from runner.systems import catalog
from tests.containers.test_engine_image import SANDBOX, Container
from tests.engine._provider import Provider

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

SETTINGS = json.dumps({"model": "m-1", "options": {"attempts": 2, "backoff_initial_s": 0.01}})
MOST_BYTES = 1_000_000
"""What the image may hold beyond the base."""
PAGES = [{"name": page.name, "text": page.text} for page in load_vault("vault2").pages]


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("router").config_digest


@pytest.fixture
def start(image: str) -> Iterator[Callable[..., Container]]:
    started: list[Container] = []

    def run(*options: str) -> Container:
        env = (
            "--env=HOME=/home/bench",
            "--env=ANTHROPIC_API_KEY=none",
            "--env=ANTHROPIC_BASE_URL=http://127.0.0.1:8080",
            f"--env=BENCH_SETTINGS={SETTINGS}",
        )
        started.append(Container(image, *env, *options))
        return started[-1]

    yield run
    for container in started:
        container.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[tuple[Path, Provider]]:
    """A folder with a model's socket in it, as the gateway would serve it."""
    folder = tmp_path / "door"
    folder.mkdir(mode=0o755)
    provider = Provider(folder / "model.sock")
    (folder / "model.sock").chmod(0o777)
    yield folder, provider
    provider.close()


def test_it_says_what_its_description_says(start: Callable[..., Container]) -> None:
    described = start().ask("describe")["result"]
    system = catalog.load("router")
    assert described["name"] == system.name
    assert described["version"] == system.version
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["settings"]["python"].startswith("3.13.")


def test_it_answers_and_refuses_as_it_does_outside(start: Callable[..., Container]) -> None:
    from page_router.pages import parse
    from page_router.rank import Index

    container = start()
    assert container.ask("index", pages=PAGES)["result"] == {"pages": 60, "replaced": 20}
    outside = Index(parse(page["name"], page["text"]) for page in PAGES)
    for question in load_set("dev3").questions:
        reply = container.ask("ask", question=question.q, top_k=5)
        ranked = outside.rank(question.q)
        assert reply["ok"], reply
        assert reply["result"]["receipt"]["score"] == (ranked[0].score if ranked else 0)
        for named, scored in zip(reply["result"]["pages"], ranked, strict=False):
            assert (named["name"], named["score"]) == (scored.name, scored.score)
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/1"
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0


def test_nothing_indexed_is_no_refusal(start: Callable[..., Container]) -> None:
    reply = start().ask("ask", question="backups?", top_k=5)
    assert (reply["ok"], reply["error"]["type"]) == (False, "degraded")


def test_it_learns_through_the_door(
    start: Callable[..., Container], door: tuple[Path, Provider]
) -> None:
    folder, provider = door
    container = start(f"--volume={folder}:/run/door:ro")
    container.ask("index", pages=PAGES)
    question = "How heavy is the Kestrel quiet fan contraption?"
    assert container.ask("ask", question=question, top_k=5)["result"]["refused"]
    provider.script = lambda asked: {"page": None, "quote": ""}
    assert container.ask("learn")["result"]["declined"] == 1
    (asked,) = provider.asked
    assert (asked.purpose, asked.document["question"]) == ("learning", question)


def test_it_stops_when_its_input_ends(start: Callable[..., Container]) -> None:
    container = start()
    assert container.ask("describe")["ok"]
    begun = time.monotonic()
    assert container.let_go() == 0
    assert time.monotonic() - begun < 5


def test_it_holds_its_own_package_and_nothing_else(image: str) -> None:
    def size(of: str) -> int:
        said = subprocess.run(
            ["docker", "image", "inspect", "--format", "{{.Size}}", of],
            capture_output=True,
            check=True,
        )
        return int(said.stdout)

    assert size(image) - size(ensure("base").config_digest) < MOST_BYTES
    look = (
        "test ! -e /dev/ca.crt && test ! -w /opt/router && ! python3 -m pip --version 2>/dev/null"
        " && python3 -c 'import page_router; print(page_router.__cached__)'"
    )
    done = subprocess.run(
        ["docker", "run", "--rm", *SANDBOX, "--entrypoint=sh", image, "-c", look],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "/opt/router/page_router/__pycache__/__init__.cpython-313.pyc"
