from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from baselines_driver import nearness
from baselines_driver.methods import METHODS

from tests.baselines.conftest import PAGES, Asked

Made = Callable[..., Asked]
RELEASE, OLD = "Rules/Release.md", "Rules/Release 2025.md"
RULED = ("bm25-rules", "dense-rules", "agree")


def test_full_text_answers_whatever_it_finds_a_word_of(indexed: Made) -> None:
    bm25 = indexed(method="bm25")
    found = bm25.ask("When does a release go out on Monday?")
    assert [page["name"] for page in found["pages"]][:2] == [OLD, RELEASE]
    assert found["refused"] is False
    assert bm25.cited("报销在几天内提交？") == ["报销.md"]
    assert bm25.cited("the", 1) == ["Office.md"]
    nothing = bm25.ask("zebra?")
    assert (nothing["pages"], nothing["refused"]) == ([], True)
    assert "no page holds" in nothing["receipt"]["why"]


def test_with_rules_replaced_pages_are_left_out(indexed: Made) -> None:
    ruled = indexed(method="bm25-rules", floor=0)
    assert ruled.cited("When does a release go out on Monday?")[0] == RELEASE
    assert ruled.result("describe")["settings"]["leaves_out_replaced"] is True
    assert OLD not in indexed(method="dense-rules", floor=0).cited("release", 100)
    assert OLD in indexed(method="dense").cited("release", 100)


def test_a_first_score_below_the_floor_is_a_refusal_and_at_it_is_not(indexed: Made) -> None:
    question = "Where is the office?"
    first, *_ = indexed(method="bm25-rules", floor=0).ask(question)["pages"]
    at = indexed(method="bm25-rules", floor=first["score"]).ask(question)
    assert at["pages"][0] == first
    above = indexed(method="bm25-rules", floor=first["score"] + 1e-5).ask(question)
    assert (above["pages"], above["refused"]) == ([], True)
    assert above["receipt"]["best"] == first
    assert above["receipt"]["why"] == "below the floor"


def test_a_floor_can_be_given_to_one_that_has_none(indexed: Made) -> None:
    assert indexed(method="bm25", floor=1000).ask("release")["refused"]
    assert indexed(method="bm25").result("describe")["settings"]["floor"] is None


def test_nearness_always_answers(indexed: Made) -> None:
    dense = indexed(method="dense")
    found = dense.ask("zebra?", 3)["pages"]
    assert len(found) == 3
    scores = [page["score"] for page in found]
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1 for score in scores)
    text = PAGES[2]["text"].removeprefix("# ")
    assert dense.ask(text, 1)["refused"] is False


@pytest.mark.parametrize(
    ("floor", "floor_dense", "why"),
    [(0, 0, "both put it first"), (1000, 0, "below a floor"), (0, 1, "below a floor")],
)
def test_two_agree_above_both_floors(
    indexed: Made, floor: float, floor_dense: float, why: str
) -> None:
    # With one page to find there is nothing to disagree about.
    made = indexed(method="agree", floor=floor, floor_dense=floor_dense)
    first = indexed(method="dense-rules", floor=0).cited("office river", 1)[0]
    text = {page["name"]: page["text"] for page in PAGES}[first]
    answer = made.ask("office river" if first == "Office.md" else text)
    assert answer["receipt"]["why"] == why
    assert answer["refused"] == (why == "below a floor")
    assert [page["name"] for page in answer["pages"]] == ([] if answer["refused"] else [first])
    assert answer["receipt"]["full text"]["floor"] == floor
    assert answer["receipt"]["nearness"]["floor"] == floor_dense


def test_two_that_disagree_refuse(indexed: Made) -> None:
    agree = indexed(method="agree", floor=0, floor_dense=0)
    by_words, by_meaning = indexed(method="bm25"), indexed(method="dense-rules", floor=0)
    seen = set()
    for question in ("office", "release", "报销", "Tuesday river", "Pune spring"):
        firsts = {by_words.cited(question, 1)[0], by_meaning.cited(question, 1)[0]}
        answer = agree.ask(question)
        if OLD not in firsts:
            assert answer["refused"] == (len(firsts) > 1)
        seen.add(answer["receipt"]["why"])
    assert "they put different pages first" in seen
    assert agree.ask("zebra")["receipt"]["why"] == "no page holds a word of the question"


def test_who_always_refuses_does(indexed: Made) -> None:
    refuser = indexed(method="always-refuse")
    for question in ("release", "zebra"):
        answer = refuser.ask(question)
        assert (answer["pages"], answer["refused"]) == ([], True)


def test_the_oracle_cites_what_it_is_told(indexed: Made) -> None:
    oracle = indexed(method="oracle")
    answer = oracle.ask("release?", gold=[RELEASE, "Office.md", RELEASE])
    assert [page["name"] for page in answer["pages"]] == [RELEASE, "Office.md"]
    assert [page["score"] for page in answer["pages"]] == [1.0, 1.0]
    assert len(oracle.ask("release?", 1, gold=[RELEASE, "Office.md"])["pages"]) == 1
    refusal = oracle.ask("zebra?", gold=[])
    assert (refusal["pages"], refusal["refused"]) == ([], True)
    wrongs: tuple[dict[str, Any], ...] = (
        {},
        {"gold": None},
        {"gold": RELEASE},
        {"gold": [1]},
        {"gold": ["no page"]},
    )
    for wrong in wrongs:
        kind, _ = oracle.error("ask", question="release?", top_k=1, **wrong)
        assert kind == "bad_request"


@pytest.mark.parametrize("method", [name for name in METHODS if name != "oracle"])
def test_nobody_else_may_be_told(indexed: Made, method: str) -> None:
    kind, message = indexed(method=method).error("ask", question="release", top_k=1, gold=[RELEASE])
    assert kind == "bad_request"
    assert "not told" in message


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_pages_changes_nothing(system: Made, method: str) -> None:
    told: dict[str, Any] = {"gold": [RELEASE]} if method == "oracle" else {}
    answers = []
    for pages in (PAGES, PAGES[::-1]):
        made = system(method=method)
        made.result("index", pages=pages)
        answers.append([made.ask(q, **told) for q in ("the release", "office", "报销在", "zebra")])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_indexed_is_a_failure_and_no_refusal(system: Made, method: str) -> None:
    told: dict[str, Any] = {"gold": []} if method == "oracle" else {}
    made = system(method=method)
    kind, message = made.error("ask", question="release", top_k=1, **told)
    assert (kind, "nothing is indexed" in message) == ("degraded", True)
    assert made.error("index", pages=[])[0] == "degraded"
    assert made.error("ask", question="release", top_k=1, **told)[0] == "degraded"
    # It is not broken by that.
    made.result("index", pages=PAGES)
    made.ask("release", **told)
    assert made.error("index", pages=PAGES)[0] == "bad_request"


@pytest.mark.parametrize("method", RULED)
def test_pages_that_were_all_replaced_are_a_failure(system: Made, method: str) -> None:
    made = system(method=method)
    kind, message = made.error("index", pages=PAGES[1:2])
    assert (kind, "all were replaced" in message) == ("degraded", True)
    assert made.error("ask", question="release", top_k=1)[0] == "degraded"


@pytest.mark.parametrize("method", ["dense", "dense-rules", "agree"])
def test_a_missing_encoder_is_a_failure_of_every_verb(
    system: Made, method: str, tmp_path: Path
) -> None:
    made = system(method=method)
    made.driver._env = {**made.driver._env, nearness.MODEL: str(tmp_path / "none")}
    made.driver.warm()
    for verb, payload in (
        ("describe", {}),
        ("index", {"pages": PAGES}),
        ("ask", {"question": "release", "top_k": 1}),
    ):
        kind, message = made.error(verb, **payload)
        assert (kind, "weights" in message) == ("degraded", True)


def test_a_missing_package_is_one_too(system: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "PACKAGE", "no_such_package")
    made = system(method="dense")
    made.driver._env = {k: v for k, v in made.driver._env.items() if k != nearness.MODEL}
    assert made.error("describe")[0] == "degraded"


def test_an_encoder_that_is_another_is_one_too(
    system: Made, monkeypatch: pytest.MonkeyPatch, model_file: Path
) -> None:
    monkeypatch.setattr(nearness, "_packaged", lambda: model_file)
    made = system(method="dense")
    made.driver._env = {k: v for k, v in made.driver._env.items() if k != nearness.MODEL}
    kind, message = made.error("describe")
    assert (kind, "near, not" in message) == ("degraded", True)
