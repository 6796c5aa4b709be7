"""Three ways a page can say that it was replaced.

A field in the front matter is one tool's convention: a system that reads it need not understand a
word. So the same vault can be asked about with the fields removed, and the same told by a sentence
or by a link. What replaced what is known to the scorer in any case.

The ``status`` line goes from current pages too: a page that lacked one would be marked by that.
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace

from runner.suites.memory_honesty._file import Marker
from runner.suites.memory_honesty.pages import Flaw, Page

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_FIELDS = ("status:", "superseded_by:")
_PLAIN_TARGET = re.compile(r"[^\s()<>]+")


def marked(page: Page, pages: Mapping[str, Page], marker: Marker) -> Page:
    """The page as a vault of that marker has it.

    Args:
        page: as it is written, with its front matter.
        pages: all pages of the vault, by name.
        marker: ``front-matter`` leaves it as it is; ``prose`` ends a replaced page with a sentence
            that names the new page and its day; ``link`` puts a line below its heading that leads
            to the new page.

    Raises:
        Flaw: a replaced page without a heading, for ``link``.
    """
    if marker == "front-matter":
        return page
    front = [line for line in page.front if not line.startswith(_FIELDS)]
    body = page.body
    if page.superseded_by is not None:
        newer = pages[page.superseded_by]
        body = _with_sentence(page, newer) if marker == "prose" else _with_link(page, newer)
    return replace(page, text="\n".join(["---", *front, "---", body]))


def _with_sentence(page: Page, newer: Page) -> str:
    day = newer.date
    if page.lang == "zh":
        told = f"本页已于{day.year}年{day.month}月{day.day}日被《{newer.title}》取代。"
    else:
        when = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
        told = f"This page was replaced by “{newer.title}” on {when}."
    return f"{page.body.rstrip()}\n\n{told}\n"


def _with_link(page: Page, newer: Page) -> str:
    target = posixpath.relpath(newer.name, posixpath.dirname(page.name) or ".")
    if not _PLAIN_TARGET.fullmatch(target):
        target = f"<{target}>"  # as Markdown has it where a path has spaces
    title = newer.title.replace("[", r"\[").replace("]", r"\]")
    link = f"[{title}]({target})"
    told = f"> 已由 {link} 取代" if page.lang == "zh" else f"> Replaced by {link}"
    lines = page.body.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("# "):
            rest = lines[number + 1 :]
            return "\n".join([*lines[: number + 1], "", told, *rest])
    raise Flaw("a replaced page without a heading: there is no place for the link")
