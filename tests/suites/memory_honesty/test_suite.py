from datetime import date
from pathlib import Path

import pytest

from runner.model import Outcome
from runner.suites.memory_honesty import load_exam, score
from runner.suites.memory_honesty.suite import MemoryHonesty
from runner.suites.suite import Material
from tests.suites.memory_honesty._kit import answered, exam, run, vault, write

SUITE = MemoryHonesty()


@pytest.fixture
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "fixtures" / "honesty"
    home.mkdir(parents=True)
    write(home)
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))


def test_what_runs_and_reports_are_told_of_it() -> None:
    assert (SUITE.name, SUITE.title, SUITE.verbs) == (
        "memory-honesty",
        "Memory honesty",
        ("index", "ask"),
    )
    assert SUITE.kinds(exam("dev2")) == ("dev2",)


def test_a_run_from_its_steps_to_its_verdict() -> None:
    asked = exam("dev")
    material = Material(steps=answered(asked))
    results = SUITE.check(asked, "dev", material)
    assert [one.version for one in results] == [1]
    assert SUITE.ending(results, 1).outcome is Outcome.PASSED
    assert [one.id for one in SUITE.observe(asked, "dev", material)] == ["outcomes", "wrong"]
    assert SUITE.score(asked, [run(asked)], 1, {"dev": 1}) == score(asked, [run(asked)])


@pytest.mark.usefixtures("_own")
def test_a_saved_exam_is_compared_with_the_same_form_of_the_projects_own() -> None:
    for asked in (
        load_exam("dev", marker="prose", top_k=3, seed=2),
        load_exam("heldout", told=True),
        load_exam("heldout").public(),
    ):
        assert SUITE.known(asked) == asked
        assert SUITE.steps(asked, asked.set, 1) if asked.questions else True
    assert SUITE.known(exam("dev").model_copy(update={"set": "theirs"})) is None


@pytest.mark.usefixtures("_own")
def test_a_bench_without_the_vault_knows_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "fixtures" / "honesty" / "vault1.sha256").unlink()
    assert SUITE.known(exam("dev")) is None


def test_digests_are_of_what_a_system_is_given() -> None:
    asked = exam("dev")
    assert SUITE.digests(asked) == {
        "honesty/vault1": vault().sha256,
        "honesty/dev.jsonl": asked.set_sha256,
    }
    other = asked.model_copy(update={"marker": "link", "vault_sha256": vault("link").sha256})
    assert SUITE.digests(other)["honesty/vault1 (link)"] == vault("link").sha256


def test_the_first_words_are_a_question_where_there_is_one() -> None:
    assert SUITE.first_words(exam("dev")) == ("", "什么时候发布？")
    assert SUITE.first_words(exam("heldout").public()) == ("", "")


def test_what_sets_runs_apart_from_the_published_ones() -> None:
    today = date(2026, 12, 1)
    (always,) = SUITE.apart(exam("dev"), "now", today)
    assert "our own" in always
    changed = exam("dev", top_k=1, told=True).model_copy(update={"marker": "prose"})
    assert len(SUITE.apart(changed, "now", today)) == 4
