"""Two reports of memory honesty: the same questions, paired.

Of a held-out set counts and tests alone are told, never a question.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runner.errors import UsageError
from runner.reports.compare.nouns import TONES, Finding, Part, Tested, Way, p_cell, several, turned
from runner.reports.honesty import row_of
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.suites.memory_honesty import (
    Estimate,
    Exam,
    Grade,
    HonestyVerdict,
    Mark,
    Question,
    grades,
    paired,
)
from runner.suites.memory_honesty.metrics import by_kind, by_language

TESTS = {
    "behaved": "right (answered or refused)",
    "not_wrong": "no wrong citation",
    "answerable_right": "answerable right",
    "neighbours_refused": "neighbours refused",
}
RATES = {
    "wrong_rate": "wrong of answered",
    "stale_rate": "replaced page of answered",
    "behaved": "right (answered or refused)",
    "answerable_right": "answerable right",
    "corrections_right": "corrections right",
    "current_right": "current right",
    "neighbours_refused": "neighbours refused",
    "false_refusals": "refused wrongly",
    "coverage": "coverage",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """The same questions, as two reports have them answered.

    Attributes:
        name: of these answers, for a program; empty where a report has but one set of them.
        title: the same in words.
        exam: what was asked.
        before: the grades of A, in the order of the exam.
        after: those of B.
        decides: whether its tests decide what is significant.
    """

    name: str
    title: str
    exam: Exam
    before: tuple[Grade, ...]
    after: tuple[Grade, ...]
    decides: bool = True

    def called(self, name: str) -> str:
        """A sheet's name."""
        return f"{name}-{self.name}" if self.name else name

    def titled(self, title: str) -> str:
        """A sheet's title."""
        return f"{title}, {self.title}" if self.title else title


def honesty(a: Report, b: Report) -> list[Part]:
    """Compare the first graded run of each."""
    one, other = row_of(a), row_of(b)
    graded = [
        grades(row.exam, [answer.within(row.exam.top_k) for answer in row.answers])
        for row in (one, other)
    ]
    return [*answered(Answered("", "", other.exam, graded[0], graded[1])), _moved(a, b, graded)]


def answered(two: Answered) -> list[Part]:
    """Everything there is to say of the same questions answered twice."""
    parts = [_tests(two), Part((_differences(two), *_by_part(two), _transitions(two)))]
    return [*parts, _questions(two)]


def _tests(two: Answered) -> Part:
    found = paired(two.after, two.before, seed=two.exam.seed, resamples=1).tests
    rows, tests, findings = [], [], []
    for name, told in TESTS.items():
        test = found[name]
        # Of B against A, so that more is better.
        gained, lost = test.only_first, test.only_second
        way = turned(gained - lost)
        rows.append(
            (
                Cell(told), Cell(str(lost), Tone.BAD if lost else Tone.PLAIN, lost),
                Cell(str(gained), Tone.GOOD if gained else Tone.PLAIN, gained),
                p_cell(test.p_value),
            )
        )  # fmt: skip
        finding = None
        if gained or lost:
            what = two.titled(told)
            finding = Finding(way, what, f"alone in {lost}", f"alone in {gained}", test.p_value)
        if two.decides:
            tests.append(Tested(test.p_value, finding))
        elif finding is not None:
            findings.append(finding)
    columns = (
        Column("right in", key="test"),
        Column("A alone", numeric=True, key="only_a"),
        Column("B alone", numeric=True, key="only_b"),
        Column("exact p", numeric=True, key="p"),
    )
    notes = (
        "McNemar's exact test over the same questions: how often as uneven a split of those on"
        " which A and B differ comes by chance.",
    )
    sheet = Sheet(
        two.called("tests"), two.titled("Question by question"), columns, tuple(rows), notes
    )
    return Part((sheet,), tuple(findings), tuple(tests))


def _differences(two: Answered) -> Sheet:
    found = paired(two.after, two.before, seed=two.exam.seed)
    languages = found.by_language if len(found.by_language) > 1 else {}
    columns = (
        Column("B minus A, points", key="rate"),
        Column("all", numeric=True),
        *(Column(lang, numeric=True) for lang in languages),
    )
    rows = tuple(
        (
            Cell(told),
            _points(found.differences[name]),
            *(_points(rates.get(name)) for rates in languages.values()),
        )
        for name, told in RATES.items()
        if name in found.differences
    )
    notes = (
        "With 95% intervals of resampled questions, the same resamples for both, kinds kept apart.",
    )
    return Sheet(two.called("differences"), two.titled("Differences"), columns, rows, notes)


def _by_part(two: Answered) -> tuple[Sheet, ...]:
    """Counts and the test of ``behaved``, by kind and by language."""
    after = {grade.question: grade for grade in two.after}
    languages = by_language(two.before)
    groups: list[tuple[str, list[Grade]]] = [*by_kind(two.before).items()]
    groups += languages.items() if len(languages) > 1 else ()
    rows = []
    for name, before in groups:
        others = [after[grade.question] for grade in before]
        test = paired(others, before, resamples=1).tests["behaved"]
        of = len(before)
        counts = [sum(grade.behaved for grade in some) for some in (before, others)]
        wrong = [sum(grade.wrong for grade in some) for some in (before, others)]
        rows.append(
            (
                Cell(name),
                *(Cell(f"{count}/{of}", value={"hits": count, "of": of}) for count in counts),
                Cell(f"{test.only_second} v {test.only_first}",
                     value={"a": test.only_second, "b": test.only_first}),
                p_cell(test.p_value),
                *(Cell(str(count), value=count) for count in wrong),
            )
        )  # fmt: skip
    columns = (
        Column("of", key="part"),
        Column("A right", numeric=True, key="a_right"),
        Column("B right", numeric=True, key="b_right"),
        Column("alone right", numeric=True, key="alone_right"),
        Column("exact p", numeric=True, key="p"),
        Column("A wrong", numeric=True, key="a_wrong"),
        Column("B wrong", numeric=True, key="b_wrong"),
    )
    notes = (
        "Right: the right page cited, or rightly refused. Wrong: a page cited that is none. Parts"
        " are not tested to decide anything.",
    )
    sheet = Sheet(
        two.called("parts"), two.titled("By kind and language"), columns, tuple(rows), notes
    )
    return several(iter((sheet,)))


def _transitions(two: Answered) -> Sheet:
    """What became of what, in counts."""
    counts = Counter(
        (one.outcome, other.outcome) for one, other in zip(two.before, two.after, strict=True)
    )
    marks = [mark for mark in Mark if any(mark in key for key in counts)]
    rows = tuple(
        (Cell(_word(one)), *(_transition(one, other, counts[one, other]) for other in marks))
        for one in marks
    )
    columns = (
        Column("A, and then in B", key="a"),
        *(Column(_word(mark), numeric=True, key=mark.value) for mark in marks),
    )
    return Sheet(two.called("transitions"), two.titled("What became of what"), columns, rows)


def _transition(one: Mark, other: Mark, count: int) -> Cell:
    if not count:
        return Cell("·", Tone.FAINT, 0)
    return Cell(str(count), Tone.PLAIN if one is other else TONES[way_of(one, other)], count)


def way_of(one: Mark, other: Mark) -> Way:
    """What a change of marks is: right is better than nothing said, which is better than wrong."""
    return turned(_worth(other) - _worth(one))


def _worth(mark: Mark) -> int:
    if mark in (Mark.RIGHT, Mark.REFUSED):
        return 2
    return 1 if mark is Mark.FALSE_REFUSAL else 0


def _questions(two: Answered) -> Part:
    """Every question that is not answered as it was; of a held-out set how many alone."""
    changed = [
        (one, other)
        for one, other in zip(two.before, two.after, strict=True)
        if (one.outcome, one.cited) != (other.outcome, other.cited)
    ]
    counts = Counter(way_of(one.outcome, other.outcome) for one, other in changed)
    findings = tuple(
        Finding(way, two.titled(f"questions that are {_BECAME[way]}"), "·", str(counts[way]))
        for way in Way
        if counts[way]
    )
    if two.exam.held_out:
        return Part(findings=findings)
    asked = {question.id: question for question in two.exam.asked()}
    rows = [_question(asked[one.question], one, other) for one, other in changed]
    columns = (
        Column("", key="way"), Column("question"), Column("kind"), Column("asked"),
        Column("A"), Column("B"),
    )  # fmt: skip
    title = two.titled("Questions answered otherwise")
    sheet = Sheet(two.called("questions"), title, columns, tuple(rows))
    return Part(several(iter((sheet,))), findings=findings)


_BECAME = {
    Way.WORSE: "worse than they were",
    Way.BETTER: "better than they were",
    Way.CHANGED: "answered otherwise, as well or ill",
}


def _question(asked: Question, one: Grade, other: Grade) -> tuple[Cell, ...]:
    way = way_of(one.outcome, other.outcome)
    return (
        Cell(way.value, TONES[way]), Cell(asked.id), Cell(f"{asked.kind}, {asked.lang}"),
        Cell(asked.q), _said(one), _said(other),
    )  # fmt: skip


def _said(grade: Grade) -> Cell:
    told = _word(grade.outcome) + (f": {grade.cited}" if grade.cited else "")
    tone = Tone.BAD if grade.wrong else Tone.GOOD if grade.behaved else Tone.UNSURE
    return Cell(told, tone, {"outcome": grade.outcome.value, "cited": grade.cited})


def _moved(a: Report, b: Report, graded: Sequence[Sequence[Grade]]) -> Part:
    """How much moves between runs of one report, beside what moved between the two."""
    before, after = graded
    moved = sum(one.cited != other.cited for one, other in zip(before, after, strict=True))
    columns = (Column("", key="between"), Column("runs", numeric=True),
               Column("questions that differ", numeric=True, key="differing"))  # fmt: skip
    rows = [
        (Cell("A and B, the first run of each"), Cell("2", value=2), Cell(str(moved), value=moved))
    ]
    for name, report in (("A", a), ("B", b)):
        verdict = report.verdict
        if isinstance(verdict, HonestyVerdict) and verdict.repeats is not None:
            again = verdict.repeats
            rows.append(
                (Cell(f"the runs of {name}"), Cell(str(again.runs), value=again.runs),
                 Cell(str(again.differing), value=again.differing))
            )  # fmt: skip
    if len(rows) == 1:
        return Part()
    notes = ("What moves between runs of one report moves by chance, or by the order of asking.",)
    return Part((Sheet("moved", "What moves by itself", columns, tuple(rows), notes),))


def _points(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return Cell("undefined", Tone.FAINT)
    value = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    low, high = 100 * estimate.low, 100 * estimate.high
    return Cell(f"{100 * estimate.value:+.1f} [{low:+.1f}, {high:+.1f}]", value=dict(value))


def _word(mark: Mark) -> str:
    return mark.value.replace("_", " ")


def see_paired(one: Exam, other: Exam) -> None:
    """See that both were asked the same questions in the same words.

    Raises:
        UsageError: they were not.
    """
    if one.asked() != other.asked():
        raise UsageError(f"A and B were not asked the same questions of {one.set}.")
