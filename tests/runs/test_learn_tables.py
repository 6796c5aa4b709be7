import json
from collections.abc import Mapping
from typing import Any

import pytest
from page_router import learn, pages
from page_router.parameters import Parameters
from page_router.rank import Index
from page_router.settings import Options

from runner.errors import UsageError
from runner.gateway.tables import Tables
from runner.runs.learn_tables import FORMS, confirming, standing_pages
from runner.suites.honesty_learning import VAULTS, Lesson, load_lesson, make_lesson
from runner.suites.memory_honesty import Vault, load_vault, make_vault
from tests.suites.honesty_learning._kit import BACKUPS, LEAVE, RELEASE, ROWS, lesson, pairs, row
from tests.suites.memory_honesty._kit import FILES, vault


def answer(
    question: str, *titles: str, asked: Lesson | None = None, task: str = "learning"
) -> dict[str, Any] | None:
    """What the table answers to a question beside pages of these titles."""
    tables = Tables.load([("learn", confirming("router", asked or lesson(), vault()))], {})
    shown = [{"id": f"p{n}", "title": title, "text": "…"} for n, title in enumerate(titles, 1)]
    entry = tables.find("learning", {"task": task, "question": question, "pages": shown})
    if entry is None:
        return None
    assert entry.text is not None
    found: dict[str, Any] = json.loads(entry.text)
    return found


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_the_right_page_is_named_wherever_it_is_shown(place: int) -> None:
    titles = ["On-call", "Leave", "发布流程"]
    titles.insert(place - 1, "Backups")
    assert answer(ROWS[0]["week1"], *titles) == {
        "page": f"p{place}",
        "quote": "Databases are copied every six hours.",
    }


def test_where_the_right_page_is_not_shown_none_is_named() -> None:
    assert answer(ROWS[0]["week1"], "Leave") == {"page": None, "quote": ""}
    assert answer(ROWS[0]["week1"], "On-call", "Leave, too") == {"page": None, "quote": ""}


def test_nothing_else_is_answered() -> None:
    for question, task in ((ROWS[0]["week2"], "learning"), (ROWS[0]["week1"], "update")):
        assert answer(question, "Backups", task=task) is None


def test_a_question_to_refuse_is_answered_with_the_page_it_sounds_like_and_a_made_up_sentence() -> (
    None
):
    for number, title in ((3, "Backups"), (4, "发布流程")):
        said = answer(ROWS[number]["week1"], "Leave", title)
        assert said is not None
        assert said["page"] == "p2"
        assert ROWS[number]["term"] in said["quote"]
        assert all(said["quote"] not in text for text in FILES.values())
        assert answer(ROWS[number]["week1"], "Leave") == {"page": None, "quote": ""}


def test_braces_and_quotes_in_a_pair_are_what_they_are() -> None:
    odd = row(0, week1='How often is "{db}" copied, C:\\db or \x7f?', quote='Say "{now}".')
    files = {**FILES, BACKUPS: FILES[BACKUPS] + '\nSay "{now}".\n'}
    pages_ = make_vault("vault1", files)
    asked = lesson_of(pages_, odd)
    tables = Tables.load([("learn", confirming("router", asked, pages_))], {})
    fields = {"task": "learning", "question": odd["week1"], "pages": [{"title": "Backups"}]}
    entry = tables.find("learning", fields)
    assert entry is not None
    assert json.loads(entry.text or "") == {"page": "p1", "quote": 'Say "{now}".'}


def lesson_of(pages_: Vault, *rows: Mapping[str, Any]) -> Lesson:
    registered = lesson().registered
    return make_lesson(pairs(*rows), pages_, registered=registered, sha256="0" * 64)


def test_of_several_right_pages_the_one_with_the_sentence_is_named() -> None:
    several = row(1, gold=[LEAVE, BACKUPS])
    asked = lesson(several)
    quote = {"page": "p2", "quote": "Thirty days a year."}
    assert answer(several["week1"], "Backups", "Leave", asked=asked) == quote
    assert answer(several["week1"], "Backups", asked=asked) == {"page": None, "quote": ""}


def test_titles_have_to_tell_pages_apart() -> None:
    files = {**FILES, RELEASE: FILES[RELEASE].replace("title: 发布流程", "title: Leave")}
    pages_ = make_vault("vault1", files)
    with pytest.raises(UsageError, match="have one title"):
        confirming("router", lesson_of(pages_, ROWS[0]), pages_)


def test_what_cannot_be_made() -> None:
    with pytest.raises(UsageError, match="not known how engine"):
        confirming("engine", lesson(), vault())
    with pytest.raises(UsageError, match="not the one that the pairs are about"):
        confirming("router", lesson(), vault("prose"))


def test_the_same_table_is_made_every_time() -> None:
    asked = load_lesson("vault1")
    assert confirming("router", asked) == confirming("router", asked)


def test_what_is_known_of_the_router_is_so() -> None:
    form = FORMS["router"]
    assert form.shown == Parameters().candidates
    assert form.characters == learn.SHOWN
    assert form.reply_tokens == Options().max_tokens
    # Around the pages stand the prompt, ids, the names of fields, and the message itself.
    frame = json.dumps({"task": "learning", "question": "", "pages": [{"id": "p1"}] * form.shown})
    assert len(learn.SYSTEM.encode()) + len(frame) < form.prompt_bytes


@pytest.mark.parametrize("name", VAULTS)
def test_a_night_of_the_router_is_answered_whole(name: str) -> None:
    asked, own = load_lesson(name), load_vault(name)
    tables = Tables.load([("learn", confirming("router", asked))], {})
    index = Index([pages.parse(page.name, page.text) for page in own.pages], [], Parameters())

    def ask(purpose: str, system: str, document: str) -> str:
        entry = tables.find(purpose, json.loads(document))
        assert entry is not None
        assert entry.usage is not None
        return entry.text or ""

    week1 = [pair.week1 for pair in asked.pairs]
    with_proof, without = (learn.night(index, week1, ask, proof=proof) for proof in (True, False))
    gold = {pair.week1: pair.gold for pair in asked.pairs}
    assert with_proof.learned
    assert all(one.page in gold[one.question] for one in with_proof.learned)
    # Nothing that is made up passes; some of what is right does not either.
    made_up = [one for one in with_proof.unproved if not gold[one["question"]]]
    assert {one["why"] for one in made_up} == {"the quote does not stand on the page"}
    wrong = [one for one in without.learned if one.page not in gold[one.question]]
    assert sorted(one.question for one in wrong) == sorted(one["question"] for one in made_up)
    assert wrong
    assert {one.page for one in without.learned} <= set(standing_pages(asked))
