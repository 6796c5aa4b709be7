from typing import Any

import pytest
from basic_memory_driver.errors import BadRequest
from basic_memory_driver.requests import MAX_CHARACTERS, note, pages, question


def test_title_and_folder_are_the_notes_own() -> None:
    inside = note({"name": "Daily/2026/Release process.md", "text": "x", "day": "2026-09-01"})
    assert (inside.title, inside.directory) == ("Release process", "Daily/2026")
    assert note({"name": "报销.md", "text": "x"}).title == "报销"
    assert note({"name": "reader-01.md", "text": "x"}).directory == "/"


def test_pages_come_in_one_order() -> None:
    given = [{"name": name, "text": name} for name in ("b.md", "a/z.md", "a.md")]
    assert [page.name for page in pages({"pages": given})] == ["a.md", "a/z.md", "b.md"]
    assert pages({"pages": given[::-1]}) == pages({"pages": given})


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"name": "a.md"},
        {"name": "a.md", "text": " \n"},
        {"name": "a.txt", "text": "x"},
        {"name": "", "text": "x"},
        {"name": "../a.md", "text": "x"},
        {"name": "/a.md", "text": "x"},
        {"name": "a//b.md", "text": "x"},
        {"name": "./a.md", "text": "x"},
        {"name": "a\0.md", "text": "x"},
        {"name": "a" * 500 + ".md", "text": "x"},
        {"name": "a.md", "text": "half \ud800"},
    ],
)
def test_what_is_no_page_is_refused(given: Any) -> None:
    with pytest.raises(BadRequest):
        pages({"pages": [given]})


def test_a_page_is_there_once() -> None:
    with pytest.raises(BadRequest, match="twice"):
        pages({"pages": [{"name": "a.md", "text": "x"}] * 2})
    with pytest.raises(BadRequest):
        pages({})


def test_a_question_is_read() -> None:
    assert question({"question": "when?", "top_k": 3}) == ("when?", 3)


@pytest.mark.parametrize(
    "given",
    [
        {"top_k": 3},
        {"question": " ", "top_k": 3},
        {"question": "x" * (MAX_CHARACTERS + 1), "top_k": 3},
        {"question": "x"},
        {"question": "x", "top_k": 0},
        {"question": "x", "top_k": 101},
        {"question": "x", "top_k": True},
        {"question": "x", "top_k": 3, "gold": []},
    ],
)
def test_what_is_no_question_is_refused(given: Any) -> None:
    with pytest.raises(BadRequest):
        question(given)
