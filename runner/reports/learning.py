"""What a week of learning came to, as tables that fit eighty columns."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runner.plain import plain
from runner.reports.schema import Report
from runner.suites.honesty_learning import Learned, Lesson, LessonVerdict
from runner.suites.memory_honesty import Count, Estimate, Metrics

_TOLD = {
    "behaved": "right (answered or refused)",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
_PROOF = {True: "with proof", False: "without proof"}


def nights(reports: Sequence[Report]) -> Iterator[RenderableType]:
    """For every vault a line before the night and one after each, then what changed.

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
        yield Text(plain(f"{some[0].system.name} on {title(case)}"))
        yield Text()
        yield from night([one.verdict for one in some if isinstance(one.verdict, LessonVerdict)])
        yield Text()


def title(lesson: Lesson) -> str:
    """A lesson in a line."""
    counts = ", ".join(f"{count} {kind}" for kind, count in lesson.counts.items())
    return f"{lesson.vault}: {lesson.size} pairs ({counts})"


def night(verdicts: Sequence[LessonVerdict]) -> Iterator[RenderableType]:
    """One vault: second-week figures before and after, what was learned, and what changed."""
    table = _table("week 2", "learned", "wrong", "cited wrong", "refused", "right")
    befores = [one.before.week2 for one in verdicts if one.before is not None]
    told: list[Metrics] = []
    for week2 in befores:
        if week2 not in told:
            told.append(week2)
            table.add_row("before", "·", "·", *_week(week2))
    for verdict in verdicts:
        if verdict.after is not None and verdict.after.learned is not None:
            learned = verdict.after.learned
            table.add_row(
                f"after, {_PROOF[learned.proof]}",
                str(learned.learned),
                str(learned.wrong),
                *_week(verdict.after.week2),
            )
    yield table
    if len(told) > 1:
        yield Text("The runs before are of one protocol and should not differ.")
    for verdict in verdicts:
        yield from _changed(verdict)


def _week(week: Metrics) -> tuple[str, str, str]:
    return (
        f"{week.wrong}/{week.answered}",
        _of(week.neighbours_refused),
        _of(week.answerable_right),
    )


def _changed(verdict: LessonVerdict) -> Iterator[RenderableType]:
    after = verdict.after
    if after is None or after.learned is None or after.week1 is None:
        return
    head = _PROOF[after.learned.proof]
    week1 = "{} cited wrong, {} refused, {} right".format(*_week(after.week1))
    yield Text()
    yield Text(f"{head}: {_asked(after.learned)}; week 1: {week1}")
    found = verdict.paired
    if found is None:
        return
    table = _table(f"{head}, minus before", "difference, 95%", "alone right", "exact p")
    for name, told in _TOLD.items():
        if (difference := found.differences.get(name)) is not None:
            test = found.tests[name]
            alone = f"{test.only_first} v {test.only_second}"
            table.add_row(told, _points(difference), alone, f"{test.p_value:.3g}")
    table.add_row("wrong of answered", _points(found.differences["wrong_rate"]), "·", "·")
    test = found.tests["not_wrong"]
    alone = f"{test.only_first} v {test.only_second}"
    table.add_row("no wrong citation", "·", alone, f"{test.p_value:.3g}")
    yield table


def _asked(learned: Learned) -> str:
    kept_out = f"{learned.unproved} kept out for want of a proof"
    if learned.unproved_right:
        kept_out += f" ({learned.unproved_right} of them right)"
    return (
        f"of {learned.looked_at} questions of week 1 a model was asked about {learned.asked}:"
        f" {learned.learned} learned, {kept_out}, {learned.declined} declined"
    )


def _of(count: Count) -> str:
    return f"{count.hits}/{count.of}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"
