import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_router.pages import Page, parse
from page_router.parameters import Parameters
from page_router.rank import Index, Trigger

from runner.suites.memory_honesty import load_vault

BACKUPS = "---\ntitle: Database backups\n---\nFull copies are kept for 35 days in Frankfurt.\n"
LEAVE = "# Parental leave\n\nBoth parents get 24 weeks on full pay.\n"
OLD_LEAVE = "---\nsuperseded_by: People/Leave.md\n---\n# Family days\n\nAdoption: 16 weeks.\n"
SHIFTS = "# 夜班津贴\n\n夜班每班 60 元，中班 18 元。凭工牌领取夜宵。\n"


def pages(**more: str) -> list[Page]:
    texts = {"Ops/Backups": BACKUPS, "People/Leave": LEAVE, "People/Old leave": OLD_LEAVE}
    named = {**texts, "工厂/夜班": SHIFTS, **more}
    return [parse(f"{name}.md", text) for name, text in named.items()]


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(pages())


def first(index: Index, question: str) -> tuple[str | None, float]:
    ranked = index.rank(question)
    return (ranked[0].name, ranked[0].score) if ranked else (None, 0.0)


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("How long are database backups kept?", "Ops/Backups.md"),
        ("How many weeks of parental leave do parents get?", "People/Leave.md"),
        ("weeks off for an adoption", "People/Leave.md"),
        ("夜班津贴每班多少钱？", "工厂/夜班.md"),
    ],
)
def test_the_page_that_answers_is_first_and_above_the_floor(
    index: Index, question: str, page: str
) -> None:
    name, score = first(index, question)
    assert name == page
    assert Parameters().floor <= score <= 1


@pytest.mark.parametrize(
    "question",
    [
        "How long do we keep the Elasticsearch snapshots?",
        "bereavement leave",
        "夜班宿舍怎么申请？",
        "what is it?",
        "多少钱",
        "?",
    ],
)
def test_what_no_page_speaks_of_is_below_it(index: Index, question: str) -> None:
    assert first(index, question)[1] < Parameters().floor


def test_a_replaced_page_is_never_named_and_its_words_lead_to_the_new_one(index: Index) -> None:
    assert all(scored.name != "People/Old leave.md" for scored in index.rank("family days leave"))
    assert first(index, "family adoption")[0] == "People/Leave.md"
    without = Index(pages(), parameters=replace(Parameters(), former=0))
    assert without.rank("adoption") == ()


def test_the_receipt_says_why(index: Index) -> None:
    question = "How many weeks of adoption leave in Frankfurt for a zebra?"
    receipt = index.receipt(question, index.rank(question), 5)
    assert receipt["best"] == "People/Leave.md"
    matched = receipt["matched"]
    assert isinstance(matched, dict)
    assert matched["adoption"] == ["former"]
    assert "title" in matched["leav"]
    assert receipt["missing"] == ["frankfurt"]
    assert receipt["unknown"] == ["zebra"]
    assert receipt["floor"] == Parameters().floor
    runner_up = receipt["runner_up"]
    assert isinstance(runner_up, dict)
    assert runner_up["page"] == "Ops/Backups.md"
    assert receipt["replaced"] == [
        {
            "page": "People/Old leave.md",
            "by": "People/Leave.md",
            "said_in": "People/Old leave.md",
            "words": "superseded by: People/Leave.md",
        }
    ]
    assert str(receipt["why"]).startswith("refused: even People/Leave.md has 0.")
    nothing = index.receipt("what is it?", (), 5)
    assert nothing["why"] == "refused: no page has a word of the question that tells anything"
    assert nothing["best"] is nothing["runner_up"] is None


def test_an_answer_says_so_too(index: Index) -> None:
    ranked = index.rank("parental leave weeks")
    receipt = index.receipt("parental leave weeks", ranked, 1)
    assert str(receipt["why"]).startswith("answered: People/Leave.md has ")
    assert receipt["score"] == ranked[0].score


def test_a_vault_of_replaced_pages_refuses_and_says_why() -> None:
    only = Index([parse("a.md", "---\nstatus: obsolete\n---\nbackups")])
    assert only.rank("backups") == ()
    why = only.receipt("backups", (), 5)["why"]
    assert why == "refused: every page of the vault was replaced"


def test_a_trigger_leads_to_its_page_and_its_everyday_words_do_not() -> None:
    plain, taught = Index(pages()), Index(
        pages(), [Trigger("Ops/Backups.md", "Where do the snapshots live for months?", "q")]
    )  # fmt: skip
    assert plain.rank("old snapshots") == ()
    assert first(taught, "old snapshots")[0] == "Ops/Backups.md"
    assert taught.rank("live months") == plain.rank("live months")
    for page in ("gone.md", "People/Old leave.md"):
        assert Index(pages(), [Trigger(page, "snapshots", "")]).rank("snapshots") == ()


def test_a_word_that_nobody_knows_weighs_more_than_one_that_another_page_has(index: Index) -> None:
    assert first(index, "parental leave zebra")[1] < first(index, "parental leave Frankfurt")[1]
    # An everyday word that nobody knows weighs nothing at all.
    assert first(index, "parental leave tomorrow")[1] == first(index, "parental leave")[1]


def test_ties_are_settled_by_name_and_the_order_of_pages_is_nothing() -> None:
    twins = [parse("b.md", "same words"), parse("a.md", "same words")]
    assert [scored.name for scored in Index(twins).rank("same words")] == ["a.md", "b.md"]
    assert Index(twins).rank("words") == Index(twins[::-1]).rank("words")


@pytest.mark.slow
@given(st.text(max_size=60))
def test_scores_are_shares_in_falling_order(question: str) -> None:
    ranked = Index(pages()).rank(question)
    scores = [scored.score for scored in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_hundred_pages_and_two_hundred_questions_take_less_than_a_second() -> None:
    texts = [page for name in ("vault1", "vault2") for page in load_vault(name).pages]
    texts += [replace(page, name=f"again/{page.name}") for page in texts[:20]]
    assert len(texts) == 110
    begun = time.process_time()
    index = Index(parse(page.name, page.text) for page in texts)
    for page in (texts * 2)[:200]:
        question = f"{page.title} 多少 how many"
        index.receipt(question, index.rank(question), 5)
    assert time.process_time() - begun < 1
