"""The engine's image, alone: what is in it, and its driver under the sandbox's own conditions."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.images import ensure
from runner.systems import catalog
from tests.engine._provider import Provider
from tests.engine._worlds import MID_TRIP

pytestmark = pytest.mark.containers

SANDBOX = (
    "--network=none",
    "--user=10001:10001",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--read-only",
    "--tmpfs=/home/bench:uid=10001,mode=0700",
    "--tmpfs=/tmp",
    "--tmpfs=/run/exchange:uid=10001,mode=0700",
)
SETTINGS = json.dumps({"model": "m-1", "options": {"attempts": 2, "backoff_initial_s": 0.01}})


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("engine").config_digest


class Container:
    """A driver in a container, spoken to through the engine's own command."""

    def __init__(self, image: str, *options: str) -> None:
        self._process = subprocess.Popen(
            ["docker", "run", "--rm", "--interactive", *SANDBOX, *options, image],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._id = 0

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._id += 1
        line = json.dumps({"id": self._id, "verb": verb, **payload})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        reply: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert reply["id"] == self._id
        return reply

    def let_go(self) -> int:
        """End its input and wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(10)

    def close(self) -> None:
        if self._process.poll() is None:
            self.let_go()


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
    system = catalog.load("engine")
    assert described["name"] == system.name
    assert described["version"] == system.version
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["settings"]["python"].startswith("3.13.")


def test_it_stops_when_its_input_ends(start: Callable[..., Container]) -> None:
    container = start()
    assert container.ask("describe")["ok"]
    begun = time.monotonic()
    assert container.let_go() == 0
    assert time.monotonic() - begun < 5


def test_a_whole_case_through_the_door_on_days_of_its_own(
    start: Callable[..., Container], door: tuple[Path, Provider]
) -> None:
    folder, provider = door
    provider.script = MID_TRIP.script
    container = start(f"--volume={folder}:/run/door:ro")
    for name, day, text in MID_TRIP.notes:
        noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        (folder / "clock").write_text(f"{(noon - datetime.now(UTC)).total_seconds():+.3f}\n")
        reply = container.ask("deposit", name=name, day=day, text=text)
        assert reply["ok"], reply
        assert abs(datetime.fromisoformat(reply["now"]) - noon) < timedelta(minutes=1)
    assert container.ask("consolidate")["result"]["restated"] == 2
    asked = len(provider.asked)
    recalled = container.ask("recall", question="Where does the user live?", top_k=3)
    assert len(recalled["result"]["statements"]) == 3, recalled
    assert abs(datetime.fromisoformat(recalled["now"]) - noon) < timedelta(minutes=1)
    assert len(provider.asked) == asked
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/1"
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0


def test_it_holds_no_tool_to_install_with_and_no_certificate_of_the_build(image: str) -> None:
    look = (
        "test ! -e /opt/engine/bin/pip && test ! -e /dev/ca.crt && test ! -w /opt/engine &&"
        " python -c 'import anthropic, memory_engine; print(memory_engine.__cached__)' &&"
        " env | grep -ci -e cert -e proxy || true"
    )
    done = subprocess.run(
        ["docker", "run", "--rm", *SANDBOX, "--entrypoint=sh", image, "-c", look],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    cached, *rest = done.stdout.split()
    assert cached.endswith("__init__.cpython-313.pyc")
    assert rest == ["0"]
