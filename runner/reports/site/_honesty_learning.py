"""What a week of questions taught a memory, with a proof asked for and without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.reports.site._honesty_figures import of_what
from runner.reports.site._honesty_marks import SIGNS, Sign
from runner.reports.site._honesty_sheets import differing
from runner.reports.site._page import Entry
from runner.reports.site.figures import Figure, Panel, Share, forest
from runner.suites.honesty_learning import (
    AFTER,
    BEFORE,
    Lesson,
    LessonRun,
    LessonVerdict,
    Lore,
    Pair,
    answered,
    night,
)
from runner.suites.memory_honesty import Estimate, Grade, Tally, estimates, grades, metrics

_RATES = {
    "wrong_rate": "wrong citations",
    "neighbours_refused": "neighbours refused",
    "answerable_right": "answerable right",
}
_PROOF = {True: "with proof", False: "without proof"}


@dataclass(frozen=True, slots=True)
class Taught:
    """One pair, and what the night made of it."""

    pair: Pair
    done: Literal["learned", "kept out", "nothing"]
    lore: Lore | None
    """What the model named; none where it was not asked or named nothing."""
    before: Sign | None
    """What became of the second week's wording without the night; none where no such run was
    graded."""
    after: Sign | None

    @property
    def changed(self) -> bool:
        """Whether the night made a difference to it."""
        return self.before is not None and self.after is not None and self.before != self.after


def family(entry: Entry, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Reports of the same system and vault, this one first: with a proof asked for and without."""
    mine = entry.report.case
    assert isinstance(mine, Lesson)
    others = [
        one
        for one in entries
        if one.slug != entry.slug
        and isinstance(one.report.case, Lesson)
        and one.report.case.vault == mine.vault
        and one.report.case.set_sha256 == mine.set_sha256
        and one.report.system.name == entry.report.system.name
    ]
    return (entry, *others)


def weeks(family: Sequence[Entry]) -> Figure | None:
    """The second week's rates before the night and after it; none where no run was graded."""
    lines: list[tuple[str, dict[str, Estimate], Tally]] = []
    for number, entry in enumerate(family):
        for kind in (BEFORE, AFTER):
            run = _run(entry.report, kind)
            if run is None or (kind == BEFORE and number and _same_before(family[0], entry)):
                continue
            given = _grades(entry.report, run, 2)
            told = "before the night" if kind == BEFORE else f"after it, {proof(entry.report)}"
            lines.append((told, estimates(given, stratified=True), metrics(given)))
    if not lines:
        return None
    return forest(
        "weeks",
        "Week 2, before the night and after it",
        "A field for each rate; a line for the run without a night, and one for each run with"
        " one. The dot is the rate, the bar its 95% interval.",
        [told for told, _, _ in lines],
        [
            Panel(
                title,
                tuple(_share(name, of, tally) for _, of, tally in lines),
                less=name == "wrong_rate",
            )
            for name, title in _RATES.items()
        ],
        first="run",
    )


def proof(report: Report) -> str:
    """Whether a proof was asked for, in words."""
    verdict = report.verdict
    after = verdict.after if isinstance(verdict, LessonVerdict) else None
    if after is None or after.learned is None:
        return "nothing learned"
    return _PROOF[after.learned.proof]


def learned(family: Sequence[Entry]) -> Sheet:
    """What each night came to, a line each."""
    heads = ("asked", "learned", "of them wrong", "kept out", "of them right", "declined")
    rows = []
    for entry in family:
        verdict = entry.report.verdict
        after = verdict.after if isinstance(verdict, LessonVerdict) else None
        if after is None or after.learned is None:
            continue
        one = after.learned
        counts = (one.asked, one.learned, one.wrong, one.unproved, one.unproved_right, one.declined)
        rows.append(
            (
                Cell(_PROOF[one.proof]),
                Cell(str(one.looked_at), value=one.looked_at),
                *(
                    Cell(
                        str(count), Tone.BAD if head == "of them wrong" and count else Tone.PLAIN,
                        count,
                    )
                    for head, count in zip(heads, counts, strict=True)
                ),
            )
        )  # fmt: skip
    return Sheet(
        name="learned",
        title="What the night came to",
        columns=(
            Column("night"),
            Column("questions of week 1", numeric=True, key="looked_at"),
            *(Column(head, numeric=True) for head in heads),
        ),
        rows=tuple(rows),
        notes=(
            "Asked: questions that a model was asked about. Kept out: the model named a page and"
            " did not prove it, where a proof was asked for. Declined: the model found no page.",
        ),
    )


def differences(entry: Entry) -> Sheet | None:
    """Week 2 after the night minus before it; none where one of the runs is missing."""
    report, verdict = entry.report, entry.report.verdict
    if not isinstance(verdict, LessonVerdict) or verdict.paired is None:
        return None
    return Sheet(
        name=f"differences-{entry.slug}",
        title=f"After the night minus before it, {proof(report)}",
        columns=(
            Column("week 2"),
            Column("difference in points, 95%", numeric=True, key="difference"),
            Column("right after alone", numeric=True),
            Column("right before alone", numeric=True),
            Column("exact p", numeric=True, key="p"),
        ),
        rows=differing(verdict.paired),
    )


def taught(report: Report) -> tuple[Taught, ...]:
    """Every pair with what the night made of it; none where there was no night."""
    case = report.case
    after = _run(report, AFTER)
    if not isinstance(case, Lesson) or after is None:
        return ()
    [record] = [run for run in report.runs if run.spec.id == after.run]
    done = night(case, record.steps)
    lore = {one.pair: one for one in (*done.learned, *done.unproved)}
    taken = {one.pair for one in done.learned}
    then = {grade.question: grade for grade in _grades(report, after, 2)}
    before = _run(report, BEFORE)
    first = {} if before is None else {one.question: one for one in _grades(report, before, 2)}
    return tuple(
        Taught(
            pair=pair,
            done="learned" if pair.id in taken else "kept out" if pair.id in lore else "nothing",
            lore=lore.get(pair.id),
            before=_sign(first.get(pair.id)),
            after=_sign(then.get(pair.id)),
        )
        for pair in case.pairs
    )


def _sign(grade: Grade | None) -> Sign | None:
    return None if grade is None else SIGNS[grade.outcome]


def _run(report: Report, kind: str) -> LessonRun | None:
    if not isinstance(report.verdict, LessonVerdict):
        return None
    return report.verdict.before if kind == BEFORE else report.verdict.after


def _grades(report: Report, run: LessonRun, week: Literal[1, 2]) -> tuple[Grade, ...]:
    case = report.case
    assert isinstance(case, Lesson)
    [record] = [one for one in report.runs if one.spec.id == run.run]
    return grades(case.exam(week), answered(case, week, record.steps))


def _same_before(one: Entry, other: Entry) -> bool:
    here, there = _run(one.report, BEFORE), _run(other.report, BEFORE)
    return here is not None and there is not None and here.week2 == there.week2


def _share(name: str, of: dict[str, Estimate], tally: Tally) -> Share | None:
    estimate = of.get(name)
    if estimate is None:
        return None
    return Share(estimate.value, estimate.low, estimate.high, *of_what(name, tally))


def lessons(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The reports of the learning suite."""
    return (entry for entry in entries if isinstance(entry.report.case, Lesson))
