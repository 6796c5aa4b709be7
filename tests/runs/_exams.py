"""Exams as a user would ask for them, also of a memory that takes notes while it indexes."""

from typing import Any

from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import load_exam
from runner.systems.catalog import System, load


def taking_notes(**fields: Any) -> System:
    """A system that calls a model while it indexes."""
    return load("router").model_copy(update={"ingestion": "learning", **fields})


def exam_of(system: System, name: str = "dev", **fields: Any) -> Protocol:
    """A protocol of one run of a set; fields in its place, those of the exam as ``exam``."""
    exam = load_exam(name, **fields.pop("exam", {}))
    usual: dict[str, Any] = {
        "case": exam,
        "system": system,
        "arm": "scripted",
        "model": "claude-sonnet-5-5",
        "runs": {name: 1},
        "clock": Clock("now"),
    }
    return Protocol(**{**usual, **fields})
