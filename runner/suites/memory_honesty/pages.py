"""Pages of a vault: plain Markdown under a few lines of front matter that say what it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from runner.model import Noun
from runner.suites.memory_honesty._file import Lang

_KNOWN = frozenset({"title", "date", "status", "superseded_by"})
_HAN = re.compile(r"[㐀-䶿一-鿿豈-﫿]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


class Flaw(Exception):
    """What is wrong with a page or a question, and where."""


class PageStatus(Noun):
    """What a scorer knows of a page: whether it still holds. Its text is no part of a report."""

    name: str
    """Its path below the vault, with ``/``."""
    superseded: bool
    superseded_by: str | None
    """The page that replaced it."""
    lang: Lang


Statuses = Mapping[str, PageStatus]
"""By the name of the page."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page as a system is given it, and what its front matter said before any was removed."""

    name: str
    """Its path below the vault, with ``/``."""
    text: str
    """The whole file."""
    title: str
    date: date
    superseded: bool
    superseded_by: str | None
    """The name of the page that replaced it."""

    @property
    def front(self) -> tuple[str, ...]:
        """The lines of its front matter, without the two fences."""
        return tuple(_split(self.text)[0])

    @property
    def body(self) -> str:
        """Everything below the front matter."""
        return _split(self.text)[1]

    @property
    def lang(self) -> Lang:
        """Chinese where its body has more Chinese characters than Latin words."""
        body = self.body
        return "zh" if len(_HAN.findall(body)) > len(_LATIN_WORD.findall(body)) else "en"

    @property
    def status(self) -> PageStatus:
        """What a scorer needs to know of it."""
        return PageStatus(
            name=self.name,
            superseded=self.superseded,
            superseded_by=self.superseded_by,
            lang=self.lang,
        )


def parse_page(name: str, text: str) -> Page:
    """Read the front matter of a page: four fields that are known, a line each, and no others.

    Values are plain or in quotes; no more of YAML is understood, so that nothing is misread.

    Raises:
        Flaw: no front matter, a field that is missing, unknown, given twice or not of its form; a
            replaced page that does not say by what, or one that says so and is current.
    """
    fields: dict[str, str] = {}
    for line in _split(text)[0]:
        key, colon, value = line.partition(":")
        if not colon or key not in _KNOWN:
            raise Flaw(f"front matter: {line!r} is none of {', '.join(sorted(_KNOWN))}")
        if key in fields:
            raise Flaw(f"front matter: {key} is there twice")
        fields[key] = _unquoted(value.strip())
    for key in ("title", "date", "status"):
        if not fields.get(key):
            raise Flaw(f"front matter: no {key}")
    try:
        day = date.fromisoformat(fields["date"])
    except ValueError as error:
        raise Flaw(f"front matter: date: {error}") from error
    status, by = fields["status"], fields.get("superseded_by")
    if status not in ("current", "superseded"):
        raise Flaw(f"front matter: status: {status!r} is neither current nor superseded")
    if (status == "superseded") != bool(by):
        raise Flaw("front matter: superseded_by belongs to a superseded page, and to no other")
    return Page(
        name=name,
        text=text,
        title=fields["title"],
        date=day,
        superseded=status == "superseded",
        superseded_by=by,
    )


def _split(text: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    if lines[0] != "---":
        raise Flaw("front matter: the first line is not ---")
    try:
        end = lines.index("---", 1)
    except ValueError as error:
        raise Flaw("front matter: it has no end") from error
    return lines[1:end], "\n".join(lines[end + 1 :])


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
