"""Two reports, laid beside each other as the command does it."""

from pathlib import Path
from typing import Any, TypeVar

import pytest

from runner.faults import load_fault
from runner.reports import compare as comparing
from runner.reports import files
from runner.reports.compare import Comparison, Way
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.reports.sheet import Sheet
from tests.reports.conftest import produced

C = TypeVar("C")


def beside(a: Report, b: Report, version: int | None = None) -> Comparison:
    """B beside A, both verified."""
    verify(a)
    verify(b)
    return comparing.compare(a, b, checks_version=version)


def case_of(report: Report, of: type[C]) -> C:
    """What it is about, by its own noun."""
    assert isinstance(report.case, of)
    return report.case


def sheet(found: Comparison, name: str) -> Sheet:
    """One of its sheets."""
    return next(one for one in comparing.sheets(found) if one.name == name)


def texts(found: Comparison, name: str) -> list[tuple[str, ...]]:
    """What stands in one of its sheets."""
    return [tuple(cell.text for cell in row) for row in sheet(found, name).rows]


def ways(found: Comparison) -> dict[Way, int]:
    """How many findings there are of each kind."""
    return {way: found.count(way) for way in Way}


@pytest.fixture(scope="session")
def homes(
    originals: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Report]:
    """The reader's case as it should be, once more (other ids), and on a model that never learns
    of a home."""
    folder = tmp_path_factory.mktemp("homes")
    fault = load_fault("learns-nothing-of-the-home")

    def made(name: str, **more: Any) -> Report:
        produced(folder / name, folder / f"{name}.json", **more)
        return files.load(folder / f"{name}.json")

    path = Path(folder / "original.json")
    path.write_bytes(originals["reader"])
    return {
        "good": files.load(path), "again": made("again"), "homeless": made("homeless", fault=fault)
    }  # fmt: skip
