"""The one thing that held-out figures are held to: the router is not worse than plain full text.

Aggregates alone are computed here; no question, and no answer to one, is shown.
"""

import json
from pathlib import Path
from typing import Any, Protocol

import pytest
from baselines_driver.driver import Driver as Baselines
from page_router.driver import Driver as Router

from runner.model import StepRecord
from runner.suites.memory_honesty import answers, grades, load_exam, steps

pytestmark = pytest.mark.slow


class Driver(Protocol):
    def answer(self, line: bytes) -> dict[str, Any]: ...


def behaved(driver: Driver, name: str) -> tuple[int, int]:
    """Right citations and right refusals, and wrong citations."""
    exam = load_exam(name)
    records = []
    for number, step in enumerate(steps(exam, name, 1), 1):
        line = json.dumps({"id": number, "verb": step.verb, **step.payload}).encode()
        reply = driver.answer(line)
        assert reply["ok"], "a verb failed"
        records.append(
            StepRecord(name=step.name, verb=step.verb, seconds=0.0, result=reply["result"])
        )
    found = grades(exam, answers(exam, records))
    return sum(grade.behaved for grade in found), sum(grade.wrong for grade in found)


@pytest.mark.parametrize("name", ["heldout", "heldout2", "heldout3"])
def test_the_router_is_not_worse_than_full_text_that_always_answers(
    name: str, tmp_path: Path
) -> None:
    def env(method: dict[str, str]) -> dict[str, str]:
        home = tmp_path / (method.get("method") or "router")
        home.mkdir()
        settings = json.dumps({"model": "none", "pins": {}, "options": method})
        return {"HOME": str(home), "BENCH_SETTINGS": settings}

    router = behaved(Router(env({})), name)
    plain = behaved(Baselines(env({"method": "bm25"})), name)
    assert router[0] >= plain[0]
    assert router[1] <= plain[1]
