"""Parts of the page of results beside the grades: what it took, what moved, what differs."""

from collections.abc import Iterator, Sequence

from runner.reports.differing import differing
from runner.reports.formats import line, markdown_text
from runner.reports.honesty.moved import NOTE, repeated
from runner.reports.honesty.moved import cells as moved_cells
from runner.reports.honesty.taken import cells as taken_cells
from runner.reports.honesty.taken import remarks, taken
from runner.reports.schema import Report


def effort(reports: Sequence[Report]) -> Iterator[str]:
    """What each system took to index the pages and to answer."""
    found = [one for report in reports if (one := taken(report)) is not None]
    if not found:
        return
    yield "What it took: model calls are those made before the first question, by the ledger."
    yield ""
    yield (
        "| system | pages | index s | model calls | US$ | p50 ms | p95 ms | peak MB |"
        " of several files |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for one in found:
        yield f"| {told(one.label)} | {' | '.join(taken_cells(one, none='–'))} |"
    yield ""
    yield " ".join(told(f"{one[:1].upper()}{one[1:]}") for one in remarks(found))
    yield ""


def repeat_runs(reports: Sequence[Report]) -> Iterator[str]:
    """How much the answers moved, where a set was run more than once."""
    found = [(one.system.name, again) for one in reports if (again := repeated(one)) is not None]
    if not found:
        return
    yield "Runs of the same questions, each in another order."
    yield ""
    yield (
        "| system | runs | moved in any | two by two | wrong citations | answerable right |"
        " neighbours refused | false refusals |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, (repeats, moved) in found:
        yield f"| {told(name)} | {' | '.join(moved_cells(repeats, moved))} |"
    yield ""
    yield f"{NOTE[:1].upper()}{NOTE[1:]}"
    yield ""


def apart(reports: Sequence[Report]) -> Iterator[str]:
    """What sets our runs apart from the published ones of the same memory."""
    found = list(differing(reports))
    if not found:
        return
    yield "What differs from the published runs, beside vault and questions:"
    yield ""
    for name, differences in found:
        yield f"- **{told(name)}**: {told('; '.join(differences))}."
    yield ""


def told(text: str | None) -> str:
    """Words of a stranger on one line of Markdown, which are no markup."""
    return markdown_text(" ".join((text or "").split()))


def code(text: str) -> str:
    """The same as code, where nothing can be escaped: what would end it is left out."""
    return f"`{' '.join(line(text).replace('`', '').split())}`"
