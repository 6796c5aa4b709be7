"""Requests, read before anything is done with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from basic_memory_driver.errors import BadRequest

MAX_CHARACTERS = 8192
"""Longest question."""
MAX_TOP_K = 100
MAX_NAME = 500
"""Longest name of a page or note, in characters."""
SUFFIX = ".md"


@dataclass(frozen=True)
class Page:
    """A page or note: its place among the others, and its text."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """What a user would call it: its file's name."""
        return PurePosixPath(self.name).stem

    @property
    def directory(self) -> str:
        """The folder it belongs in, as the tool takes it."""
        parent = str(PurePosixPath(self.name).parent)
        return "/" if parent == "." else parent


def pages(request: Mapping[str, Any]) -> tuple[Page, ...]:
    """The pages of an ``index`` request, by name: the order they come in changes nothing.

    Raises:
        BadRequest: it is no list of pages, or one is there twice.
    """
    given = request.get("pages")
    if not isinstance(given, list):
        raise BadRequest("index needs a list of pages")
    found: dict[str, Page] = {}
    for each in given:
        page = note(each)
        if page.name in found:
            raise BadRequest(f"the page {page.name!r} is there twice")
        found[page.name] = page
    return tuple(found[name] for name in sorted(found))


def note(given: Any) -> Page:
    """A page, or the note of a ``deposit`` request.

    Raises:
        BadRequest: it has no name that a Markdown file in a folder could have, or no text.
    """
    if not isinstance(given, Mapping):
        raise BadRequest("a page is a JSON object")
    name, text = given.get("name"), given.get("text")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise BadRequest(f"a page needs a name of 1 to {MAX_NAME} characters")
    parts = name.split("/")
    if not name.endswith(SUFFIX) or any(part.strip(". ") == "" for part in parts) or "\0" in name:
        raise BadRequest(f"the page {name!r} is no Markdown file in a folder")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"the page {name!r} needs a text")
    return Page(_unicode(f"the page {name!r}", name), _unicode(f"the page {name!r}", text))


def question(request: Mapping[str, Any]) -> tuple[str, int]:
    """The question of an ``ask`` or ``recall`` request, and how much may come back.

    Raises:
        BadRequest: it is no such request.
    """
    text, top_k = request.get("question"), request.get("top_k")
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_CHARACTERS:
        raise BadRequest(f"a question has 1 to {MAX_CHARACTERS} characters")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= MAX_TOP_K:
        raise BadRequest(f"top_k goes from 1 to {MAX_TOP_K}")
    if "gold" in request:
        raise BadRequest("whoever looks pages up is not told the right ones")
    return _unicode("the question", text), top_k


def _unicode(what: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{what} is not Unicode text: {error}") from error
    return text
