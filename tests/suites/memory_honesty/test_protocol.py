import json

import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import load_exam, make_exam, steps
from tests.suites.memory_honesty._kit import FILES, ROWS, exam, question_set, vault, write


def test_all_pages_are_handed_over_whole_then_every_question_is_asked() -> None:
    asked = exam("dev", top_k=3)
    first, *rest = steps(asked, "dev", 1, vault())
    assert (first.name, first.verb, first.day, first.snapshot) == ("index", "index", None, False)
    assert {page["name"]: page["text"] for page in first.payload["pages"]} == FILES
    assert {step.name for step in rest} == {f"ask {row['id']}" for row in ROWS}
    by_name = {step.name: step for step in rest}
    assert by_name["ask q003"].payload == {"question": ROWS[2]["q"], "top_k": 3}
    assert all((step.verb, step.day, step.snapshot) == ("ask", None, False) for step in rest)


def test_a_system_is_told_no_id_kind_or_answer() -> None:
    for step in steps(exam("dev"), "dev", 1, vault())[1:]:
        assert set(step.payload) == {"question", "top_k"}
        assert not any(word in json.dumps(dict(step.payload)) for word in ("q00", "gold"))


def test_the_right_pages_are_told_only_where_the_exam_says_so() -> None:
    by_name = {step.name: step.payload for step in steps(exam("dev", told=True), "dev", 1, vault())}
    assert by_name["ask q004"]["gold"] == ROWS[3]["gold"]
    assert by_name["ask q005"]["gold"] == []


def test_orders_are_shuffled_the_same_everywhere_and_questions_anew_in_every_run() -> None:
    asked = exam("dev")
    names = [[step.name for step in steps(asked, "dev", run, vault())] for run in (1, 1, 2)]
    assert names[0] == names[1] != names[2]
    assert names[0] == ["index", *(f"ask q00{number}" for number in (2, 1, 3, 5, 6, 4))]
    assert names[0][1:] != sorted(names[0][1:])
    pages = [
        [page["name"] for page in steps(one, "dev", run, vault())[0].payload["pages"]]
        for one, run in ((asked, 1), (asked, 2), (exam("dev", seed=1), 1))
    ]
    assert pages[0] == pages[1] != pages[2]
    assert pages[0] != sorted(pages[0])
    other = [step.name for step in steps(exam("dev", seed=1), "dev", 1, vault())]
    assert other != names[0]


def test_a_vault_of_the_marker_is_handed_over() -> None:
    asked = make_exam(question_set("dev"), vault("link"))
    (first, *_) = steps(asked, "dev", 1, vault("link"))
    assert not any("status:" in page["text"] for page in first.payload["pages"])


def test_what_cannot_be_asked() -> None:
    asked = exam("dev")
    with pytest.raises(UsageError, match="'dev2' is not asked here"):
        steps(asked, "dev2", 1, vault())
    with pytest.raises(UsageError, match="no run 0"):
        steps(asked, "dev", 0, vault())
    with pytest.raises(UsageError, match="not the one"):
        steps(asked, "dev", 1, vault("prose"))
    with pytest.raises(UsageError, match="held out"):
        steps(exam("heldout").public(), "heldout", 1, vault())


def test_the_projects_own_vault_is_taken_when_none_is_given(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path_factory.mktemp("root")
    home = root / "fixtures" / "honesty"
    home.mkdir(parents=True)
    write(home)
    monkeypatch.setenv("BENCH_ROOT", str(root))
    asked = load_exam("heldout2", marker="prose")
    assert steps(asked, "heldout2", 1) == steps(asked, "heldout2", 1, vault("prose"))
