from pathlib import Path

import pytest
from memory_engine.errors import EngineError

from runner.faults import UPDATE_GATE, Fault, load_faults
from runner.model import Ending, Outcome, RunRecord
from runner.paths import root
from runner.reports.gate_matrix import GateSighting, gate_markdown
from runner.reports.kill_matrix import Sighting, markdown
from runner.suites.trip_vs_move import KINDS, ending, load_case
from runner.suites.update_gate import SETS, load_gate
from tests.fixtures._gate import Probed
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


@pytest.fixture(scope="module")
def gated() -> list[GateSighting]:
    """Every fault on every set of pairs, likewise."""
    return [
        GateSighting(fault.name, tuple(_sample(fault, name) for name in SETS))
        for fault in load_faults(suite=UPDATE_GATE)
    ]


def _sample(fault: Fault, name: str) -> RunRecord:
    gate = load_gate([name])
    try:
        return Probed(gate, fault=fault).run(name, 1)
    except EngineError as error:
        ended = Ending(outcome=Outcome.ERRORED, kind=error.type, detail=str(error))
        return Probed(gate).run(name, 1).model_copy(update={"ending": ended, "checks": ()})


def test_the_page_is_what_the_engine_and_the_checks_come_to(
    seen: list[Sighting], gated: list[GateSighting]
) -> None:
    page = [markdown(load_faults(), seen), gate_markdown(load_faults(suite=UPDATE_GATE), gated)]
    assert "\n".join(page) == PAGE.read_text()


def test_both_checks_catch_a_fault_of_every_set(gated: list[GateSighting]) -> None:
    caught = frozenset().union(*(sighting.broken for sighting in gated))
    assert caught == {(name, check) for name in SETS for check in ("updates", "controls")}


def test_every_check_catches_a_fault(seen: list[Sighting]) -> None:
    assert frozenset().union(*(sighting.broken for sighting in seen)) == {
        "known", "i", "ii", "iii", "iv", "a", "b"
    }  # fmt: skip


def test_a_fault_that_nothing_catches_is_named() -> None:
    page = PAGE.read_text()
    parts = page.split("# What no check")[1:]
    missed = "".join(part.partition("# The faults")[0] for part in parts)
    rows = [line for line in page.splitlines() if line.endswith("| **no** |")]
    assert rows, "the page is not a matrix"
    for row in rows:
        assert row.removeprefix("| [").partition("](")[0] in missed


def test_the_page_says_how_it_is_made() -> None:
    assert "`bench kill-matrix`" in Path(PAGE).read_text()
