"""linkedparticles' own scoring, asked beside ours. Only where it is asked for: ``-m particles``.

``DIFFERENCE_SCALE=20`` compares twenty times as much.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.difference._theirs import Theirs

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
def scale() -> int:
    """How many times the usual number is compared."""
    return int(os.environ.get("DIFFERENCE_SCALE", "1"))


@pytest.fixture(scope="session", params=[None, "1.192.2"], ids=["newest", "1.192.2"])
def theirs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Theirs]:
    """Their scoring, as a process of its own in their own environment: the version that is
    measured, and the first release with both cases."""
    options = ("--version", request.param) if request.param else ()
    with Theirs.started(sys.executable, options, tmp_path_factory.mktemp("theirs")) as made:
        yield made
