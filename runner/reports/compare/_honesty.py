"""Two reports of memory honesty: the same questions, paired.

Of a held-out set counts and tests alone are told, never a question.
"""

from runner.reports.compare._turns import Answered, questions, transitions
from runner.reports.compare.nouns import Finding, Part, Tested, p_cell, several, turned
from runner.reports.honesty import row_of
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.suites.memory_honesty import Estimate, Grade, HonestyVerdict, grades, paired
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


def honesty(a: Report, b: Report) -> list[Part]:
    """Compare the first graded run of each."""
    one, other = row_of(a), row_of(b)
    graded = [
        grades(row.exam, [answer.within(row.exam.top_k) for answer in row.answers])
        for row in (one, other)
    ]
    two = Answered.of("", "", other.exam, graded[0], graded[1])
    return [*answered(two), _moved(a, b, two)]


def answered(two: Answered) -> list[Part]:
    """Everything there is to say of the same questions answered twice."""
    changed = questions(two)
    if not changed.findings:  # as they were: figures of no difference say nothing more
        return [_tests(two)] if two.decides else []
    figures = Part((_differences(two), *_by_part(two), transitions(two)))
    return [_tests(two), figures, changed]


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


def _moved(a: Report, b: Report, two: Answered) -> Part:
    """How much moves between runs of one report, beside what moved between the two."""
    moved = sum(one.cited != other.cited for one, other in zip(two.before, two.after, strict=True))
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
