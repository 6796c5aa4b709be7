"""A picture with its words and its numbers."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from runner.reports.sheet import Sheet

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture for a page, and all that it shows as a table.

    Raises:
        ValueError: a name that is no name for a link.
    """

    name: str
    """For links, and before every id inside: small letters, digits and dashes. Two figures of one
    page have different ones."""
    title: str
    description: str
    """What is drawn and how to read it, for who does not see it too."""
    svg: Markup
    """An ``svg`` element to be put into a page as it is: well-formed, without style and script."""
    table: Sheet

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is no name for a figure: small letters, digits, -")


def slug(text: str) -> str:
    """A text as part of a figure's name: what is no small letter or digit becomes a dash."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
