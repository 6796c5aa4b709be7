"""Two reports of the update gate, pair by pair under each rule.

Samples of one pair are asked of one model and are no trials of their own, so tests count pairs. A
pair is right under a rule as the bar has it: an update retired in at least two thirds of the
samples, a control in none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from runner.reports.compare._trip import bar_part, judged
from runner.reports.compare.nouns import TONES, Finding, Part, Tested, Way, several, turned
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.stats import mcnemar
from runner.suites.update_gate import (
    RULES,
    Gate,
    GateVerdict,
    Pair,
    PairSet,
    Sample,
    retires,
    samples,
)
from runner.suites.update_gate.rules import PRODUCTION
from runner.suites.update_gate.score import needed

_NOTES = (
    "A pair is right as the bar has it: an update retired in two thirds of the samples, a control"
    " in none. Alone right: pairs that one of the two alone has right; exact p: McNemar's test.",
    "More right: pairs of which one of the two has the larger share of samples right; sign p: the"
    " exact sign test. Samples of a pair are not independent, so pairs are counted.",
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One pair under one rule in one report."""

    pair: Pair
    hits: int
    """Samples that retire it."""
    of: int

    @property
    def right(self) -> bool:
        """Whether the bar would have it so."""
        return self.hits >= needed(self.of) if self.pair.positive else not self.hits

    @property
    def samples_right(self) -> int:
        """Samples decided as labelled."""
        return self.hits if self.pair.positive else self.of - self.hits

    def __str__(self) -> str:
        return f"retired in {self.hits} of {self.of}"


_Both = tuple[_Asked, _Asked]


def gate(a: Report, b: Report) -> list[Part]:
    """Compare the sets that both were asked and that have a counted sample in both."""
    one, other = a.case, b.case
    assert isinstance(one, Gate)
    assert isinstance(other, Gate)
    both: dict[str, dict[str, list[_Both]]] = {}
    for pairs in one.sets:
        if pairs.name not in other.kinds:
            continue
        taken = [_taken(report, pairs) for report in (a, b)]
        if all(taken):
            both[pairs.name] = {rule: _asked(pairs, rule, *taken) for rule in RULES}
    return [_totals(both), _pairs(both), _bars(a, b, list(both))]


def _taken(report: Report, pairs: PairSet) -> list[Mapping[str, Sample]]:
    case = report.case
    assert isinstance(case, Gate)
    return [samples(case, pairs.name, run.steps) for run in judged(report, pairs.name)]


def _asked(
    pairs: PairSet,
    rule: str,
    before: Sequence[Mapping[str, Sample]],
    after: Sequence[Mapping[str, Sample]],
) -> list[_Both]:
    def one(pair: Pair, taken: Sequence[Mapping[str, Sample]]) -> _Asked:
        return _Asked(pair, sum(retires(rule, said[pair.id]) for said in taken), len(taken))

    return [(one(pair, before), one(pair, after)) for pair in pairs.pairs]


def _totals(both: Mapping[str, Mapping[str, Sequence[_Both]]]) -> Part:
    rows, tests = [], []
    for rule in RULES:
        every = [two for of in both.values() for two in of[rule]]
        for name, some in (*((name, of[rule]) for name, of in both.items()), ("all", every)):
            if name == "all" and len(both) < 2:
                continue
            rows.append((Cell(rule), Cell(name), *_row(some)))
        if rule == PRODUCTION and every:
            tests.append(_tested(rule, every))
    columns = (
        Column("rule"),
        Column("set"),
        Column("A right", numeric=True, key="a_right"),
        Column("B right", numeric=True, key="b_right"),
        Column("alone right", numeric=True, key="alone_right"),
        Column("more right", numeric=True, key="more_right"),
    )
    sheet = Sheet("rules", "Pairs under each rule", columns, tuple(rows), _NOTES)
    return Part(several(iter((sheet,))), tests=tuple(tests))


def _row(some: Sequence[_Both]) -> tuple[Cell, ...]:
    barred = _barred(some)
    only_a, only_b = _alone(barred)
    more_a = sum(_more(one, other) for one, other in barred)
    more_b = sum(_more(other, one) for one, other in barred)
    of = len(barred)
    rights = (sum(one.right for one, _ in barred), sum(other.right for _, other in barred))
    return (
        *(Cell(f"{right}/{of}", value={"hits": right, "of": of}) for right in rights),
        _versus(only_a, only_b),
        _versus(more_a, more_b),
    )


def _versus(a: int, b: int) -> Cell:
    """How many of which only one of two holds, with the exact test of it."""
    p = mcnemar(a, b)
    return Cell(f"{a} v {b}, p {p:.3g}", value={"a": a, "b": b, "p": p})


def _tested(rule: str, some: Sequence[_Both]) -> Tested:
    barred = _barred(some)
    only_a, only_b = _alone(barred)
    finding = None
    if only_a or only_b:
        way = turned(only_b - only_a)
        what = f"pairs right under {rule}"
        rights = (sum(one.right for one, _ in barred), sum(other.right for _, other in barred))
        before, after = (f"{right} of {len(barred)}" for right in rights)
        finding = Finding(way, what, before, after)
    return Tested(mcnemar(only_a, only_b), finding)


def _pairs(both: Mapping[str, Mapping[str, Sequence[_Both]]]) -> Part:
    """Every pair that is not retired as often as it was; rules that see it alike in one row."""
    rows, findings = [], []
    for name, of in both.items():
        for place, (first, _) in enumerate(of[PRODUCTION]):
            alike: dict[_Both, list[str]] = {}
            for rule in RULES:
                alike.setdefault(of[rule][place], []).append(rule)
            for (one, other), rules in alike.items():
                if one.hits * other.of == other.hits * one.of:
                    continue
                way, called = _way(one, other), f"{name} {first.pair.id}"
                rows.append(
                    (
                        Cell(way.value, TONES[way]),
                        Cell(called),
                        Cell(_expected(first.pair)),
                        Cell("every rule" if len(rules) == len(RULES) else ", ".join(rules)),
                        _cell(one),
                        _cell(other),
                    )
                )
                if PRODUCTION in rules:
                    what = f"{called} ({_expected(first.pair)})"
                    findings.append(Finding(way, what, str(one), str(other)))
    columns = (
        Column("", key="way"),
        Column("pair"),
        Column("expected"),
        Column("rule"),
        Column("A retired", key="a"),
        Column("B retired", key="b"),
    )
    sheet = Sheet("pairs", "Pairs that are not retired as often", columns, tuple(rows))
    return Part(several(iter((sheet,))), findings=tuple(findings))


def _expected(pair: Pair) -> str:
    said = pair.expected.replace("-", " ")
    return said if pair.barred else f"{said}, never barred"


def _cell(one: _Asked) -> Cell:
    tone = Tone.PLAIN if not one.pair.barred else Tone.GOOD if one.right else Tone.BAD
    said = "" if not one.pair.barred else ", right" if one.right else ", wrong"
    right = one.right if one.pair.barred else None
    value: dict[str, JsonValue] = {"hits": one.hits, "of": one.of, "right": right}
    return Cell(f"{one.hits} of {one.of}{said}", tone, value)


def _way(one: _Asked, other: _Asked) -> Way:
    """What became of a pair. Where it is as right as it was, more or fewer samples of it are."""
    if not one.pair.barred or one.right == other.right:
        return Way.CHANGED
    return turned(other.right - one.right)


def _bars(a: Report, b: Report, names: Sequence[str]) -> Part:
    one, other = a.verdict, b.verdict
    if not (isinstance(one, GateVerdict) and isinstance(other, GateVerdict)):
        return Part()
    findings = []
    for name in names:
        part = bar_part(one.set_score(name).bar_met, other.set_score(name).bar_met)
        for found in part.findings:
            findings.append(Finding(found.way, f"the bar of {name}", found.before, found.after))
    return Part(findings=tuple(findings))


def _barred(some: Sequence[_Both]) -> list[_Both]:
    return [(one, other) for one, other in some if one.pair.barred]


def _alone(some: Sequence[_Both]) -> tuple[int, int]:
    """Pairs that A alone has right, and that B alone has."""
    return (
        sum(one.right and not other.right for one, other in some),
        sum(other.right and not one.right for one, other in some),
    )


def _more(one: _Asked, other: _Asked) -> bool:
    """Whether the first has the larger share of samples right."""
    return one.samples_right * other.of > other.samples_right * one.of
