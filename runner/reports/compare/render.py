"""A comparison for a terminal, a pull request, a spreadsheet and a program."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from runner.reports.compare.comparison import Comparison
from runner.reports.compare.nouns import Way
from runner.reports.compare.verdict import Judged
from runner.reports.formats import Shown, csv_text, line, markdown, markdown_text, records
from runner.reports.sheet import Sheet

_TERMS = "A is the first report, B the second."


def headline(comparison: Comparison, judged: Judged) -> str:
    """What came of it, in a few words of our own."""
    if comparison.unjudged:
        runs = "run has" if comparison.unjudged == 1 else "runs have"
        return f"Not told: {comparison.unjudged} {runs} no verdict in B"
    if not judged.holds:
        return "B does not hold what A held"
    if not comparison.findings:
        return "Nothing changed"
    worse, better = comparison.count(Way.WORSE), comparison.count(Way.BETTER)
    if worse:
        return f"B holds; some of it is worse{', some better' if better else ''}"
    return "Better" if better else "Changed, and nothing worse"


def sheets(comparison: Comparison) -> Iterator[Sheet]:
    """All there are, what matters first; those without a row left out."""
    for sheet in (
        comparison.findings_sheet,
        *comparison.sheets,
        comparison.effort_sheet,
        comparison.compared,
    ):
        if sheet.rows:
            yield sheet


def table(comparison: Comparison, judged: Judged) -> RenderableType:
    """For a terminal."""
    style = "bold green" if judged.holds and not comparison.unjudged else "bold red"
    parts: list[RenderableType] = [
        Text(f"{comparison.suite}: {headline(comparison, judged)}.", style),
        Text(f"{judged.why} {_TERMS}"),
    ]
    parts += [Text(line(sentence), "yellow") for sentence in comparison.loud]
    for sheet in sheets(comparison):
        parts += [Text(), Text(line(sheet.title), "bold"), Shown(sheet)]
    return Group(*parts)


def page(comparison: Comparison, judged: Judged) -> str:
    """Markdown, for a comment on a pull request: what changed, and the figures to be unfolded."""
    first, *rest = [*sheets(comparison)]
    lines = [
        f"## {comparison.suite}: {headline(comparison, judged)}",
        "",
        f"{markdown_text(judged.why)} {_TERMS}",
        "",
    ]
    lines += [f"- {markdown_text(sentence)}" for sentence in comparison.loud]
    if comparison.loud:
        lines.append("")
    shown = [first] if comparison.findings else []
    folded = rest if comparison.findings else [first, *rest]
    for sheet in shown:
        lines += [markdown(sheet)]
    lines += ["<details><summary>All figures</summary>", ""]
    for sheet in folded:
        lines += [markdown(sheet)]
    lines += ["</details>", ""]
    return "\n".join(lines)


def document(comparison: Comparison, judged: Judged, *, code: int, alpha: float) -> dict[str, Any]:
    """For a program."""
    return {
        "suite": comparison.suite,
        "exit_code": code,
        "holds": judged.holds,
        "fail_on": judged.fail_on.value,
        "alpha": alpha,
        "why": judged.why,
        "runs_without_verdict": comparison.unjudged,
        "findings": {way.value: comparison.count(way) for way in Way},
        "loud": list(comparison.loud),
        "compared": {
            one.name: {"a": one.values[0], "b": one.values[1], "same": one.same}
            for one in comparison.identities
        },
        "sheets": {
            sheet.name: {
                "title": sheet.title, "rows": records(sheet), "notes": list(sheet.notes),
            }
            for sheet in sheets(comparison)
        },
    }  # fmt: skip


def spreadsheet(comparison: Comparison) -> str:
    """Every sheet, in long form."""
    return csv_text(list(sheets(comparison)))
