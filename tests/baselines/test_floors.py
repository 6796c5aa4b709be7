"""Floors as they are written down: from sets as they are, and picked again where that is quick."""

import tomllib

import pytest
from baselines_driver import floors
from baselines_driver.asking import asked
from baselines_driver.methods import make
from baselines_driver.pages import handed
from baselines_driver.settings import FLOORS_FROM, Settings

from runner.suites.memory_honesty import Answer, floor, grades, load_exam, pick_floor, steps
from runner.suites.memory_honesty.questions import DEVELOPMENT

WRITTEN = tomllib.loads(floors.FILE.read_text())["picked"]


def test_they_come_from_development_sets() -> None:
    assert set(WRITTEN) == set(floors.SETS) <= set(DEVELOPMENT)
    assert FLOORS_FROM == "dev3"
    for name, searches in WRITTEN.items():
        exam = load_exam(name)
        assert set(searches) == {"bm25", "dense"}
        for found in searches.values():
            assert found["set_sha256"] == exam.set_sha256
            assert found["vault_sha256"] == exam.vault_sha256
            assert found["questions"] == exam.size


@pytest.mark.parametrize("name", floors.SETS)
def test_full_text_has_the_floor_that_the_rule_picks(name: str) -> None:
    exam = load_exam(name)
    method = make(Settings(method="bm25-rules", floor=0), {})
    first, *questions = steps(exam, name, 1)
    method.index(handed(first.payload))
    given = []
    for step in questions:
        result = method.ask(asked(step.payload, False)).result()
        given.append(
            Answer(
                question=step.name.removeprefix("ask "),
                cited=tuple(page["name"] for page in result["pages"]),
                scores=tuple(page["score"] for page in result["pages"]),
                refused=result["refused"],
            )
        )
    picked = pick_floor(exam, given)
    written = WRITTEN[name]["bm25"]
    assert picked == floors.baked("bm25", name) == written["floor"]
    found = grades(exam, floor(given, picked))
    assert sum(one.right for one in found) == written["right"]
    assert sum(one.wrong for one in found) == written["wrong"]
