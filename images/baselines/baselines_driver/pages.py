"""Pages as they are handed over, and what their front matter says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from baselines_driver.errors import BadRequest

MAX_NAME = 500
"""Longest name of a page, in characters."""
_FRONT = re.compile(
    r"\A---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD = re.compile(r"^(?P<key>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*?)[ \t\r]*$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(?P<title>.+?)[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One page: its name, and all of its text."""

    name: str
    text: str

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """Its front matter, key by key; none where it has none."""
        front = _FRONT.match(self.text)
        if front is None:
            return {}
        found = _FIELD.finditer(front["fields"])
        return {field["key"].lower(): _bare(field["value"]) for field in found}

    @property
    def body(self) -> str:
        """Its text without the front matter."""
        front = _FRONT.match(self.text)
        return self.text[front.end() :] if front else self.text

    @property
    def title(self) -> str:
        """What its front matter calls it; else its first heading; else its file's name."""
        if named := self.fields.get("title"):
            return named
        heading = _HEADING.search(self.body)
        return heading["title"] if heading else self.name.rpartition("/")[2].removesuffix(".md")

    @property
    def superseded(self) -> bool:
        """Whether its front matter says that another page has replaced it."""
        return self.fields.get("status", "").lower() == "superseded"


def handed(request: Mapping[str, Any]) -> tuple[Page, ...]:
    """The pages of an ``index`` request, by name: the order they come in changes nothing.

    Raises:
        BadRequest: it is no list of pages, or one is there twice.
    """
    given = request.get("pages")
    if not isinstance(given, list):
        raise BadRequest("index needs a list of pages")
    pages: dict[str, Page] = {}
    for each in given:
        page = _page(each)
        if page.name in pages:
            raise BadRequest(f"the page {page.name!r} is there twice")
        pages[page.name] = page
    return tuple(pages[name] for name in sorted(pages))


def _page(given: Any) -> Page:
    if not isinstance(given, dict):
        raise BadRequest("a page is a JSON object")
    name, text = given.get("name"), given.get("text")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise BadRequest(f"a page needs a name of 1 to {MAX_NAME} characters")
    if not isinstance(text, str):
        raise BadRequest(f"the page {name!r} needs a text")
    return Page(unicode(f"the page {name!r}", name), unicode(f"the page {name!r}", text))


def unicode(what: str, text: str) -> str:
    """The same text.

    Raises:
        BadRequest: it holds half a character, which no file could.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{what} is not Unicode text: {error}") from error
    return text


def _bare(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
