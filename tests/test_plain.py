import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from runner.plain import plain
from runner.reports.terminal import shown

HOSTILE = {
    "\x1b[2J": "<U+001B>[2J",
    "\x9b31m": "<U+009B>31m",
    "safe\u202eevas": "safe<U+202E>evas",
    "a\rb": "a<U+000D>b",
    "\u2066x\u2069": "<U+2066>x<U+2069>",
    "\ud800": "<U+D800>",
    "[bold]x[/bold]": "[bold]x[/bold]",
    "孟买 – naïve": "孟买 – naïve",
    "two\nlines\tand a tab": "two\nlines\tand a tab",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_terminal_would_obey_is_shown(text: str) -> None:
    assert plain(text) == HOSTILE[text]


@given(st.text())
def test_nothing_that_reaches_the_terminal_can_steer_it(text: str) -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=False, width=80).print(shown(text))
    assert not set(out.getvalue()) & {"\x1b", "\x9b", "\r", "\x07", "\u202e", "\u200f"}
