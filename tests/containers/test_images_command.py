"""``bench images`` on an engine, with an image that is nobody else's."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest

from runner import engine_api
from runner.images import built

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]
SYSTEM = """
[image]
models = ["small", "large"]
redistributable = false
why = "it is a test's"
"""


@dataclass(slots=True)
class Checkout:
    """A checkout with the project's base and one image of its own."""

    root: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.root / "images" / self.name

    def bench(self, *args: str) -> subprocess.CompletedProcess[str]:
        """``bench images`` in a process of its own, at 80 columns, without a terminal."""
        code = "from runner.commands import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "images", *args],
            cwd=ROOT,
            env={
                **os.environ,
                "BENCH_ROOT": str(self.root),
                "BENCH_LEASES": str(self.root / "leases"),
                "COLUMNS": "80",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )

    def rows(self) -> list[dict[str, Any]]:
        """What is listed of its image."""
        done = self.bench("list", "--format", "json")
        assert done.returncode == 0, done.stderr
        return [row for row in json.loads(done.stdout) if row["name"] == self.name]

    def states(self) -> list[tuple[str, str]]:
        return [(row["model"], row["state"]) for row in self.rows()]


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    found = engine_api.connect()
    yield found
    found.close()


@pytest.fixture
def checkout(tmp_path: Path, client: docker.DockerClient) -> Iterator[Checkout]:
    shutil.copytree(ROOT / "images/base", tmp_path / "images/base")
    made = Checkout(tmp_path, f"test-{uuid.uuid4().hex[:12]}")
    made.folder.mkdir()
    write(made.folder, "RUN echo $MODEL >/model && bench-seal")
    (made.folder / "system.toml").write_text(SYSTEM)
    yield made
    for one in built(client):
        if one.name == made.name:
            client.api.remove_image(one.id, force=True)


def write(folder: Path, line: str) -> None:
    head = "ARG BENCH_BASE\nFROM ${BENCH_BASE}\nARG MODEL=small\n"
    (folder / "Dockerfile").write_text(f"{head}{line}\n")


def test_images_are_built_listed_grow_old_and_are_removed(
    checkout: Checkout, client: docker.DockerClient
) -> None:
    name = checkout.name
    assert checkout.states() == [("small", "not built"), ("large", "not built")]

    done = checkout.bench("build", name, "--model", "large")
    assert done.returncode == 0, done.stderr
    tag = done.stdout.strip()
    assert tag.startswith(f"memory-bench/{name}:")
    assert "[2/2] RUN echo" in done.stderr
    assert f"{name}: built in " in done.stderr
    assert "is not redistributable: it is a test's" in done.stderr
    (_, large) = checkout.rows()
    assert (large["state"], large["tags"]) == ("current", [tag])
    assert (large["redistributable"], large["restriction"]) == (False, "it is a test's")
    assert large["id"] == client.api.inspect_image(tag)["Id"]
    assert large["bytes"] > 1_000_000

    again = checkout.bench("build", name, "--model", "large", "--quiet")
    assert (again.returncode, again.stdout.strip()) == (0, tag)
    assert f"{name}: was there" in again.stderr

    table = checkout.bench("list")
    assert max(map(len, table.stdout.splitlines())) <= 80
    told = " ".join(table.stdout.split())
    assert f"{name} is not redistributable: it is a test's" in told
    assert f"{name} can be built with --model small, large" in told
    assert f"{name} large {large['id'][7:19]}" in told

    (checkout.folder / "more").write_text("")
    assert checkout.states() == [("small", "not built"), ("large", "not built"), ("large", "old")]
    used = client.api.create_container(tag, command=["true"])["Id"]
    try:
        kept = checkout.bench("prune", name, "--yes")
        assert (kept.returncode, kept.stdout) == (0, f"kept {tag}: a container is made of it\n")
        asked = checkout.bench("prune", name)
        assert (asked.returncode, asked.stdout) == (8, "")
        assert "Add --yes" in asked.stderr
    finally:
        client.api.remove_container(used, force=True)
    gone = checkout.bench("prune", name, "--yes")
    assert (gone.returncode, gone.stdout) == (0, f"removed {tag}\n"), gone.stderr
    assert checkout.states() == [("small", "not built"), ("large", "not built")]
    nothing = checkout.bench("prune", name, "--yes")
    assert (nothing.returncode, nothing.stdout) == (0, "No image is old.\n")
    unknown = checkout.bench("prune", "nothing", "--yes")
    assert unknown.returncode == 2


def test_what_is_current_is_not_pruned_and_strange_names_are_respected(
    checkout: Checkout, client: docker.DockerClient
) -> None:
    first = checkout.bench("build", checkout.name, "--quiet").stdout.strip()
    strange = f"strange-{checkout.name}:1"
    client.api.tag(first, *strange.split(":"))
    try:
        (checkout.folder / "more").write_text("")
        second = checkout.bench("build", checkout.name, "--quiet").stdout.strip()
        done = checkout.bench("prune", checkout.name, "--yes")
        assert done.stdout == f"removed {first}\n"
        done = checkout.bench("prune", checkout.name, "--yes")
        assert done.stdout == "No image is old.\n"
        assert client.api.inspect_image(strange)
        assert client.api.inspect_image(second)
    finally:
        client.api.remove_image(strange)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("the very reason", "`bench doctor` checks what builds need."),
        (
            "ConnectError: huggingface.co: Name or service not known",
            "The hub that the model large comes from could not be reached.",
        ),
    ],
)
def test_a_build_that_fails_shows_why_and_what_to_do(
    checkout: Checkout, said: str, hint: str
) -> None:
    write(checkout.folder, f"RUN echo '{said}' >&2; exit 3")
    done = checkout.bench("build", checkout.name, "--model", "large")
    assert (done.returncode, done.stdout) == (6, "")
    assert f"\n  {said}\n" in done.stderr
    assert f"next:  {hint}" in done.stderr
    assert checkout.states() == [("small", "not built"), ("large", "not built")]


def test_nothing_is_pruned_while_a_bench_runs(
    checkout: Checkout, holding: Callable[[Path], None]
) -> None:
    holding(checkout.root / "leases")
    done = checkout.bench("prune", checkout.name, "--yes")
    assert done.returncode == 6
    assert "A bench is running" in done.stderr


@pytest.fixture
def holding() -> Iterator[Callable[[Path], None]]:
    """Takes a lease in a folder, as a bench that runs does."""
    from runner.runs.sandbox import Domain

    leases = []
    yield lambda folder: leases.append(Domain.at(folder).take())
    for lease in leases:
        lease.release()
