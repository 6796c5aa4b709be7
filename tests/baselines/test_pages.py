import pytest
from baselines_driver.errors import BadRequest
from baselines_driver.pages import Page, handed


@pytest.mark.parametrize(
    ("text", "title", "body", "superseded"),
    [
        ("---\ntitle: A\nstatus: current\n---\n# B\n", "A", "# B\n", False),
        ("---\ntitle: A\nstatus: superseded\n---\nold\n", "A", "old\n", True),
        ("---\r\ntitle: A\r\nstatus: superseded\r\n---\r\nold\r\n", "A", "old\r\n", True),
        ("---\nStatus: Superseded\n---\n", "Page", "", True),
        ("---\ntitle: \"A: b\"\nstatus: 'superseded'\n---", "A: b", "", True),
        ("---\ntitle:\n---\n\n# B \n", "B", "\n# B \n", False),
        ("# B\n## C\n", "B", "# B\n## C\n", False),
        ("plain", "Page", "plain", False),
        ("", "Page", "", False),
        # Not at the start, or without an end: text like any other.
        ("\n---\nstatus: superseded\n---\n", "Page", "\n---\nstatus: superseded\n---\n", False),
        ("---\nstatus: superseded\n", "Page", "---\nstatus: superseded\n", False),
        ("---\na: b\n---\nstatus: superseded\n", "Page", "status: superseded\n", False),
        ("---\nsuperseded_by: X\n---\n", "Page", "", False),
    ],
)
def test_front_matter_is_read(text: str, title: str, body: str, superseded: bool) -> None:
    page = Page("A folder/Page.md", text)
    assert (page.title, page.body, page.superseded) == (title, body, superseded)


def test_pages_come_by_name() -> None:
    given = [{"name": name, "text": "", "more": 1} for name in ("b", "a", "ä", "B")]
    assert [page.name for page in handed({"pages": given})] == ["B", "a", "b", "ä"]
    assert handed({"pages": []}) == ()


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        (None, "needs a list"),
        ({"a": "b"}, "needs a list"),
        (["a"], "a JSON object"),
        ([{"text": "t"}], "needs a name"),
        ([{"name": " ", "text": "t"}], "needs a name"),
        ([{"name": "n" * 501, "text": "t"}], "needs a name"),
        ([{"name": "n"}], "'n' needs a text"),
        ([{"name": "n", "text": None}], "'n' needs a text"),
        ([{"name": "n", "text": "\ud800"}], "not Unicode"),
        ([{"name": "\ud800", "text": ""}], "not Unicode"),
        ([{"name": "n", "text": "t"}, {"name": "n", "text": "u"}], "there twice"),
    ],
)
def test_what_is_no_list_of_pages_is_refused(pages: object, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        handed({"pages": pages})
