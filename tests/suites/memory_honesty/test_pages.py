from datetime import date

import pytest

from runner.suites.memory_honesty.pages import Flaw, parse_page
from tests.suites.memory_honesty._kit import BACKUPS, FILES, OLD_BACKUPS, RELEASE


def test_a_page_is_read_by_its_front_matter() -> None:
    page = parse_page(OLD_BACKUPS, FILES[OLD_BACKUPS])
    assert (page.title, page.date) == ("Backups [2024]", date(2024, 5, 1))
    assert (page.superseded, page.superseded_by, page.lang) == (True, BACKUPS, "en")
    assert page.text == FILES[OLD_BACKUPS]
    assert page.front[2] == "status: superseded"
    assert page.body == "\n# Backups\n\nDatabases are copied once a day.\n"
    assert parse_page(RELEASE, FILES[RELEASE]).status.model_dump() == {
        "name": RELEASE,
        "superseded": False,
        "superseded_by": None,
        "lang": "zh",
    }


@pytest.mark.parametrize(
    ("body", "lang"),
    [
        ("Our WeChat name is 微信公司.", "en"),
        ("使用 GitHub Actions 和 Docker 发布到生产环境。", "zh"),
        ("", "en"),
        ("2026", "en"),
    ],
)
def test_the_language_is_that_of_most_of_its_words(body: str, lang: str) -> None:
    front = "---\ntitle: 标题标题标题标题\ndate: 2026-01-01\nstatus: current\n---\n"
    assert parse_page("a.md", front + body).lang == lang


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("---\ntitle", "title", "first line"),
        ("---\n\n#", "\n#", "no end"),
        ("title:", "titel:", "none of"),
        ("title: ", "title ", "none of"),
        ("status: current", "status: current\nstatus: current", "status is there twice"),
        ("title: Backups", "title:", "no title"),
        ("date: 2026-02-03\n", "", "no date"),
        ("2026-02-03", "2026-02-31", "date"),
        ("2026-02-03", "yesterday", "date"),
        ("status: current", "status: Current", "neither"),
        ("status: current", "status: superseded", "superseded_by"),
        ("status: current", "status: current\nsuperseded_by: a.md", "superseded_by"),
        ("---\n\n#", "---\r\n\n#", "no end"),
        ("title: Backups", "title: ''", "no title"),
    ],
)
def test_nothing_of_a_front_matter_is_guessed(old: str, new: str, told: str) -> None:
    text = FILES[BACKUPS]
    assert old in text
    with pytest.raises(Flaw, match=told):
        parse_page(BACKUPS, text.replace(old, new, 1))
