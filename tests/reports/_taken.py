"""Reports of memories that took something: model calls, memory, several files in one note."""

from decimal import Decimal
from typing import Any

from runner.model import Call, RunRecord, Usage
from runner.reports.schema import Fixture, Report
from runner.runs.calls import by_purpose
from runner.runs.page_tables import table_name
from runner.suites.memory_honesty import Exam
from tests.reports._honesty import report


def call(seq: int, step: str = "index", usd: str = "0.01", **more: Any) -> Call:
    """An answered call."""
    usual: dict[str, Any] = {
        "seq": seq,
        "step": step,
        "purpose": "observation",
        "requested_model": "model-a",
        "served_model": "model-a",
        "outcome": "answered",
        "usage": Usage(input=10, output=5),
        "cost_usd": Decimal(usd),
        "prompt_sha256": "0" * 64,
    }
    return Call(**{**usual, **more})


def took(
    exam: Exam,
    *calls: Call,
    system: str = "router",
    scripted: bool = True,
    peak: int | None = 350_400_000,
    how: str = "the kernel's high-water mark (memory.peak)",
    indexed: dict[str, Any] | None = None,
    **more: Any,
) -> Report:
    """A report of a memory that calls a model while it indexes.

    Args:
        exam: what is asked.
        calls: of every run.
        system: whose report it is.
        scripted: whether its calls were answered from the page's own text.
        peak: the most memory there was.
        how: how that was measured.
        indexed: what the system says of its indexing beside the number of pages.
        more: as ``report`` takes.
    """
    made = report(exam, system=system, calls=calls, **more)
    runs = tuple(_ran(run, peak, how, indexed or {}) for run in made.runs)
    table = Fixture(name=f"scripted/{table_name(system, exam.vault)}", sha256="0" * 64)
    fixtures = (*made.fixtures, table) if scripted else made.fixtures
    return made.model_copy(update={"runs": runs, "fixtures": fixtures})


def _ran(run: RunRecord, peak: int | None, how: str, indexed: dict[str, Any]) -> RunRecord:
    steps = tuple(
        step.model_copy(update={"result": {**step.result, **indexed}})
        if step.verb == "index"
        else step
        for step in run.steps
    )
    return run.model_copy(
        update={
            "steps": steps,
            "peak_memory_bytes": peak,
            "peak_memory_how": how if peak is not None else "",
            "usage": by_purpose(run.calls),
            "cost_usd": sum((one.cost_usd for one in run.calls), Decimal(0)),
        }
    )
