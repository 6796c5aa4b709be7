"""What several samples of each set come to: tallies and the bar."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from runner.errors import UsageError
from runner.model import Outcome, RunRecord
from runner.stats import mcnemar
from runner.suites.update_gate.checks import check, ending
from runner.suites.update_gate.pairs import SUITE, Gate, Pair, PairSet
from runner.suites.update_gate.rules import BEFORE, PRODUCTION, RULES, Sample, retires, samples
from runner.suites.update_gate.verdict import GateVerdict, Paired, Reported, RuleTally, SetScore

K = TypeVar("K")

BAR = 3
"""Samples of every pair that the bar asks for: this and no other number."""
HELD_OUT_MISSES = 1
"""Updates of a held-out set that may be missed; of any other set none."""
JUDGED = (Outcome.PASSED, Outcome.FAILED)


def needed(asked: int) -> int:
    """In how many of so many samples an update has to be retired to count as retired."""
    return max(1, -(-2 * asked // 3))


def score(
    gate: Gate, records: Sequence[RunRecord], planned: Mapping[str, int] | None = None
) -> GateVerdict:
    """Count how the samples of every set turned out.

    A run that reached its verdict is read again from its own steps; any other counts nowhere,
    whatever it was told before it ended.

    Args:
        gate: what was asked.
        records: the runs there are: one set once each.
        planned: how many samples of each set there should be; as many as the gate says when left
            out.

    Raises:
        UsageError: neither a run nor a plan of one, records of another suite, set or sample, the
            same sample twice.
        UnreadableSample: a run with a verdict that its steps do not hold.
    """
    plan = dict.fromkeys(gate.kinds, gate.samples) if planned is None else dict(planned)
    if not records and not sum(plan.values()):
        raise UsageError("There is no run to score, and none is planned.")
    _fits(gate, records, plan)
    own = {record.spec.model for record in records}
    mixture = {
        purpose: model
        for record in records
        for purpose, model in sorted(record.spec.pins.items())
        if model != record.spec.model
    }
    read = [
        _Asked(
            pairs=pairs,
            planned=plan.get(pairs.name, 0),
            taken=tuple(
                samples(gate, pairs.name, record.steps)
                for record in records
                if record.spec.kind == pairs.name and record.ending.outcome in JUDGED
            ),
            one_model=not mixture and len(own) < 2,
        )
        for pairs in gate.sets
    ]
    scores = tuple(_score(asked, _endings(gate, asked.pairs.name, records)) for asked in read)
    bar_met, bar_note = _bar_of_all(scores)
    return GateVerdict(
        sets=scores,
        paired=_paired([one for asked in read for one in asked.barred()]),
        bar_met=bar_met,
        bar_note=bar_note,
        models=(*sorted(own), *sorted(set(mixture.values()) - own)),
        mixture=mixture,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """One set and what was found out about it."""

    pairs: PairSet
    planned: int
    taken: tuple[Mapping[str, Sample], ...]
    """The counted samples, by pair."""
    one_model: bool

    @property
    def open(self) -> int:
        """Planned samples without a verdict."""
        return self.planned - len(self.taken)

    def of(self, pair: Pair) -> list[Sample]:
        """The counted samples of one pair."""
        return [taken[pair.id] for taken in self.taken]

    def hits(self, rule: str, pair: Pair) -> int:
        """How many of its counted samples a rule retires."""
        return sum(retires(rule, sample) for sample in self.of(pair))

    def barred(self) -> list[tuple[Pair, Sample]]:
        """Every counted sample that the bar asks for."""
        return [(p, sample) for p in self.pairs.pairs if p.barred for sample in self.of(p)]


def _score(asked: _Asked, endings: Sequence[tuple[Outcome, str]]) -> SetScore:
    told = [_bar(asked, rule) for rule in RULES]
    pairs = asked.pairs
    added = tuple(
        pair.id
        for pair in pairs.controls
        if any(
            retires(PRODUCTION, sample) and not retires(BEFORE, sample) for sample in asked.of(pair)
        )
    )
    tally, note = told[RULES.index(PRODUCTION)]
    return SetScore(
        name=pairs.name,
        title=pairs.title,
        held_out=pairs.held_out,
        planned=asked.planned,
        outcomes=_count(outcome for outcome, _ in endings),
        reasons=_count(reason for outcome, reason in endings if outcome is not Outcome.PASSED),
        rules=tuple(tally for tally, _ in told),
        paired=_paired(asked.barred()),
        bar_met=tally.met,
        bar_note=note,
        regression=False if added else None if asked.open or not asked.taken else True,
        added=added,
        reported={
            pair.id: Reported(
                class_=pair.class_,
                expected=pair.expected,
                retirements={rule: asked.hits(rule, pair) for rule in RULES},
                of=len(asked.taken),
            )
            for pair in pairs.reported
        },
    )


def _bar(asked: _Asked, rule: str) -> tuple[RuleTally, str]:
    pairs, need = asked.pairs, needed(asked.planned)
    updates = {pair.id: asked.hits(rule, pair) for pair in pairs.positives}
    controls = {pair.id: asked.hits(rule, pair) for pair in pairs.controls}
    missed = tuple(id_ for id_, hits in updates.items() if hits + asked.open < need)
    retired = tuple(id_ for id_, hits in controls.items() if hits)
    met, note = _verdict(asked, missed, retired)
    tally = RuleTally(
        rule=rule,
        positives_retired=sum(hits >= need for hits in updates.values()),
        positives=len(updates),
        missed=missed,
        control_retirements=sum(controls.values()),
        control_samples=len(controls) * len(asked.taken),
        control_rows=retired,
        met=met,
    )
    return tally, note


def _verdict(
    asked: _Asked, missed: Sequence[str], retired: Sequence[str]
) -> tuple[bool | None, str]:
    if not asked.one_model:
        return None, "A mixture of models has no bar."
    if asked.planned != BAR:
        return None, f"The bar is for {BAR} samples of every pair, no more and no fewer."
    if retired:
        return False, f"Controls were retired: {', '.join(retired)}."
    if asked.open:
        return None, f"Not told: {asked.open} of {BAR} samples have no verdict."
    allowed = HELD_OUT_MISSES if asked.pairs.held_out else 0
    if len(missed) > allowed:
        return False, f"Updates were missed: {', '.join(missed)}."
    but = f" but {missed[0]}, and one may be missed" if missed else ""
    return True, (
        f"Every update{but} was retired in {needed(BAR)} of {BAR} samples or more, and no control"
        " in any, on one model."
    )


def _bar_of_all(scores: Sequence[SetScore]) -> tuple[bool | None, str]:
    names = ", ".join(one.name for one in scores)
    missed = [one.name for one in scores if one.bar_met is False]
    if missed:
        return False, f"Missed on {', '.join(missed)}, of {names}."
    untold = [one for one in scores if one.bar_met is None]
    if untold:
        return None, f"{untold[0].name}: {untold[0].bar_note}"
    return True, f"Met on {names}."


def _paired(barred: Sequence[tuple[Pair, Sample]]) -> tuple[Paired, ...]:
    found = []
    for rule, other in combinations(RULES, 2):
        only_rule = only_other = 0
        for pair, sample in barred:
            right = retires(rule, sample) is pair.positive
            other_right = retires(other, sample) is pair.positive
            only_rule += right and not other_right
            only_other += other_right and not right
        found.append(
            Paired(
                rule=rule,
                other=other,
                only_rule_right=only_rule,
                only_other_right=only_other,
                p_value=mcnemar(only_rule, only_other),
            )
        )
    return tuple(found)


def _endings(gate: Gate, kind: str, records: Iterable[RunRecord]) -> list[tuple[Outcome, str]]:
    return [_ending(gate, record) for record in records if record.spec.kind == kind]


def _ending(gate: Gate, record: RunRecord) -> tuple[Outcome, str]:
    if record.ending.outcome not in JUDGED:
        return record.ending.outcome, record.ending.kind
    ended = ending(check(gate, record.spec.kind, record.steps))
    return ended.outcome, ended.kind


def _fits(gate: Gate, records: Sequence[RunRecord], plan: Mapping[str, int]) -> None:
    for name in plan:
        gate.pair_set(name)
    seen: set[object] = set()
    for record in records:
        spec = record.spec
        if (spec.suite, spec.case) != (SUITE, gate.name):
            raise UsageError(f"Run {spec.id} is of {spec.suite}, {spec.case}, not of {gate.name}.")
        if spec.fixtures != gate.fixtures:
            raise UsageError(
                f"Run {spec.id} was asked the {spec.fixtures} pairs, not the {gate.fixtures} ones."
            )
        gate.pair_set(spec.kind)
        if not 1 <= spec.index <= plan.get(spec.kind, 0):
            raise UsageError(
                f"Run {spec.id} is sample {spec.index} of {spec.kind}, of which"
                f" {plan.get(spec.kind, 0)} are planned."
            )
        if {spec.id, (spec.kind, spec.index)} & seen:
            raise UsageError(f"Run {spec.id} is there twice.")
        seen |= {spec.id, (spec.kind, spec.index)}


def _count(items: Iterable[K]) -> dict[K, int]:
    counts: dict[K, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts
