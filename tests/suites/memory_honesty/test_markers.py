import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import MARKERS, make_vault
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    FILES,
    LEAVE,
    OLD_BACKUPS,
    OLD_RELEASE,
    RELEASE,
    vault,
)

FRONT = {"front-matter": "status: superseded\nsuperseded_by: Ops/Backups.md\n"}


def texts(marker: str) -> dict[str, str]:
    return {page.name: page.text for page in vault(marker).pages}


def test_front_matter_leaves_every_page_as_it_is() -> None:
    assert texts("front-matter") == FILES


def test_prose_ends_a_replaced_page_with_a_sentence_in_its_language() -> None:
    told = texts("prose")
    assert told[OLD_BACKUPS] == (
        '---\ntitle: "Backups [2024]"\ndate: 2024-05-01\n---\n\n# Backups\n\n'
        "Databases are copied once a day.\n\n"
        "This page was replaced by “Backups” on 3 February 2026.\n"
    )
    assert told[OLD_RELEASE].endswith("每周五发布。\n\n本页已于2026年3月9日被《发布流程》取代。\n")


def test_link_leads_to_the_new_page_right_below_the_heading() -> None:
    told = texts("link")
    assert told[OLD_BACKUPS] == (
        '---\ntitle: "Backups [2024]"\ndate: 2024-05-01\n---\n\n# Backups\n\n'
        "> Replaced by [Backups](Backups.md)\n\nDatabases are copied once a day.\n"
    )
    assert "# 旧版发布流程\n\n> 已由 [发布流程](发布流程.md) 取代\n\n每周五" in told[OLD_RELEASE]


@pytest.mark.parametrize(
    ("old", "new", "link"),
    [
        ("A/B/old.md", "A/new page.md", "(<../new page.md>)"),
        ("old.md", "A/new.md", "(A/new.md)"),
        ("A/old.md", "B/new (2).md", "(<../B/new (2).md>)"),
    ],
)
def test_a_link_is_relative_and_stands_in_brackets_where_markdown_needs_them(
    old: str, new: str, link: str
) -> None:
    files = {
        old: FILES[OLD_BACKUPS].replace(BACKUPS, new),
        new: FILES[BACKUPS].replace("title: Backups", "title: New [2]"),
    }
    page = next(page for page in make_vault("v", files, "link").pages if page.superseded)
    assert rf"> Replaced by [New \[2\]]{link}" in page.text


@pytest.mark.parametrize("marker", ["prose", "link"])
def test_no_page_says_it_in_its_front_matter_any_more_and_the_scorer_still_knows(
    marker: str,
) -> None:
    changed = vault(marker)
    for page in changed.pages:
        assert "status:" not in page.text
        assert "superseded_by" not in page.text
    assert changed.statuses == vault().statuses
    assert {page.name for page in changed.pages if page.superseded} == {OLD_BACKUPS, OLD_RELEASE}
    current = texts(marker)
    for name in (BACKUPS, LEAVE, RELEASE):
        assert current[name] == FILES[name].replace("status: current\n", "")


def test_every_marker_has_a_digest_of_its_own_and_always_the_same() -> None:
    digests = {marker: vault(marker).sha256 for marker in MARKERS}
    assert len(set(digests.values())) == 3
    assert digests == {marker: vault(marker).sha256 for marker in MARKERS}


def test_a_link_needs_a_heading_to_stand_below() -> None:
    files = {**FILES, OLD_BACKUPS: FILES[OLD_BACKUPS].replace("# Backups", "Backups")}
    make_vault("v", files, "prose")
    with pytest.raises(UsageError, match="without a heading"):
        make_vault("v", files, "link")
