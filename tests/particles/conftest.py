"""linkedparticles itself, installed out of its lock. Minutes, and only where it is asked for:
``pytest -m particles``.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.paths import root
from tests.particles._run import FAKETIME, Installed

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave these tests out unless the marker is named."""
    if "particles" in (config.getoption("markexpr") or ""):
        return
    ours = [item for item in items if HERE in item.path.parents]
    items[:] = [item for item in items if item not in ours]
    if ours:
        config.hook.pytest_deselected(items=ours)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where a run lies: in memory where there is such a place, as in a system's container. On a
    busy disk the engine's migrations alone take half a minute.
    """
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="particles-", dir=memory) as made:
        yield Path(made)


@pytest.fixture(scope="session")
def particles() -> Installed:
    """The installation: made where there is none."""
    return installed()


@pytest.fixture(scope="session")
def older_particles() -> Installed:
    """The first release with both cases."""
    return installed("--version", "1.192.2")


def installed(*options: str) -> Installed:
    """What ``scripts/particles_venv.py`` made, or makes."""
    if FAKETIME is None:
        pytest.skip("libfaketime is not installed")
    said = subprocess.run(
        [sys.executable, "scripts/particles_venv.py", *options],
        cwd=root(),
        stdout=subprocess.PIPE,
        check=True,
    )
    where = json.loads(said.stdout)
    return Installed(Path(where["python"]), Path(where["hub"]))
