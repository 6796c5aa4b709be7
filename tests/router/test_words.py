import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_router.words import is_han, stem, terms, units


@pytest.mark.parametrize(
    "same",
    [
        ("plan", "plans", "planned", "planning"),
        ("approve", "approves", "approved", "approving"),
        ("release", "releases", "released"),
        ("policy", "policies"),
        ("box", "boxes"),
        ("press", "presses", "pressed"),
        ("month", "months", "monthly"),
        ("reply", "replies", "replied"),
        ("deploy", "deploys", "deployed"),
        ("add", "adds", "added"),
    ],
)
def test_forms_of_a_word_are_one_term(same: tuple[str, ...]) -> None:
    assert len({stem(word) for word in same}) == 1


@pytest.mark.parametrize(
    ("word", "other"),
    [("bus", "bu"), ("thing", "th"), ("need", "ne"), ("status", "statu")],
)
def test_what_only_looks_like_an_ending_stays(word: str, other: str) -> None:
    assert stem(word) != other


def test_case_width_accents_and_contractions_make_no_difference() -> None:
    assert terms("Café CAFÉ ｃａｆｅ cafe") == ["caf"] * 4
    assert terms("the company’s company's") == ["company"[:-1] + "i"] * 2
    assert terms("isn't we're I'd hasn’t") == []
    assert terms("1,500 and 1500") == ["1500", "1500"]


def test_chinese_is_taken_in_pairs_and_beside_latin() -> None:
    assert terms("苏州北站") == ["苏州", "州北", "北站"]
    assert terms("用AQL抽样") == ["用", "aql", "抽样"]


def test_a_question_is_cut_at_words_of_asking_and_not_inside_words() -> None:
    shown = {unit.shown: unit.terms for unit in units("我们的会议室几点开门？")}
    assert set(shown) == {"会", "议", "室", "开", "门"}
    assert shown["议"] == ("会议", "议室")
    assert units("多少钱呢") == []


def test_words_of_grammar_are_gone_and_everyday_ones_marked() -> None:
    found = {unit.shown: unit.everyday for unit in units("How long do you keep the snapshots?")}
    assert found == {"long": True, "keep": True, "snapshots": False}
    assert [unit.everyday for unit in units("500 pounds")] == [True, False]


def test_a_word_that_is_asked_twice_counts_once() -> None:
    assert len(units("backup backups BACKUP")) == 1
    assert units("") == units("?!…") == units("how do I") == []


@given(st.text())
def test_any_text_has_terms(text: str) -> None:
    for term in terms(text):
        assert term
        assert len(term) <= 2 or not is_han(term)
    for unit in units(text):
        assert unit.terms
