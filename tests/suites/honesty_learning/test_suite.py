from datetime import date
from pathlib import Path

import pytest

from runner.model import Outcome
from runner.suites.honesty_learning import load_lesson, score
from runner.suites.honesty_learning.suite import HonestyLearning
from runner.suites.registry import suite_of
from runner.suites.suite import Material
from tests.suites.honesty_learning._kit import ROWS, both, lesson, taken, write_pairs

SUITE = HonestyLearning()


@pytest.fixture
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "fixtures" / "honesty"
    home.mkdir(parents=True)
    write_pairs(home)
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))


def test_what_runs_and_reports_are_told_of_it() -> None:
    assert (SUITE.name, SUITE.verbs) == ("honesty-learning", ("index", "ask", "learn"))
    assert SUITE.kinds(lesson()) == ("before", "after")
    assert suite_of(lesson()).name == SUITE.name
    assert SUITE.first_words(lesson()) == ("", min((row["week1"] for row in ROWS), key=len))
    assert SUITE.closed(lesson()) is None


def test_a_run_from_its_steps_to_its_verdict() -> None:
    asked = lesson()
    material = Material(steps=taken(asked, "after"))
    results = SUITE.check(asked, "after", material)
    assert [one.version for one in results] == [1]
    assert SUITE.ending(results, 1).outcome is Outcome.PASSED
    told = [one.id for one in SUITE.observe(asked, "after", material)]
    assert told == ["outcomes", "learned", "unproved"]
    plan = {"before": 1, "after": 1}
    assert SUITE.score(asked, both(asked), 1, plan) == score(asked, both(asked), plan)


@pytest.mark.usefixtures("_own")
def test_a_saved_lesson_is_compared_with_the_projects_own(tmp_path: Path) -> None:
    asked = load_lesson("vault1", top_k=3)
    assert SUITE.known(asked) == asked
    assert SUITE.steps(asked, "before", 1)
    (tmp_path / "fixtures" / "honesty" / "learn.toml").unlink()
    assert SUITE.known(asked) is None


def test_digests_are_of_what_a_system_is_given() -> None:
    asked = lesson()
    assert SUITE.digests(asked) == {
        "honesty/vault1": asked.vault_sha256,
        "honesty/learn.jsonl": asked.set_sha256,
    }


def test_what_sets_it_apart() -> None:
    today = date(2026, 12, 1)
    assert len(SUITE.apart(lesson(), "now", today)) == 1
    assert "3 pages may be cited, not 5." in SUITE.apart(lesson(top_k=3), "now", today)
