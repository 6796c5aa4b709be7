"""The page of one report of trip versus move or the update gate, and what every report tells of how
it was made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment

from runner.model import ImageIdentity, Outcome, RunRecord
from runner.reports.cells import outcome, sheet, text, words
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet, Tone
from runner.reports.sheets import NOT_RUN, runs_sheet, sheets_of, spend_sheets, tallies_sheet
from runner.reports.site._env import anchor, exact
from runner.reports.site._page import Entry
from runner.reports.site._run import tried
from runner.reports.site.figures import Figure, rules
from runner.suites.registry import suite_of
from runner.suites.update_gate import (
    RULES,
    Gate,
    GateVerdict,
    Pair,
    UnreadableSample,
    retires,
    samples,
    step_name,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One pair, and what each sample of it came to."""

    anchor: str
    pair: Pair
    wanted: str
    """What the bar wants, in words."""
    samples: Sheet


def report_page(entry: Entry, env: Environment) -> str:
    """The page of a report."""
    report = entry.public
    suite = suite_of(report.case)
    by_name = {one.name: one for one in sheets_of(report)}
    runs = by_name.pop("runs")
    return env.get_template("report.html").render(
        entry=entry,
        report=report,
        suite=suite.title,
        runs=runs,
        run_links=run_links(entry),
        summary=by_name.pop("summary"),
        outcomes=by_name.pop("outcomes"),
        published=[exact(by_name.pop("published"))] if "published" in by_name else [],
        sheets=tuple(by_name.values()),
        versions=versions(report),
        figures=_figures(report),
        pairs=tuple(_pairs(entry)),
        **provenance(report),
    )


def runs_page(entry: Entry, env: Environment) -> str:
    """How a report was made, run by run: for reports whose own page tells of their questions."""
    report = entry.public
    return env.get_template("runs.html").render(
        entry=entry,
        report=report,
        suite=suite_of(report.case).title,
        runs=runs_sheet(report),
        run_links=run_links(entry),
        outcomes=tallies_sheet(report),
        spend=spend_sheets(report),
        **provenance(report),
    )


def run_links(entry: Entry) -> dict[int, str]:
    """Where each line of the runs' table leads."""
    return {number: entry.run_page(run) for number, run in enumerate(entry.report.runs)}


def provenance(report: Report) -> dict[str, object]:
    """What a page tells of how a report was made."""
    return {
        "days": _days(report),
        "tried": tried(report.runs),
        "images": [(image, _packages(image)) for image in report.images],
        "warnings": _warnings(report.runs),
    }


def _packages(image: ImageIdentity) -> str:
    counts = Counter(package.manager for package in image.packages)
    return ", ".join(f"{count} {manager}" for manager, count in counts.items()) or "none listed"


def _days(report: Report) -> Sheet:
    """The day that each step was set to, and what the system's own clock then said."""
    seen: dict[str, dict[str, None]] = {}
    for run in report.runs:
        for step in run.steps:
            saw = "nothing" if step.saw is None else step.saw.date().isoformat()
            seen.setdefault(step.name, {})[saw] = None
    names = dict.fromkeys((*report.clock.days, *seen)) if report.clock.days else {}
    lines = []
    for name in names:
        day, days = report.clock.days.get(name), tuple(seen.get(name, ()))
        off = day is not None and any(one not in (day, "nothing") for one in days)
        lines.append(
            (
                words(name),
                words(day or "the wall clock"),
                words(", ".join(days) or "not run", Tone.BAD if off else Tone.PLAIN),
            )
        )
    columns = [text("step"), text("day it was set to"), text("day the system saw")]
    return sheet("days", "Days", columns, lines)


def _warnings(runs: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """What runs say in words, with the runs that say it."""
    told: dict[str, list[str]] = {}
    for run in runs:
        for line in run.warnings:
            told.setdefault(line, []).append(f"{run.spec.kind} {run.spec.index}")
    return [(line, ", ".join(some)) for line, some in told.items()]


def versions(report: Report) -> Sheet:
    """Every run under every version of the checks, side by side."""
    known = report.case.checks_versions
    columns = [text("run"), *(text(f"checks v{version}", f"v{version}") for version in known)]
    lines = []
    for run in report.runs:
        results = {result.version: result for result in run.checks}
        cells = []
        for version in known:
            result = results.get(version)
            if result is None:
                cells.append(outcome(run.ending.outcome))
                continue
            broken = [check.id for check in result.checks if not check.passed]
            reason = f", {result.reason}" if result.reason else ""
            passed = Outcome.PASSED if result.passed else Outcome.FAILED
            names = f": broken {', '.join(broken)}" if broken else ""
            cells.append(Cell(f"{passed.value}{names}{reason}", outcome(passed).tone))
        lines.append((words(f"{run.spec.kind} {run.spec.index}"), *cells))
    blank = [Cell("") for _ in known[1:]]
    lines += [
        (words(f"{one.kind} {one.index}"), words(NOT_RUN, Tone.UNSURE), *blank)
        for one in report.missing
    ]
    told = (f"The verdict goes by version {report.checks_version}.",)
    return sheet("versions", "Every version of the checks", columns, lines, told)


def _figures(report: Report) -> tuple[Figure, ...]:
    if isinstance(report.verdict, GateVerdict) and any(one.counted for one in report.verdict.sets):
        return (rules("rules-figure", report.verdict),)
    return ()


def _pairs(entry: Entry) -> Iterator[tuple[str, str, tuple[Asked, ...]]]:
    """Every set of a gate with its pairs."""
    report = entry.public
    if not isinstance(report.case, Gate):
        return
    for one in report.case.sets:
        runs = [run for run in report.runs if run.spec.kind == one.name]
        asked = tuple(
            Asked(
                anchor(f"{one.name} {pair.id}", "pair"),
                pair,
                "retired" if pair.positive else "kept" if pair.control else "never barred",
                _samples(report.case, one.name, pair, runs),
            )
            for pair in one.pairs
        )
        yield one.title, one.about, asked


def _samples(case: Gate, kind: str, pair: Pair, runs: Sequence[RunRecord]) -> Sheet:
    columns = [text("sample"), text("contradiction"), text("update"), text("marked as past")]
    columns += [text(rule) for rule in RULES]
    lines = []
    for run in runs:
        name = words(f"{run.spec.index}")
        steps = [step for step in run.steps if step.name == step_name(pair.id)]
        alone = case.pair_set(kind).model_copy(update={"pairs": (pair,)})
        try:
            found = samples(case.model_copy(update={"sets": (alone,)}), kind, steps)[pair.id]
        except UnreadableSample as problem:
            lines.append(
                (name, words(problem.message, Tone.ERRORED), *(Cell("·") for _ in "12345"))
            )
            continue
        said = (found.contradiction, found.changes, found.marked)
        told = [words("yes" if one else "no") for one in said]
        lines.append((name, *told, *(_ruled(pair, retires(rule, found)) for rule in RULES)))
    sheet_name = f"samples-{anchor(f'{kind} {pair.id}', 'pair')}"
    return sheet(sheet_name, f"Samples of {pair.id}", columns, lines)


def _ruled(pair: Pair, retired: bool) -> Cell:
    told = "retires" if retired else "keeps"
    if not pair.barred:
        return words(told)
    return words(told, Tone.GOOD if retired == pair.positive else Tone.BAD)
