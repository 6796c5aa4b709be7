"""How pages are written: everything is escaped, and what is not to be seen is shown as what it is.

Stores, notes, model replies and reports are strangers' text. A template has no way to put one into
a page as markup: there is no ``safe`` filter, and every value passes through ``plain`` before it is
escaped. Markup comes from templates and from figures alone.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import jinja2
from markupsafe import Markup

from runner import __version__
from runner.plain import plain
from runner.reports.cells import TONES, interval
from runner.reports.sheet import Cell, Sheet, Tone
from runner.reports.site._who import asks_model
from runner.stats import rate

CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What a page may load: its own style sheet and script, and nothing from elsewhere."""
MARKS: Mapping[Tone, str] = {
    Tone.GOOD: "✓",
    Tone.BAD: "✗",
    Tone.UNSURE: "◔",
    Tone.INVALID: "⊘",
    Tone.ERRORED: "!",
}
"""A sign for each tone, so that none is told by its colour."""


def env() -> jinja2.Environment:
    """An environment whose templates cannot be talked into markup, and stop at a missing value."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("runner.reports.site", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    del made.filters["safe"]
    made.filters |= {
        "theirs": theirs,
        "mark": mark,
        "short": short,
        "usd": usd,
        "moment": moment,
        "anchor": anchor,
    }
    made.tests["asking"] = asks_model
    made.globals |= {
        "csp": CSP,
        "version": __version__,
        "tones": {one.value: tone for one, tone in TONES.items()},
        "marks": MARKS,
        "nav": (),
    }
    return made


def _shown(value: Any) -> Any:
    """Every value of a template, before it is escaped."""
    if hasattr(value, "__html__"):
        return value
    return plain(value if isinstance(value, str) else str(value))


def theirs(text: Any) -> Markup:
    """A stranger's words inside a line: they turn no direction but their own."""
    return Markup("<bdi>{}</bdi>").format(plain(str(text)))


def mark(cell: Cell) -> str:
    """The sign of a cell's tone; empty where it has none, or its words begin with a sign."""
    sign = MARKS.get(cell.tone, "")
    begins = cell.text[:1]
    return sign if sign and cell.text and (begins.isalnum() or begins in "([") else ""


def short(digest: str) -> str:
    """As much of a digest as people compare."""
    algorithm, colon, rest = digest.rpartition(":")
    return f"{algorithm}{colon}{rest[:12]}"


def usd(amount: Decimal | None) -> str:
    """US dollars, to a hundredth of a cent."""
    return "none" if amount is None else f"{amount:.4f}"


def moment(when: datetime | None) -> str:
    """A time to the second."""
    return "" if when is None else when.strftime("%Y-%m-%d %H:%M:%S")


def anchor(text: str, kind: str) -> str:
    """An id for a link inside a page, which tells nothing of the text it stands for."""
    return f"{kind}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}"


_COUNTS = re.compile(r"\b(\d{1,6}) of (\d{1,6})\b(?! \[)")
_SHORT = re.compile(r"(?:^|(?<=\())(\d{1,6})/(\d{1,6})\)?$")


def exact(sheet: Sheet) -> Sheet:
    """A sheet with its exact 95% interval behind every count of so many of so many."""

    def told(found: re.Match[str]) -> str:
        hits, of = int(found[1]), int(found[2])
        return rate(hits, of) if of > 0 and hits <= of else found[0]

    def briefly(found: re.Match[str]) -> str:
        hits, of = int(found[1]), int(found[2])
        return f"{found[0]} {interval(hits, of)}" if of > 0 and hits <= of else found[0]

    def cell(one: Cell) -> Cell:
        return replace(one, text=_SHORT.sub(briefly, _COUNTS.sub(told, one.text)))

    rows = tuple((row[0], *map(cell, row[1:])) for row in sheet.rows)
    return replace(sheet, rows=rows)


def named(sheet: Sheet, name: str) -> Sheet:
    """A sheet under another name, where a page has two of one name."""
    return replace(sheet, name=name)
