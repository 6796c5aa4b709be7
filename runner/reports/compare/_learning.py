"""Two reports of honesty learning: each week's questions paired, and what was learned between."""

from collections.abc import Collection

from runner.model import RunRecord
from runner.reports.compare._honesty import answered
from runner.reports.compare._trip import judged
from runner.reports.compare._turns import Answered
from runner.reports.compare.nouns import TONES, Finding, Part, Way, several
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.suites.honesty_learning import AFTER, BEFORE, Lesson, Lore, night
from runner.suites.honesty_learning import answered as given
from runner.suites.honesty_learning.pairs import Week
from runner.suites.memory_honesty import Grade, grades

_ASKED: tuple[tuple[str, Week, str, bool], ...] = (
    (AFTER, 2, "week 2 after learning", True),
    (AFTER, 1, "week 1", False),
    (BEFORE, 2, "week 2 without learning", False),
)
"""What is compared; what a lesson is for alone decides."""


def learning(a: Report, b: Report) -> list[Part]:
    """Compare the first graded run of each kind."""
    one, other = a.case, b.case
    assert isinstance(one, Lesson)
    assert isinstance(other, Lesson)
    parts = []
    for kind, week, title, decides in _ASKED:
        runs = [_first(report, kind) for report in (a, b)]
        if runs[0] is None or runs[1] is None:
            continue
        before, after = _grades(one, week, runs[0]), _grades(other, week, runs[1])
        name = f"{kind}-week{week}"
        parts += answered(Answered.of(name, title, other.exam(week), before, after, decides))
        if (kind, week) == (AFTER, 2):
            parts.append(_lessons(one, other, runs[0], runs[1]))
    return parts


def _first(report: Report, kind: str) -> RunRecord | None:
    runs = sorted(judged(report, kind), key=lambda run: run.spec.index)
    return runs[0] if runs else None


def _grades(lesson: Lesson, week: Week, run: RunRecord) -> tuple[Grade, ...]:
    return grades(lesson.exam(week), given(lesson, week, run.steps))


def _lessons(one: Lesson, other: Lesson, before: RunRecord, after: RunRecord) -> Part:
    """What each learned of which question."""
    here = {lore.pair: lore for lore in night(one, before.steps).learned}
    there = {lore.pair: lore for lore in night(other, after.steps).learned}
    rows, counts = [], dict.fromkeys(Way, 0)
    for pair in other.pairs:
        was, now = here.get(pair.id), there.get(pair.id)
        if _told(was) == _told(now):
            continue
        way = _way(was, now)
        counts[way] += 1
        rows.append(
            (Cell(way.value, TONES[way]), Cell(pair.id), Cell(pair.week1), _cell(was), _cell(now))
        )
    columns = (
        Column("", key="way"), Column("pair"), Column("asked in week 1", key="week1"),
        Column("A learned", key="a"), Column("B learned", key="b"),
    )  # fmt: skip
    sheet = Sheet("lessons", "What was learned otherwise", columns, tuple(rows))
    findings = tuple(
        Finding(way, "lessons, of a question each", _count(here.values()), _count(there.values()))
        for way, count in counts.items()
        if count
    )
    return Part(several(iter((sheet,))), findings=findings)


def _way(was: Lore | None, now: Lore | None) -> Way:
    """A right lesson is better than none, which is better than a wrong one."""
    change = _worth(now) - _worth(was)
    return Way.CHANGED if not change else Way.BETTER if change > 0 else Way.WORSE


def _worth(lore: Lore | None) -> int:
    return 0 if lore is None else 1 if lore.right else -1


def _told(lore: Lore | None) -> str | None:
    return None if lore is None else lore.page


def _cell(lore: Lore | None) -> Cell:
    if lore is None:
        return Cell("nothing", Tone.FAINT)
    return Cell(f"{lore.page} ({'right' if lore.right else 'wrong'})",
                Tone.GOOD if lore.right else Tone.BAD,
                {"page": lore.page, "right": lore.right})  # fmt: skip


def _count(some: Collection[Lore]) -> str:
    return f"{len(some)} learned, {sum(not lore.right for lore in some)} wrong"
