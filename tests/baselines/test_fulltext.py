import pytest
from baselines_driver.fulltext import DIGITS, FullText, terms
from baselines_driver.pages import Page
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Release-process, v2!", ["the", "release", "process", "v2"]),
        ("Zürich São ÉCOLE", ["zurich", "sao", "ecole"]),
        ("Straße ﬁne ＡＢ１", ["strasse", "fine", "ab1"]),
        ("don't snake_case", ["don", "t", "snake", "case"]),
        ("发布流程", ["发布", "布流", "流程"]),
        ("用Rust写", ["用", "rust", "写"]),
        ("每周二 9:30 发布", ["每周", "周二", "9", "30", "发布"]),
        ("东京 カフェ", ["东京", "カフェ"]),
        ("Где я живу", ["где", "я", "живу"]),
        ("?! — “”", []),
        ("", []),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def searching(**pages: str) -> FullText:
    made = FullText()
    made.index([Page(name, pages[name]) for name in sorted(pages)])
    return made


def test_a_page_with_any_term_is_found_and_no_other() -> None:
    text = searching(
        a="the release is on tuesday", b="the office", c="nothing of it", d="发布在周二"
    )
    assert [name for name, _ in text.search("Release? Office!", 5)] == ["b", "a"]
    assert [name for name, _ in text.search("何时发布", 5)] == ["d"]
    assert text.search("releases", 5) == []
    assert text.search("?!", 5) == []


def test_more_and_rarer_terms_score_higher() -> None:
    text = searching(a="red green blue", b="red green grey", c="red grey grey", d="red", e="pink")
    found = text.search("red green blue", 5)
    assert [name for name, _ in found] == ["a", "b", "d", "c"]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0
    assert text.search("red green blue", 2) == found[:2]
    # Said twice is asked once.
    assert text.search("red green blue, blue blue", 5) == found


def test_titles_count() -> None:
    text = FullText()
    text.index([Page("a", "---\ntitle: Travel\n---\nx y"), Page("b", "travel x y and more of z")])
    assert [name for name, _ in text.search("travel", 5)] == ["a", "b"]


def test_of_equal_pages_the_first_by_name_is_first() -> None:
    text = searching(c="same words", a="same words", b="same words", d="others")
    found = text.search("same", 5)
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert len({score for _, score in found}) == 1


def test_a_question_of_very_many_words_is_a_question() -> None:
    text = searching(a="word4000", b="else")
    words = " ".join(f"word{number}" for number in range(4001))
    assert [name for name, _ in text.search(words, 5)] == ["a"]


@given(st.text())
def test_no_question_is_anything_but_words(question: str) -> None:
    text = searching(a='one OR two NEAR "three" name:a ^x *', b="two 中文字")
    for name, score in text.search(question, 3):
        assert name in ("a", "b")
        assert score == round(score, DIGITS)


@pytest.mark.parametrize(
    "question", ['"', "name:a", "body : two", "NOT", "NEAR(one two)", "a*", "^one", "{a b}", "'"]
)
def test_the_search_engines_own_words_are_only_words(question: str) -> None:
    assert searching(a="zero", b="one").search(f"{question} zero", 1)[0][0] == "a"


def test_pages_that_come_anew_replace_the_old() -> None:
    text = searching(a="red")
    text.index([Page("b", "red")])
    assert [name for name, _ in text.search("red", 5)] == ["b"]
