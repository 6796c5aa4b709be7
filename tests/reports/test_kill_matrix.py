from pathlib import Path

import pytest

from runner.faults import load_faults
from runner.paths import root
from runner.reports.kill_matrix import Sighting, markdown
from runner.suites.trip_vs_move import KINDS, ending, load_case
from tests.fixtures._run import Run

pytestmark = pytest.mark.slow

PAGE = root() / "docs" / "kill-matrix.md"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Sighting]:
    """Every fault in every case, on the engine's own code and tables, without containers."""
    found = []
    for fault in load_faults():
        for name in fault.cases:
            for kind in KINDS:
                run = Run(tmp_path_factory.mktemp("run"), load_case(name), kind, fault=fault)
                found.append(
                    Sighting(fault.name, name, kind, ending(run.results), tuple(run.results))
                )
    return found


def test_the_page_is_what_the_engine_and_the_checks_come_to(seen: list[Sighting]) -> None:
    assert markdown(load_faults(), seen) == PAGE.read_text()


def test_every_check_catches_a_fault(seen: list[Sighting]) -> None:
    assert frozenset().union(*(sighting.broken for sighting in seen)) == {
        "known", "i", "ii", "iii", "iv", "a", "b"
    }  # fmt: skip


def test_a_fault_that_nothing_catches_is_named() -> None:
    page = PAGE.read_text()
    missed = page.partition("## What no check catches")[2].partition("## The faults")[0]
    rows = [line for line in page.splitlines() if line.endswith("| **no** |")]
    assert rows, "the page is not a matrix"
    for row in rows:
        assert row.removeprefix("| [").partition("](")[0] in missed


def test_the_page_says_how_it_is_made() -> None:
    assert "`bench kill-matrix`" in Path(PAGE).read_text()
