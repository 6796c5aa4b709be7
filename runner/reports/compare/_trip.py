"""Two reports of trip versus move: how runs ended, what checks hold."""

from collections.abc import Iterator, Sequence

from runner.model import Outcome, RunRecord
from runner.reports.compare.claims import claims
from runner.reports.compare.nouns import Finding, Part, Tested, p_cell, several, turned
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.stats import fisher, rate
from runner.suites.trip_vs_move import Verdict
from runner.suites.trip_vs_move.protocol import KINDS

_UNPAIRED = (
    "Exact p: Fisher's exact test over runs. No run of A belongs to a run of B, so nothing is"
    " paired."
)


def trip(a: Report, b: Report) -> list[Part]:
    """Compare them; both under one version of the checks."""
    parts = [_outcomes(a, b), _bar(a, b)]
    for kind in KINDS:
        parts.append(_checks(kind, judged(a, kind), judged(b, kind), b.checks_version))
        parts.append(claims(kind, judged(a, kind), judged(b, kind), by_day=_dated(a, b)))
    return parts


def judged(report: Report, kind: str) -> list[RunRecord]:
    """The runs of a kind that came to a verdict."""
    counted = (Outcome.PASSED, Outcome.FAILED)
    return [run for run in report.runs if run.spec.kind == kind and run.ending.outcome in counted]


def _dated(a: Report, b: Report) -> bool:
    """Whether a day says something: on the wall clock it says when the runs were made."""
    return "now" not in (a.clock.mode, b.clock.mode)


def _outcomes(a: Report, b: Report) -> Part:
    rows, tests = [], []
    for kind in KINDS:
        counts = [_passed(judged(one, kind)) for one in (a, b)]
        if not any(of for _, of in counts):
            continue
        cells, p, tested = _held(f"{kind} runs that passed", counts)
        rows.append((Cell(kind), *cells, p_cell(p)))
        tests += tested
    columns = (
        Column("kind of run", key="kind"),
        Column("A passed", key="a"),
        Column("B passed", key="b"),
        Column("exact p", numeric=True, key="p"),
    )
    notes = [_UNPAIRED, *_least(a, b)]
    sheet = Sheet("outcomes", "How the runs ended", columns, tuple(rows), tuple(notes))
    return Part(several(iter((sheet,))), tests=tuple(tests))


def _least(a: Report, b: Report) -> Iterator[str]:
    """What so few runs can say at most."""
    for kind in KINDS:
        of, others = len(judged(a, kind)), len(judged(b, kind))
        if of and others:
            least = fisher(of, of, 0, others)
            if least >= 0.05:
                yield (
                    f"{of} against {others} {kind} runs: the least p there can be is {least:.2g}."
                )


def _bar(a: Report, b: Report) -> Part:
    one, other = a.verdict, b.verdict
    if not (isinstance(one, Verdict) and isinstance(other, Verdict)):
        return Part()
    return bar_part(one.bar_met, other.bar_met)


def bar_part(before: bool | None, after: bool | None) -> Part:
    """What became of the bar, where both can be told."""
    if before is None or after is None or before == after:
        return Part()
    said = {True: "met", False: "not met"}
    way = turned(after - before)
    return Part(findings=(Finding(way, "the bar", said[before], said[after]),))


def _passed(runs: Sequence[RunRecord]) -> tuple[int, int]:
    return sum(run.ending.outcome is Outcome.PASSED for run in runs), len(runs)


def _held(
    what: str, counts: Sequence[tuple[int, int]]
) -> tuple[tuple[Cell, Cell], float | None, list[Tested]]:
    """Two counts as cells, the p-value of their difference, and the test."""
    (hits, of), (others, of_others) = counts
    tone = Tone.PLAIN
    told = rate(hits, of), rate(others, of_others)
    if not of or not of_others:
        return (Cell(told[0]), Cell(told[1])), None, []
    p = fisher(hits, of, others, of_others)
    change = others * of - hits * of_others  # of shares, in whole numbers
    finding = None
    if change:
        way = turned(change)
        tone = Tone.GOOD if change > 0 else Tone.BAD
        finding = Finding(way, what, f"{hits} of {of}", f"{others} of {of_others}")
    cells = (
        Cell(told[0], value={"hits": hits, "of": of}),
        Cell(told[1], tone, {"hits": others, "of": of_others}),
    )
    return cells, p, [Tested(p, finding)]


def _checks(
    kind: str, before: Sequence[RunRecord], after: Sequence[RunRecord], version: int
) -> Part:
    """How often each check holds. They say what broke; a run's outcome is what is tested."""
    if not before or not after:
        return Part()
    titles: dict[str, str] = {}
    counts: list[dict[str, int]] = []
    for runs in (before, after):
        held: dict[str, int] = {}
        for run in runs:
            result = next(one for one in run.checks if one.version == version)
            for check in result.checks:
                titles.setdefault(check.id, check.title)
                held[check.id] = held.get(check.id, 0) + check.passed
        counts.append(held)
    rows, findings = [], []
    for id_, title in titles.items():
        pair = [(held.get(id_, 0), len(runs)) for held, runs in
                zip(counts, (before, after), strict=True)]  # fmt: skip
        cells, p, tested = _held(f"{kind} ({id_}) {title}", pair)
        findings += [test.finding for test in tested if test.finding is not None]
        rows.append((Cell(id_), Cell(title), *cells, p_cell(p)))
    columns = (
        Column("", key="id"),
        Column("check"),
        Column("A holds", key="a"),
        Column("B holds", key="b"),
        Column("exact p", numeric=True, key="p"),
    )
    sheet = Sheet(f"checks-{kind}", f"Checks of {kind} runs, version {version}", columns,
                  tuple(rows))  # fmt: skip
    return Part((sheet,), findings=tuple(findings))
