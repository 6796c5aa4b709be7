"""linkedparticles itself, installed out of its lock. Minutes, and only where it is asked for:
``pytest -m particles``.
"""

import json
import subprocess
import sys
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


@pytest.fixture(scope="session")
def particles() -> Installed:
    """The installation: made where there is none."""
    if FAKETIME is None:
        pytest.skip("libfaketime is not installed")
    said = subprocess.run(
        [sys.executable, "scripts/particles_venv.py"],
        cwd=root(),
        stdout=subprocess.PIPE,
        check=True,
    )
    where = json.loads(said.stdout)
    return Installed(Path(where["python"]), Path(where["hub"]))
