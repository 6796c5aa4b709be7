"""Engines that hold what reports are about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archive._kit import blank_report, hold_both, save
from tests.oci._engine import Engine, running


@pytest.fixture(params=[False, True], ids=["classic", "containerd"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One of each kind, with the images of a report."""
    with running(Engine(by_manifest=request.param)) as found:
        hold_both(found)
        yield found


@pytest.fixture
def classic() -> Iterator[Engine]:
    """The kind that calls images by their configs, with the images of a report."""
    with running(Engine()) as found:
        hold_both(found)
        yield found


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A saved report of no run yet."""
    return save(blank_report(), tmp_path / "report.json")
