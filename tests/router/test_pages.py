import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_router.pages import parse


def test_front_matter_is_read() -> None:
    page = parse(
        "A/B c.md",
        "---\ntitle: 'Code review'\ndate: 2026-01-05\nStatus: current # for now\n"
        "superseded-by: X.md\ntags:\n  - a\n---\n\n# Heading\nText.\n",
    )
    assert (page.title, page.day, page.folder, page.stem) == (
        "Code review",
        "2026-01-05",
        "A",
        "B c",
    )
    assert page.fields["status"] == "current"
    assert page.fields["superseded_by"] == "X.md"
    assert "title" not in page.body
    assert "Text." in page.body


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", "note"),
        ("Just text", "note"),
        ("# Heading #\ntext", "Heading"),
        ("---\ntitle: never ended\n# Other\n", "Other"),
        ("---\n: : :\n\t[broken\ntitle:\n---\n# Kept\n", "Kept"),
        ("---\r\ntitle: Windows\r\n---\r\ntext", "Windows"),
        ("\ufeff---\ntitle: With a mark\n---\n", "With a mark"),
        ("---\n---\n", "note"),
    ],
)
def test_a_page_without_or_with_broken_front_matter_is_a_page(text: str, title: str) -> None:
    page = parse("folder/note.md", text)
    assert page.title == title
    assert page.day is None


def test_a_date_that_is_none_is_no_date() -> None:
    assert parse("a.md", "---\ndate: soon\n---\n").day is None
    assert parse("a.md", "---\ndate: 2026-02-30\n---\n").day is None
    assert parse("a.md", "---\ndate: 2026-02-03 10:00\n---\n").day == "2026-02-03"


@given(st.text(), st.text(min_size=1))
def test_nothing_about_a_page_is_an_error(text: str, name: str) -> None:
    assert parse(name, text).name == name
    assert parse(name, f"---\n{text}\n---\n").name == name
