"""What a week of learning came to, as tables that fit eighty columns."""

from collections.abc import Iterator, Sequence

from runner.plain import plain
from runner.reports.cells import NOTHING, short_rate, whole, words
from runner.reports.honesty._cells import alone, p_value, points, table
from runner.reports.honesty.against import DIFFERENCE
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Sheet
from runner.suites.honesty_learning import Learned, Lesson, LessonVerdict
from runner.suites.memory_honesty import Metrics

_TOLD = {
    "behaved": "right (answered or refused)",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
_PROOF = {True: "with proof", False: "without proof"}


def nights(reports: Sequence[Report]) -> Iterator[tuple[str, tuple[Sheet, ...]]]:
    """For every vault its head, a line before the night and one after each, then what changed.

    Reports of one vault and system stand together: what they were before is told once, where it
    was the same.
    """
    groups: dict[tuple[str, str], list[Report]] = {}
    for report in reports:
        if isinstance(report.case, Lesson) and isinstance(report.verdict, LessonVerdict):
            groups.setdefault((report.case.vault, report.system.name), []).append(report)
    for some in groups.values():
        case = some[0].case
        assert isinstance(case, Lesson)
        verdicts = [one.verdict for one in some if isinstance(one.verdict, LessonVerdict)]
        yield plain(f"{some[0].system.name} on {title(case)}"), night(verdicts)


def title(lesson: Lesson) -> str:
    """A lesson in a line."""
    counts = ", ".join(f"{count} {kind}" for kind, count in lesson.counts.items())
    return f"{lesson.vault}: {lesson.size} pairs ({counts})"


def night(verdicts: Sequence[LessonVerdict]) -> tuple[Sheet, ...]:
    """One vault: second-week figures before and after, what was learned, and what changed."""
    lines: list[tuple[Cell, ...]] = []
    befores = [one.before.week2 for one in verdicts if one.before is not None]
    told: list[Metrics] = []
    for week2 in befores:
        if week2 not in told:
            told.append(week2)
            lines.append((words("before"), NOTHING, NOTHING, *_week(week2)))
    for verdict in verdicts:
        if verdict.after is not None and verdict.after.learned is not None:
            learned = verdict.after.learned
            lines.append(
                (
                    words(f"after, {_PROOF[learned.proof]}"),
                    whole(learned.learned),
                    whole(learned.wrong),
                    *_week(verdict.after.week2),
                )
            )
    notes = ("The runs before are of one protocol and should not differ.",)
    week2_table = table(
        "nights",
        "Week 2 before and after the night, exact 95%",
        ("week 2, exact 95%", "when"),
        (("learned", "learned"), ("wrong", "learned_wrong"), *_WEEK),
        lines,
        notes if len(told) > 1 else (),
    )
    return (week2_table, *(part for verdict in verdicts for part in _changed(verdict)))


_WEEK = (
    ("cited wrong", "cited_wrong"),
    ("refused", "neighbours_refused"),
    ("right", "answerable_right"),
)


def _week(week: Metrics) -> tuple[Cell, ...]:
    refused, right = week.neighbours_refused, week.answerable_right
    return (
        short_rate(week.wrong, week.answered),
        short_rate(refused.hits, refused.of),
        short_rate(right.hits, right.of),
    )


def _changed(verdict: LessonVerdict) -> Iterator[Sheet]:
    after = verdict.after
    if after is None or after.learned is None or after.week1 is None:
        return
    head = _PROOF[after.learned.proof]
    week1 = "{} cited wrong, {} refused, {} right".format(
        *(cell.text for cell in _week(after.week1))
    )
    name = "proof" if after.learned.proof else "no-proof"
    note = f"{head}: {_asked(after.learned)}; week 1: {week1}"
    found = verdict.paired
    lines: list[tuple[Cell, ...]] = []
    if found is not None:
        for key, told in _TOLD.items():
            if (difference := found.differences.get(key)) is not None:
                test = found.tests[key]
                tested = alone(test.only_first, test.only_second), p_value(test.p_value)
                lines.append((Cell(told, value=key), points(difference), *tested))
        wrong = Cell("wrong of answered", value="wrong_rate")
        lines.append((wrong, points(found.differences["wrong_rate"]), NOTHING, NOTHING))
        test = found.tests["not_wrong"]
        tested = alone(test.only_first, test.only_second), p_value(test.p_value)
        lines.append((Cell("no wrong citation", value="not_wrong"), NOTHING, *tested))
    title = f"{head}, minus before"
    yield table(f"changed-{name}", title, (title, "figure"), DIFFERENCE, lines, (note,))


def _asked(learned: Learned) -> str:
    kept_out = f"{learned.unproved} kept out for want of a proof"
    if learned.unproved_right:
        kept_out += f" ({learned.unproved_right} of them right)"
    return (
        f"of {learned.looked_at} questions of week 1 a model was asked about {learned.asked}:"
        f" {learned.learned} learned, {kept_out}, {learned.declined} declined"
    )
