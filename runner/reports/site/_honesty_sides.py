"""What a page may tell of each report of the honesty suite: of a held-out set aggregates alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner.errors import UsageError
from runner.reports.honesty import Row, Taken, row_of, taken, under_rules
from runner.reports.schema import Report
from runner.reports.site._page import Entry
from runner.suites.memory_honesty import (
    SETS,
    Exam,
    Grade,
    HonestyVerdict,
    Result,
    Timing,
    grades,
)


@dataclass(frozen=True, slots=True)
class Side:
    """One report of one set, as its pages tell of it."""

    slug: str
    path: str
    """Of its own page."""
    runs_page: str
    """Of the page about its runs."""
    label: str
    """The system, and what sets it apart where a set has several reports of it."""
    report: Report
    """As published: without answers where the set is held out, whatever lies beside it."""
    exam: Exam
    """The same."""
    verdict: HonestyVerdict
    taken: Taken | None
    """What its first graded run took; none where its steps are sealed off."""
    _row: Row | None
    """The answers, for aggregates that a report does not hold; none where they are sealed off."""

    @property
    def result(self) -> Result | None:
        """Of its first graded run; none where none was graded."""
        return self.verdict.result

    @property
    def timing(self) -> Timing | None:
        """The same."""
        return self.verdict.runs[0].timing if self.verdict.runs else None

    @property
    def row(self) -> Row | None:
        """Its answers, question by question; never of a held-out set."""
        return None if self.exam.held_out else self._row

    @property
    def comparable(self) -> bool:
        """Whether it can be laid beside another question by question."""
        return self._row is not None

    def graded(self) -> tuple[Grade, ...]:
        """Its grades, to make aggregates of; empty where its answers are not there."""
        if self._row is None:
            return ()
        given = (answer.within(self._row.exam.top_k) for answer in self._row.answers)
        return grades(self._row.exam, given)

    def ruled(self, dev: "Side | None") -> Row | None:
        """What it comes to with replaced pages left out and a floor.

        Args:
            dev: the same system on the set that floors come from; none where nobody asked it.
        """
        if self._row is None or self.exam.told:
            return None
        if self._row.tells_scores and (dev is None or dev._row is None):
            return None
        return under_rules(self._row, None if dev is None else dev._row)


def sides(entries: Iterable[Entry]) -> dict[str, tuple[Side, ...]]:
    """The reports of the honesty suite by their set, the registered sets first; within one in the
    order of their labels, which is no ranking."""
    by_set: dict[str, list[Entry]] = {}
    for entry in entries:
        if isinstance(entry.report.case, Exam):
            by_set.setdefault(entry.report.case.set, []).append(entry)
    order = sorted(by_set, key=lambda name: (SETS.index(name) if name in SETS else 99, name))
    return {name: _of_set(by_set[name]) for name in order}


def _of_set(entries: Sequence[Entry]) -> tuple[Side, ...]:
    named = Counter(entry.report.system.name for entry in entries)
    made = [
        side
        for entry in entries
        if (side := _side(entry, alone=named[entry.report.system.name] == 1)) is not None
    ]
    return tuple(sorted(made, key=lambda side: (side.label, side.slug)))


def _side(entry: Entry, *, alone: bool) -> Side | None:
    report = entry.report
    if not isinstance(report.case, Exam) or not isinstance(report.verdict, HonestyVerdict):
        return None
    public = entry.public
    assert isinstance(public.case, Exam)
    name = report.system.name
    return Side(
        slug=entry.slug,
        path=entry.page,
        runs_page=entry.runs_page,
        label=name if alone else f"{name} ({entry.slug})",
        report=public,
        exam=public.case,
        verdict=report.verdict,
        taken=taken(report) if any(run.steps for run in report.runs) else None,
        _row=_row(report),
    )


def _row(report: Report) -> Row | None:
    assert isinstance(report.case, Exam)
    if not report.case.questions:
        return None
    try:
        return row_of(report)
    except UsageError:  # no run came to its end
        return None


def dev_of(side: Side, all_: Mapping[str, tuple[Side, ...]]) -> Side | None:
    """The same system, told to do the same, on the set that floors come from."""
    if not side.exam.held_out:
        return side
    return next(
        (
            one
            for one in all_.get(side.exam.floors_from, ())
            if one.report.system == side.report.system
            and one.report.options == side.report.options
            and one.exam.top_k == side.exam.top_k
        ),
        None,
    )
