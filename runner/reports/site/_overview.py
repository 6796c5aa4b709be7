"""The first page: suites, systems and models side by side, with no score over all and no rank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment

from runner.model import Outcome
from runner.reports.cells import MET, NOTHING, dollars, figure, rate, sheet, text, words
from runner.reports.others import others
from runner.reports.schema import Comparable, Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.reports.sheets import NOT_RUN, published_sheets
from runner.reports.site._env import exact, named
from runner.reports.site._honesty import set_path
from runner.reports.site._page import Entry
from runner.reports.site._who import asks_model, model, system, told_apart
from runner.suites.honesty_learning import LessonVerdict
from runner.suites.memory_honesty import Exam, HonestyVerdict
from runner.suites.registry import suite_of
from runner.suites.trip_vs_move import Verdict
from runner.suites.update_gate import RULES, GateVerdict, SetScore

_UNTOLD = (Outcome.INCOMPLETE, Outcome.INVALID, Outcome.ERRORED)
_HEAD = (text("system"), text("model"))
_FOOT = (text("without a verdict"), text("comparable"), figure("US$", "usd"))


@dataclass(frozen=True, slots=True)
class Linked:
    """A sheet whose rows lead to pages."""

    sheet: Sheet
    links: dict[int, str]


@dataclass(frozen=True, slots=True)
class Part:
    """One suite, or one set of the honesty suite."""

    id: str
    title: str
    page: str
    """A page about all of it; empty where there is none."""
    results: Linked
    published: tuple[tuple[str, Sheet], ...]
    """Published figures beside ours, with what they stand beside."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Reports of a suite of which the same is to be said beside the published runs."""

    suite: str
    reports: tuple[tuple[str, str], ...]
    """What each is about, and its page."""
    comparable: Comparable


def index(entries: Sequence[Entry], env: Environment) -> str:
    """The first page."""
    reports = [entry.public for entry in entries]
    return env.get_template("index.html").render(
        entries=entries,
        systems=len({(one.system.name, one.system.version) for one in reports}),
        models=len({one.model for one in reports if asks_model(one)}),
        parts=tuple(_parts(entries)),
        comparability=_comparability(entries),
        incomplete=[entry for entry in entries if entry.report.missing],
    )


def _parts(entries: Sequence[Entry]) -> Iterator[Part]:
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        case = entry.report.case
        of_set = case.set if isinstance(case, Exam) else ""
        groups.setdefault((entry.report.suite, of_set), []).append(entry)
    for number, ((_, of_set), some) in enumerate(sorted(groups.items()), 1):
        some = sorted(some, key=lambda one: (one.report.case.name, system(one.report), one.slug))
        suite = suite_of(some[0].report.case)
        title = f"{suite.title}: {of_set}" if of_set else suite.title
        results = _results(some, f"results-{number}", title)
        yield Part(
            id=f"part-{number}",
            title=title,
            page=set_path(of_set) if of_set else "",
            results=results,
            published=tuple(_published(some, of_set, number)),
        )


def _published(some: Sequence[Entry], of_set: str, number: int) -> Iterator[tuple[str, Sheet]]:
    if of_set:
        for one in others(of_set):
            yield "Other memories", exact(named(one, f"published-{number}"))
        return
    names = told_apart(some)
    for place, entry in enumerate(some):
        for one in published_sheets(entry.public):
            yield names[entry.slug], exact(named(one, f"published-{number}-{place}"))


def _results(some: Sequence[Entry], name: str, title: str) -> Linked:
    lines: list[tuple[Cell, ...]] = []
    links: dict[int, str] = {}
    middle: Sequence[Column] = ()
    names = told_apart(some)
    for entry in some:
        report, file = entry.public, f" ({entry.path.name})"
        alike = names[entry.slug].endswith(file)
        middle, rows = _rows(report)
        for row in rows or [(*(NOTHING for _ in middle), words("no run yet", Tone.UNSURE))]:
            links[len(lines)] = entry.page
            lines.append(
                (
                    words(f"{system(report)}{file}" if alike else system(report)),
                    words(model(report)),
                    *row,
                    words(
                        "yes" if report.comparable.holds else "no",
                        Tone.PLAIN if report.comparable.holds else Tone.FAINT,
                    ),
                    Cell(dollars(report.spend.cost_usd) if asks_model(report) else "·"),
                )
            )
    return Linked(sheet(name, title, [*_HEAD, *middle, *_FOOT], lines), links)


def _rows(report: Report) -> tuple[Sequence[Column], list[tuple[Cell, ...]]]:
    """The columns of a report's suite, and its lines, each with the runs without a verdict last."""
    verdict = report.verdict
    if report.suite == "trip-vs-move":
        columns = [text("case"), text("kind"), text("passed"), figure("failed"), text("coverage"),
                   text("bar")]  # fmt: skip
        return columns, list(_trip(report, verdict)) if isinstance(verdict, Verdict) else []
    if report.suite == "update-gate":
        columns = [text("set"), text("updates retired"), text("controls retired"),
                   text("coverage"), text("bar")]  # fmt: skip
        return columns, list(_gate(verdict)) if isinstance(verdict, GateVerdict) else []
    if report.suite == "memory-honesty":
        columns = [text("wrong of answered"), text("answered"), text("answerable right"),
                   text("neighbours refused"), text("graded")]  # fmt: skip
        return columns, list(_honesty(verdict)) if isinstance(verdict, HonestyVerdict) else []
    columns = [text("vault"), text("run"), text("week 2: wrong of answered"),
               text("answerable right"), text("neighbours refused")]  # fmt: skip
    return columns, list(_learning(verdict)) if isinstance(verdict, LessonVerdict) else []


def _trip(report: Report, verdict: Verdict) -> Iterator[tuple[Cell, ...]]:
    case = report.case
    fault = next((run.spec.fault for run in report.runs if run.spec.fault), None)
    name = f"{case.name}{f', {case.variant}' if case.variant else ''}"
    for tally in verdict.tallies:
        if tally.planned:
            yield (
                words(f"{name}, made wrong: {fault}" if fault else name),
                words(tally.kind),
                rate(tally.passed, tally.counted),
                Cell(str(tally.counted - tally.passed)),
                words(f"{tally.counted} of {tally.planned}"),
                MET[verdict.bar_met],
                _untold(tally.outcomes, tally.missing),
            )


def _gate(verdict: GateVerdict) -> Iterator[tuple[Cell, ...]]:
    for one in verdict.sets:
        tally = one.rule(RULES[0])
        yield (
            words(one.title),
            rate(tally.positives_retired, tally.positives),
            rate(tally.control_retirements, tally.control_samples),
            words(_samples(one)),
            MET[one.bar_met],
            _untold(one.outcomes, one.missing),
        )


def _samples(one: SetScore) -> str:
    return f"{one.counted} of {one.planned}"


def _honesty(verdict: HonestyVerdict) -> Iterator[tuple[Cell, ...]]:
    result = verdict.result
    rest = _untold(verdict.outcomes, verdict.missing)
    graded = words(f"{verdict.counted} of {verdict.planned}")
    if result is None:
        yield (*(NOTHING for _ in "1234"), graded, rest)
        return
    found = result.metrics
    yield (
        rate(found.wrong, found.answered),
        rate(found.answered, found.n),
        rate(found.answerable_right.hits, found.answerable_right.of),
        rate(found.neighbours_refused.hits, found.neighbours_refused.of),
        graded,
        rest,
    )


def _learning(verdict: LessonVerdict) -> Iterator[tuple[Cell, ...]]:
    missing = sum(verdict.planned.values()) - sum(verdict.outcomes.values())
    for run in verdict.runs:
        week = run.week2
        yield (
            words(verdict.vault),
            words(f"{run.kind} {run.index}"),
            rate(week.wrong, week.answered),
            rate(week.answerable_right.hits, week.answerable_right.of),
            rate(week.neighbours_refused.hits, week.neighbours_refused.of),
            _untold(verdict.outcomes, missing),
        )


def _untold(outcomes: dict[Outcome, int], missing: int) -> Cell:
    """Runs that count in no rate, by type."""
    told = {one.value: outcomes.get(one, 0) for one in _UNTOLD} | {NOT_RUN: missing}
    some = [f"{count} {name}" for name, count in told.items() if count > 0]
    return words(", ".join(some), Tone.UNSURE) if some else words("none", Tone.FAINT)


def _comparability(entries: Sequence[Entry]) -> tuple[Comparison, ...]:
    named = told_apart(entries)
    groups: dict[tuple[str, Comparable], list[tuple[str, str]]] = {}
    for entry in entries:
        one = entry.report.comparable
        key = (entry.report.suite, one)
        groups.setdefault(key, []).append((named[entry.slug], entry.page))
    return tuple(
        Comparison(suite, tuple(sorted(some)), one) for (suite, one), some in groups.items()
    )
