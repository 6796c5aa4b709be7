"""Real reports: runs of the engine's own code on threads, with no part of a report made up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.reports import integrity
from runner.reports.produce import Expected, produce
from runner.reports.schema import Report
from runner.runs.keep import Keep
from runner.runs.watch import Unwatched
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import PRICES, place, protocol

Make = Callable[..., Report]
Document = dict[str, Any]


def produced(folder: Path, output: Path, case: str = "reader", **fields: Any) -> Report:
    """A report of a protocol, written to ``output``."""
    sandbox = fields.pop("sandbox", None) or MemorySandbox(folder)
    resume, workers = fields.pop("resume", None), fields.pop("workers", 4)
    return produce(
        protocol(case, **fields),
        PRICES,
        place(sandbox),
        output=output,
        workers=workers,
        watch=Unwatched(),
        keep=Keep(None),
        expected=Expected(PRICES.models["claude-sonnet-5-5"].input, "of a test"),
        resume=resume,
    )


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The published protocol of both cases, as saved."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for case in ("reader", "mid-trip"):
        output = folder / f"{case}.json"
        produced(folder / case, output, case)
        found[case] = output.read_bytes()
    return found


@pytest.fixture
def reader(originals: dict[str, bytes], tmp_path: Path) -> Path:
    """A saved report of the reader's case."""
    path = tmp_path / "reader.json"
    path.write_bytes(originals["reader"])
    return path


@pytest.fixture
def mid_trip(originals: dict[str, bytes], tmp_path: Path) -> Path:
    """A saved report of the mid-trip case."""
    path = tmp_path / "mid-trip.json"
    path.write_bytes(originals["mid-trip"])
    return path


@pytest.fixture
def forge() -> Callable[[Path, Callable[[Document], object]], None]:
    """Changes a saved report and makes its digests anew, as a forger would."""

    def change(path: Path, how: Callable[[Document], object]) -> None:
        document = orjson.loads(path.read_bytes())
        before = orjson.dumps(document)
        how(document)
        assert orjson.dumps(document) != before, "nothing was changed"
        document[integrity.OWN_FIELD] = integrity.digests(document)
        path.write_bytes(orjson.dumps(document))
        assert integrity.altered(document) == ()

    return change
