"""Two real reports, and repositories made of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.reports.history import lives, write
from runner.reports.schema import Report
from tests.reports.history._git import AUTHOR

Repository = Callable[..., Path]


@pytest.fixture(scope="module")
def reader(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["reader"])


@pytest.fixture(scope="module")
def mid_trip(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["mid-trip"])


@pytest.fixture(scope="module")
def life(reader: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's case as a repository."""
    folder = tmp_path_factory.mktemp("history") / "life"
    write(lives(reader), AUTHOR, folder)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    def make(found: Report, name: str = "life", run: str | None = None) -> Path:
        write(lives(found, run), AUTHOR, tmp_path / name)
        return tmp_path / name

    return make
