"""Names, lines and people made of whatever a store may hold."""

import re
import unicodedata

import pytest
from dulwich.index import validate_path_element_hfs, validate_path_element_ntfs
from hypothesis import example, given
from hypothesis import strategies as st

from runner.reports.history._words import COLUMNS, file_name, line, paragraph, person, slug

TEXTS = st.text(max_size=300)
STEERS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The user lives in Delhi.", "the-user-lives-in-delhi"),
        ("用户住在德里。", "用户住在德里"),
        ("../../.git/config", "git-config"),
        (".git", "git"),
        (".g\u200cit", "g-it"),
        ("\x1b[31mred\x1b[0m\n\nParent: 0", "31mred-0m-parent-0"),
        ("CON", "con"),
        ("वह दिल्ली में है", "वह-दिल्ली-में-है"),
        ("word " * 40, "-".join(["word"] * 9)),
        ("w" * 90, "w" * 48),
        ("?!", ""),
        ("", ""),
    ],
)
def test_the_first_words_are_a_name(text: str, name: str) -> None:
    assert slug(text) == name


@given(TEXTS)
@example("git~1")
@example("\u200d.\u2060git")
@example("𐐀" * 100)
def test_no_text_makes_a_name_that_is_more_than_a_name(text: str) -> None:
    name = f"01-{slug(text) or 'claim'}.txt"
    assert validate_path_element_ntfs(name.encode())
    assert validate_path_element_hfs(name.encode())
    assert len(name.encode()) <= 255
    assert all(unicodedata.category(char)[0] in "LNM" or char in "-." for char in name)
    own = file_name(text)
    assert validate_path_element_ntfs(own.encode())
    assert "/" not in own
    assert not own.startswith(".")


@given(TEXTS)
@example("a\n\nOutcome: passed")
@example("a\u2028b\x85c")
def test_a_line_is_one_line_and_steers_nothing(text: str) -> None:
    for made in (line(text), line(text, 20)):
        assert not {unicodedata.category(char) for char in made} & STEERS
        assert len(made.splitlines()) <= 1
    assert len(line(text, 20)) <= 20
    first, *rest = paragraph(line(text)).split("\n")
    assert first == "" or first.startswith("- ")
    assert all(each.startswith("  ") and len(each) <= COLUMNS for each in rest)


@given(TEXTS, TEXTS)
@example("> <", "")
@example("a\n", "b <x@y>\ncommitter c <c@d> 0 +0000")
def test_a_system_is_a_person_without_an_address(name: str, version: str) -> None:
    made = person(name, version)
    found = re.fullmatch(r"([^<>\n\0]+) <([a-z0-9-]+)@systems\.invalid>", made)
    assert found, made
    assert found[1] == found[1].strip()


def test_a_system_s_own_name() -> None:
    assert person("basic-memory", "0.24.1") == "basic-memory 0.24.1 <basic-memory@systems.invalid>"
