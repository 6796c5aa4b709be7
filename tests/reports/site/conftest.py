"""Reports of every suite, as files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.reports.files import save
from runner.reports.produce import blank
from runner.reports.rescore import verdict
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.suites.update_gate import load_gate
from runner.systems.catalog import load
from tests.fixtures._gate import Probed
from tests.reports import _honesty, _learning
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place
from tests.suites.memory_honesty._kit import exam


def gated(folder: Path) -> Report:
    """A report of one set, two of whose samples were run."""
    gate = load_gate(["past-values"])
    protocol = Protocol(
        case=gate,
        system=load("engine"),
        arm="scripted",
        model="claude-sonnet-5-5",
        runs={"past-values": 3},
        clock=Clock("now"),
        options={"same_slot_admits": True},
    )
    probed = Probed(gate)
    runs = tuple(
        probed.run("past-values", spec.index).model_copy(update={"spec": spec})
        for spec in specs(protocol)[:2]
    )
    partly = blank(protocol, place(MemorySandbox(folder))).model_copy(update={"runs": runs})
    return partly.model_copy(update={"verdict": verdict(partly, runs, 1)})


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Saved reports of the suites without a store, one of them half written."""
    folder = tmp_path_factory.mktemp("others")
    made: dict[str, Callable[[], Report]] = {
        "gate": lambda: gated(folder),
        "dev": lambda: _honesty.report(exam("dev")),
        "heldout": lambda: _honesty.report(exam("heldout")),
        "lesson": _learning.report,
    }
    for name, make in made.items():
        save(make(), folder / f"{name}.json")
    return tuple(folder / f"{name}.json" for name in made)
