"""What several endings come to as one exit code."""

from pathlib import Path

import pytest

from runner.commands._exit import code_of
from runner.faults import load_fault
from runner.model import Outcome, RunRecord
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.suites.update_gate import load_gate, score
from tests.fixtures._gate import Probed
from tests.reports.conftest import produced

pytestmark = pytest.mark.slow


def gate_report(folder: Path, sets: list[str], fault: str) -> Report:
    """A report of the update gate on a model with a fault, its runs probed in this process."""
    gate = load_gate(sets)
    asked = Probed(gate, fault=load_fault(fault, suite="update-gate"))
    runs: tuple[RunRecord, ...] = tuple(
        asked.run(name, index) for name in sets for index in range(1, gate.samples + 1)
    )
    folder.mkdir(exist_ok=True)
    blank = produced(folder / "boxes", folder / "report.json", runs={"move": 1}, clock=Clock("now"))
    return blank.model_copy(
        update={
            "suite": "update-gate",
            "case": gate,
            "planned": (),
            "runs": runs,
            "verdict": score(gate, runs),
        }
    )


def test_the_bar_of_the_update_gate_forgives_a_sample(tmp_path: Path) -> None:
    report = gate_report(tmp_path, ["held-out"], "misses-a-dose")
    assert {run.ending.outcome for run in report.runs} == {Outcome.FAILED}
    assert code_of(report) == 0


def test_it_does_not_forgive_two(tmp_path: Path) -> None:
    assert code_of(gate_report(tmp_path, ["held-out"], "misses-a-dose-and-a-salary")) == 1
    assert code_of(gate_report(tmp_path / "dev", ["development"], "misses-a-rent")) == 1
