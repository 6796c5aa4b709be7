"""Reports in, a folder of pages out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from runner import __version__
from runner.reports.site import _folder
from runner.reports.site._env import env
from runner.reports.site._honesty import honesty_pages
from runner.reports.site._load import Evidence, Loaded, entries, evidence
from runner.reports.site._overview import index
from runner.reports.site._page import Entry, Page
from runner.reports.site._report import report_page, runs_page
from runner.reports.site._run import run_page

INDEX = "index.html"
ASSETS = ("style.css",)


@dataclass(frozen=True, slots=True)
class Site:
    """What was built."""

    folder: Path
    pages: tuple[str, ...]
    """The names of its pages, the first one first."""
    size: int
    """Bytes of all its files."""

    @property
    def index(self) -> Path:
        """Where to begin."""
        return self.folder / INDEX


def build(
    reports: Iterable[Loaded],
    out: Path,
    *,
    cassettes: Sequence[Path] = (),
    kept: Path | None = None,
) -> Site:
    """Write a site, whole or not at all; one that was built there before is replaced.

    Args:
        reports: as ``load`` gives them.
        out: its folder.
        cassettes: recordings to tell what was exchanged from; those beside their reports are found.
        kept: the folder that ``--keep`` left, for logs.

    Raises:
        UsageError: no report, a cassette of none of them, or a folder that holds other files.
        AlteredReport: a cassette that is none.
        CannotStart: the folder cannot be written.
    """
    _folder.check(out)
    some = entries(tuple(reports))
    found = rendered(some, evidence(some, cassettes, kept))
    _folder.write(
        out,
        found,
        {"bench": __version__, "reports": {one.slug: one.sha256 for one in some}},
    )
    pages = tuple(name for name in found if name.endswith(".html"))
    return Site(out, pages, sum(map(len, found.values())))


def rendered(some: Sequence[Entry], beside: Mapping[str, Evidence]) -> dict[str, bytes]:
    """Every file of a site by its name, nothing written."""
    found = {page.path: page.html.encode() for page in _pages(some, beside)}
    return found | {name: asset(name) for name in ASSETS}


def asset(name: str) -> bytes:
    """A file that every page uses."""
    return (files("runner.reports.site") / "templates" / name).read_bytes()


def _pages(some: Sequence[Entry], beside: Mapping[str, Evidence]) -> Iterator[Page]:
    made = env()
    yield Page(INDEX, index(some, made))
    yield from honesty_pages(some, made)
    for entry in some:
        if entry.runs_page:
            yield Page(entry.runs_page, runs_page(entry, made))
        else:
            yield Page(entry.page, report_page(entry, made))
        for run in entry.public.runs:
            yield Page(entry.run_page(run), run_page(entry, run, made, beside[entry.slug]))
