"""Stored text read as statements: what Markdown says, sentence by sentence.

A store that keeps no statuses is read by what its texts say, so that a text has to be cut the same
way wherever that is done: here, by rules alone, in English and in Chinese.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT = re.compile(r"---[ \t]*\n(?=[^\n:]+:)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|]+\|)?([^\[\]|]+)\]\]")
_BOLD = re.compile(r"\*\*(?=\S)([^*]{1,500})\*\*")
"""Bold that CommonMark does not see because a Chinese character stands against it."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CLOSING = r"\"'”’』」）》】)\]"
_WIDE = rf"[{_HAN}\u3000-\u303f\uff00-\uffef]"
_FOLD = re.compile(rf"(?<={_WIDE})\n(?={_WIDE})")
"""A line's end between two Chinese characters, where no space belongs."""
_STOP = re.compile(rf"[。！？]+[{_CLOSING}]*\s*|[.!?]+[{_CLOSING}]*(?:\s+|(?=[{_HAN}]))")
_ENDED = re.compile(rf"[.!?。！？][{_CLOSING}]*\Z")
_OPENING = "\"'“‘([（「『《*_"
_LAST_WORD = re.compile(r"([\w.]+)\.\Z")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
"""*J* of J. Smith, *e.g* and *U.S*: the stop behind them ends no sentence."""
_OF_THE_CLOCK = frozenset({"a.m", "p.m"})
"""Look the same, and may well end one."""
_BEFORE_A_NAME = frozenset({"cf", "dr", "mr", "mrs", "ms", "mt", "prof", "st", "vs"})
_BEFORE_A_NUMBER = frozenset(
    {"approx", "art", "ca", "ch", "eq", "fig", "figs", "no", "nos", "pp", "sec", "vol"}
)


def statements(markdown: str) -> tuple[str, ...]:
    """What a Markdown text says: its sentences, items of lists and rows of tables, in order.

    Each is plain text on one line. An item of several sentences is several statements; a row is
    one, its cells named by the head of the table: ``Plan: Plus; Reply: 4 hours``. A line of a code
    block stands as it is. Front matter, headings, comments and rules state nothing and are left
    out. What is said twice is there twice.
    """
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n")
    front = _FRONT.match(text)
    tokens = _parser().parse(text[front.end() :] if front else text)
    said = (" ".join(one.split()) for one in _said(tokens))
    return tuple(one for one in said if re.search(r"\w", one))


@cache
def _parser() -> "MarkdownIt":
    # Loading it takes longer than most commands do.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _said(tokens: Sequence["Token"]) -> Iterator[str]:
    head: list[str] = []
    cells: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        match token.type:
            case "inline" if before is not None:
                text = _plain(token.children or [])
                if before.type in ("th_open", "td_open"):
                    cells.append(text)
                # Text above a line of dashes is a heading to Markdown; a whole sentence is not.
                elif before.type != "heading_open" or (
                    before.markup in ("=", "-") and _ENDED.search(text)
                ):
                    for line in text.split("\v"):
                        yield from _sentences(_CHECKBOX.sub("", line, count=1))
            case "thead_close":
                head, cells = cells, []
            case "tr_close" if head:
                yield _row(head, cells)
                cells = []
            case "table_close":
                head = []
            case "fence" | "code_block":
                yield from token.content.splitlines()
            case "html_block":
                yield from _sentences(_TAG.sub("", _COMMENT.sub("", token.content)))


def _plain(inline: Sequence["Token"]) -> str:
    """The text of a block; where a line is to break, a vertical tab."""
    parts = []
    for token in inline:
        match token.type:
            case "text":
                parts.append(_BOLD.sub(r"\1", _WIKI_LINK.sub(r"\1", token.content)))
            case "code_inline" | "image":
                parts.append(token.content)
            case "softbreak":
                parts.append("\n")
            case "hardbreak":
                parts.append("\v")
    return _FOLD.sub("", "".join(parts))


def _row(head: Sequence[str], cells: Sequence[str]) -> str:
    named = zip(head, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for stop in _STOP.finditer(text):
        if _ends(
            text[start : stop.end()].rstrip(),
            text[stop.end() : stop.end() + 9].lstrip(_OPENING)[:1],
        ):
            yield text[start : stop.end()]
            start = stop.end()
    yield text[start:]


def _ends(sentence: str, following: str) -> bool:
    """Whether a stop ends the sentence, by the word before it and the first letter behind it."""
    if not sentence.isascii() and sentence.rstrip(_CLOSING).endswith(("。", "！", "？")):
        return True
    if following.islower():
        return False
    word = _LAST_WORD.search(sentence)
    if word is None:
        return True
    last = word[1].lower()
    if last in _BEFORE_A_NUMBER:
        return not following.isdigit()
    return last in _OF_THE_CLOCK or not (last in _BEFORE_A_NAME or _INITIALS.fullmatch(last))
