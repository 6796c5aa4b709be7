"""What a site is made of: the reports it shows, and the pages that show them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from runner.model import RunRecord
from runner.reports.schema import Report
from runner.reports.sealing import public

_LONGEST = 48
"""Characters of a slug."""


@dataclass(frozen=True, slots=True)
class Page:
    """One file of a site."""

    path: str
    """Its name in the site's folder, which is what others link to."""
    html: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One report of a site."""

    slug: str
    """Its name in links, the only one of its kind in the site: small letters, digits, dashes."""
    report: Report
    """As it was loaded: of a held-out set with its answers, where they lie beside it. No page
    tells them: see ``public``."""
    path: Path
    """Where it was read."""
    sha256: str = ""
    """Of that file."""

    public: Report = field(init=False, repr=False)
    """What may be shown: of a held-out set without its answers, whatever lies beside it."""
    held_out: bool = field(init=False, repr=False)
    """Whether its answers are not to be shown."""

    def __post_init__(self) -> None:
        closed = self.report if self.report.sealed is not None else public(self.report)
        object.__setattr__(self, "held_out", closed is not None)
        object.__setattr__(self, "public", self.report if closed is None else closed)

    @property
    def page(self) -> str:
        """The page that is about it."""
        return f"report-{self.slug}.html"

    @property
    def runs_page(self) -> str:
        """The page about how it was made, run by run, where its own page tells of its questions;
        empty where its own page tells all."""
        own = self.report.suite in ("memory-honesty", "honesty-learning")
        return f"runs-{self.slug}.html" if own else ""

    def run_page(self, run: RunRecord) -> str:
        """The page about one of its runs."""
        ids = [one.spec.id for one in self.report.runs]
        return f"run-{self.slug}-{slugs(ids)[ids.index(run.spec.id)]}.html"


def slug_of(text: str) -> str:
    """A text as a part of a file's name or an id: what is no small letter or digit becomes a
    dash."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST].strip("-") or "x"


def slugs(texts: Iterable[str]) -> list[str]:
    """A slug for each text, no two alike."""
    found: list[str] = []
    for text in texts:
        slug, number = slug_of(text), 1
        while (one := slug if number == 1 else f"{slug}-{number}") in found:
            number += 1
        found.append(one)
    return found
