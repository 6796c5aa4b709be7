import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import paths
from runner.statements import statements
from runner.suites.trip_vs_move import load_case

PAGE = """\
---
title: Reply targets
status: current
---

# Reply targets

New promises took effect on 13 April 2026. They are in
all contracts, *old ones* included.

**First reply**

- Standard: 12 desk hours
- Plus: 4 desk hours. Tickets marked `urgent!` sooner.
  - at night, too
1. Ask [the desk](https://example.org/a.b "Desk").
2. [x] Close after 21 days

| Plan | Updates | |
|------|:-------:|---|
| Plus | 2 hours | day |
| Premier | | night |

> Quoted. As said.

<!-- not said -->

***

```sh
dockline --at 5.30. Go
```
"""


def test_a_page_says_its_sentences_items_rows_and_lines_of_code() -> None:
    assert statements(PAGE) == (
        "New promises took effect on 13 April 2026.",
        "They are in all contracts, old ones included.",
        "First reply",
        "Standard: 12 desk hours",
        "Plus: 4 desk hours.",
        "Tickets marked urgent! sooner.",
        "at night, too",
        "Ask the desk.",
        "Close after 21 days",
        "Plan: Plus; Updates: 2 hours; day",
        "Plan: Premier; night",
        "Quoted.",
        "As said.",
        "dockline --at 5.30. Go",
    )


def test_chinese_is_cut_at_its_own_stops_and_folds_without_a_space() -> None:
    page = """\
---
title: 调休
---
# 调休新办法

旧办法停止
执行。“真的？”是的！当天 **下午三点前** 报；就行。**注意：**用 API
登录。

- 平日加班满一小时即计入，**两小时**的门槛去掉了

| 级别 | 时限 |
|--|--|
| 一级 | 5 分钟 |
"""
    assert statements(page) == (
        "旧办法停止执行。",
        "“真的？”",
        "是的！",
        "当天 下午三点前 报；就行。",
        "注意：用 API 登录。",
        "平日加班满一小时即计入，两小时的门槛去掉了",
        "级别: 一级; 时限: 5 分钟",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dr. J. Smith lives at No. 5, e.g. Monday. Then not.", 2),
        ("It costs 1.50 a day. 3 are here. “Yes.” (No.) He said.", 5),
        ("At 5 p.m. He left. In the U.S. Army.", 3),
        ("Really?! yes. iPads stay", 1),
        ("Leave it... Now! Ünal came.", 3),
        ("Run v1.2.3 of a.b.c now", 1),
        ("用 v1.2 版本.下一句", 2),
        ("one\\\ntwo  \nthree", 3),
        ("He was born in\n1984. Then he moved.", 2),
        ("The user lives in Delhi.\n---\nNot a heading\n===\nMore", 2),
        ("[[Notes/Home|home]] and ![[Trip]] <br> <https://a.example/x>", 1),
        ("2 * 3 * 4 = 24; snake_case_word and `__init__`", 1),
        ("| a | b |\n|---|---|\n", 0),
        ("He said no. Then see No. 5, Fig. 3.", 2),
        ("---\nopen: front\n", 1),
        ("---\n\nBetween two rules.\n\n---\n", 1),
        ("First.\n\n---\nkey: value\n\n---\nLast.", 3),
        ("", 0),
        ("# Only a heading\n\n---\n\n[a]: https://example.org\n", 0),
    ],
)
def test_sentences_are_told_from_stops_that_end_none(text: str, said: int) -> None:
    assert len(statements(text)) == said, statements(text)


def test_marks_go_and_what_they_mark_stays() -> None:
    assert statements(
        "[[Notes/Home|home]] and ![[Trip]] ~~ 2 * 3 \\*x\\* `a**b**` <b>bold</b>"
    ) == ("home and Trip ~~ 2 * 3 *x* a**b** bold",)


def test_what_is_said_twice_is_there_twice() -> None:
    assert statements("- same\n- same\n\nsame") == ("same",) * 3


def test_the_notes_of_a_case_say_what_their_user_says() -> None:
    case = load_case("mid-trip")
    said = [one for note in case.notes for one in statements(note.text)]
    assert "User: I live in Delhi, in Lajpat Nagar." in said
    assert "I fly back home to Delhi next Thursday." in said
    assert "User: I moved to Mumbai." in said
    assert not any("Session" in one for one in said)


def test_no_word_of_a_page_is_lost() -> None:
    read = 0
    for file in sorted((paths.fixtures() / "honesty").glob("vault*/**/*.md"))[::3]:
        page = file.read_text(encoding="utf-8")
        body = page.split("---\n", 2)[2]
        if "|" in body or "](" in body:
            continue
        kept = "".join(line for line in body.splitlines() if not line.startswith("#"))
        left = Counter(filter(str.isalnum, kept))
        left.subtract(filter(str.isalnum, "".join(statements(page))))
        # The numbers of a numbered list are marks of Markdown.
        assert set(+left) <= set("0123456789"), file
        read += 1
    assert read > 40


@given(st.text(alphabet="ab.! \n-|*_`#[]()<>。“住\\\r\t\x00", max_size=80))
def test_any_text_is_read_as_lines_that_say_something(text: str) -> None:
    for one in statements(text):
        assert one == one.strip()
        assert "\n" not in one
        assert any(char.isalnum() or char == "_" for char in one)


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile", ["*a ", "**a `b [c](", "<!-- ", "[[", "> ", "<a ", "- ", "|a", "a. "]
)
def test_no_text_takes_for_ever(hostile: str) -> None:
    start = time.monotonic()
    statements(hostile * 20_000)
    statements("# x\n\n<p>" + hostile * 20_000)
    assert time.monotonic() - start < 20
