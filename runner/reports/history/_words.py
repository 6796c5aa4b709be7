"""Strangers' words as names of files, as lines, and as people: none can be anything else there."""

import re
import textwrap
import unicodedata

from runner.plain import plain

NAME_CHARS = 48
"""Longest readable part of a file's name: four bytes each are still fewer than a name may have."""
TEXT_CHARS = 240
"""Longest quotation in a commit's message; the file has all of it."""
COLUMNS = 72
"""Of a message's lines, as git indents them."""


def line(text: str, most: int | None = None) -> str:
    """A text on one line, made plain; cut off where it is longer than ``most`` characters."""
    shown = " ".join(plain(text).split())
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"


def quoted(text: str) -> str:
    """A text as it is quoted in a sentence."""
    return f"“{line(text, TEXT_CHARS)}”"


def slug(text: str) -> str:
    """The first words of a text as part of a file's name: letters and digits of any script, in
    lower case, joined by hyphens; empty where there are none.

    What an operating system or git takes for more than a name (dots, separators, invisible
    characters) cannot come out of it.
    """
    chars = unicodedata.normalize("NFC", text).lower()
    words = "".join(char if _of_a_word(char) else " " for char in chars).split()
    found = ""
    for word in words:
        longer = f"{found}-{word}" if found else word
        if len(longer) > NAME_CHARS:
            return found or longer[:NAME_CHARS]
        found = longer
    return found


def _of_a_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM" and char.isprintable()


def file_name(name: str) -> str:
    """A note's own name, where that is a plain one; else the words in it."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}\.(md|txt)", name):
        return name
    return f"{slug(name) or 'note'}.txt"


def person(name: str, version: str) -> str:
    """A system as git names an author: it has no address, so it gets one that cannot exist."""
    words = " ".join(re.sub(r"[<>]", " ", line(f"{name} {version}", 80)).split())
    told = words.strip(" .,:;\"'\\") or "system"
    mailbox = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "system"
    return f"{told} <{mailbox}@systems.invalid>"


def paragraph(sentence: str) -> str:
    """A sentence as an item of a list: no line of it but the first starts at the margin."""
    wide = any(unicodedata.east_asian_width(char) in "WF" for char in sentence)
    return textwrap.fill(
        sentence,
        width=COLUMNS // 2 if wide else COLUMNS,
        initial_indent="- ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
