"""A Markdown page, taken apart: front matter, title, body. Nothing about a page is an error.

Front matter is read as lines of ``key: value``. What is no such line is passed over; a block that
never ends is no front matter, and the page is a page like any other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^([A-Za-z_][\w -]*?)[ \t]*:(?:[ \t]+(.*))?$")
_COMMENT = re.compile(r"\s+#.*$")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a vault."""

    name: str
    """Its path below the vault, with ``/``."""
    title: str
    """Of the front matter, else its first heading, else the name of its file."""
    body: str
    """Everything below the front matter."""
    day: str | None
    """ISO date, where the front matter gives one."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Its front matter: lower-case names with ``_``, values without quotes."""

    @property
    def folder(self) -> str:
        """The folders it lies in; empty at the top."""
        parent = PurePosixPath(self.name).parent.as_posix()
        return "" if parent == "." else parent

    @property
    def stem(self) -> str:
        """The name of its file without the ending."""
        return PurePosixPath(self.name).stem


def parse(name: str, text: str) -> Page:
    """Take a page apart."""
    fields, body = _split(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    heading = _HEADING.search(body)
    title = fields.get("title") or (heading[1] if heading else "") or PurePosixPath(name).stem
    return Page(
        name, title.strip(), body, _day(fields.get("date") or fields.get("updated")), fields
    )


def _split(text: str) -> tuple[dict[str, str], str]:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, text
    fields: dict[str, str] = {}
    for line in lines[1:end]:
        found = _FIELD.match(line)
        if found and found[2]:
            key = found[1].lower().replace("-", "_").replace(" ", "_")
            fields.setdefault(key, _plain(found[2]))
    return fields, "\n".join(lines[end + 1 :])


def _plain(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return _COMMENT.sub("", value)


def _day(value: str | None) -> str | None:
    try:
        return date.fromisoformat((value or "").strip()[:10]).isoformat()
    except ValueError:
        return None
