"""What has to hold of tallies and bars whatever a system says."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.model import Outcome, RunRecord
from runner.suites.update_gate import (
    RULES,
    Gate,
    check,
    ending,
    needed,
    observe,
    retires,
    samples,
    score,
)
from tests.suites.update_gate._tables import Said, gate, pair, pair_set, run

pytestmark = pytest.mark.slow

SAID = st.tuples(st.booleans(), st.booleans())


@st.composite
def gates(draw: st.DrawFn) -> Gate:
    kinds = draw(st.lists(st.sampled_from(["development", "held-out"]), min_size=1, unique=True))
    sets = []
    for kind in kinds:
        expected = st.sampled_from(["changes", "not-changes", "report"])
        rows = draw(st.lists(st.tuples(expected, st.booleans()), max_size=5))
        pairs = [
            pair(f"p{number}", label, "case" if case else "row")
            for number, (label, case) in enumerate(
                [("changes", False), ("not-changes", False), *rows]
            )
        ]
        sets.append(pair_set(kind, *pairs))
    return gate(*sets, samples=draw(st.integers(2, 5)))


@st.composite
def runs_of(draw: st.DrawFn, asked: Gate) -> list[RunRecord]:
    records = []
    for pairs in asked.sets:
        ids = [row.id for row in pairs.pairs]
        for index in range(1, asked.samples + 1):
            how = draw(st.sampled_from(["passed", "passed", "passed", "errored", "missing"]))
            if how == "missing":
                continue
            said: dict[str, Said] = {id_: draw(SAID) for id_ in ids}
            marked = [id_ for id_ in ids if draw(st.booleans())]
            records.append(run(asked, pairs.name, index, said, outcome=how, marked=marked))
    return records


@st.composite
def scored(draw: st.DrawFn) -> tuple[Gate, list[RunRecord]]:
    asked = draw(gates())
    return asked, draw(runs_of(asked))


@settings(max_examples=80, deadline=None)
@given(scored())
def test_tallies_are_what_counting_by_hand_gives(asked: tuple[Gate, list[RunRecord]]) -> None:
    subject, records = asked
    verdict = score(subject, records)
    for pairs, found in zip(subject.sets, verdict.sets, strict=True):
        of = [record for record in records if record.spec.kind == pairs.name]
        counted = [r for r in of if r.ending.outcome is Outcome.PASSED]
        taken = [samples(subject, pairs.name, record.steps) for record in counted]
        assert (found.counted, found.uncounted) == (len(counted), len(of) - len(counted))
        assert found.counted + found.uncounted + found.missing == found.planned
        for tally in found.rules:
            hits = {
                row.id: sum(retires(tally.rule, one[row.id]) for one in taken)
                for row in pairs.pairs
            }
            least = needed(subject.samples)
            positives = [row.id for row in pairs.positives]
            controls = [row.id for row in pairs.controls]
            assert tally.positives == len(positives)
            assert tally.positives_retired == sum(hits[id_] >= least for id_ in positives)
            assert tally.control_retirements == sum(hits[id_] for id_ in controls)
            assert tally.control_samples == len(controls) * len(counted)
            assert tally.control_rows == tuple(id_ for id_ in controls if hits[id_])
            if len(counted) == subject.samples:
                assert len(tally.missed) == tally.positives - tally.positives_retired
            assert tally.positives_retired + len(tally.missed) <= tally.positives
            for id_, row in found.reported.items():
                assert row.retirements[tally.rule] == hits[id_]


@settings(max_examples=80, deadline=None)
@given(scored())
def test_the_bar_follows_from_the_tallies(asked: tuple[Gate, list[RunRecord]]) -> None:
    subject, records = asked
    verdict = score(subject, records)
    for found in verdict.sets:
        assert found.bar_met is found.rule("production").met
        for tally in found.rules:
            if found.planned != 3:
                assert tally.met is None
            elif tally.control_retirements:
                assert tally.met is False
            elif found.counted < 3:
                assert tally.met is None
            else:
                assert tally.met is (len(tally.missed) <= found.held_out)
    bars = [found.bar_met for found in verdict.sets]
    expected = False if False in bars else None if None in bars else True
    assert verdict.bar_met is expected


@settings(max_examples=80, deadline=None)
@given(scored())
def test_a_looser_rule_retires_no_less(asked: tuple[Gate, list[RunRecord]]) -> None:
    subject, records = asked
    for found in score(subject, records).sets:
        by_rule = {tally.rule: tally for tally in found.rules}
        strict, middle, loose = (by_rule[rule] for rule in (RULES[2], RULES[0], RULES[1]))
        for less, more in ((strict, middle), (middle, loose)):
            assert less.positives_retired <= more.positives_retired
            assert less.control_retirements <= more.control_retirements
            assert set(less.control_rows) <= set(more.control_rows)
        if not middle.control_retirements:
            assert found.added == ()
        assert set(found.added) <= set(middle.control_rows)
        assert (found.regression is False) is bool(found.added)


@settings(max_examples=80, deadline=None)
@given(scored(), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_steps_says_nothing(
    asked: tuple[Gate, list[RunRecord]], rnd: Any
) -> None:
    subject, records = asked
    shuffled = [
        record.model_copy(update={"steps": tuple(rnd.sample(record.steps, len(record.steps)))})
        for record in rnd.sample(records, len(records))
    ]
    first, second = score(subject, records), score(subject, shuffled)
    assert first == second
    again = {record.spec.id: record.steps for record in shuffled}
    for record in records:
        if record.ending.outcome is Outcome.PASSED:
            kind = record.spec.kind
            assert check(subject, kind, record.steps) == check(subject, kind, again[record.spec.id])
            assert observe(subject, kind, record.steps) == observe(
                subject, kind, again[record.spec.id]
            )


@settings(max_examples=80, deadline=None)
@given(scored())
def test_pairs_of_rules_add_up_over_the_sets(asked: tuple[Gate, list[RunRecord]]) -> None:
    subject, records = asked
    verdict = score(subject, records)
    for place, whole in enumerate(verdict.paired):
        parts = [found.paired[place] for found in verdict.sets]
        assert whole.only_rule_right == sum(part.only_rule_right for part in parts)
        assert whole.only_other_right == sum(part.only_other_right for part in parts)
        assert 0 < whole.p_value <= 1


@settings(max_examples=80, deadline=None)
@given(scored())
def test_a_set_all_of_whose_samples_pass_meets_the_bar(
    asked: tuple[Gate, list[RunRecord]],
) -> None:
    subject, records = asked
    verdict = score(subject, records)
    for found in verdict.sets:
        outcomes = [
            ending(check(subject, found.name, record.steps)).outcome
            for record in records
            if record.spec.kind == found.name and record.ending.outcome is Outcome.PASSED
        ]
        assert found.outcomes.get(Outcome.PASSED, 0) == outcomes.count(Outcome.PASSED)
        if outcomes.count(Outcome.PASSED) == found.planned == 3:
            assert found.bar_met is True


@settings(max_examples=80, deadline=None)
@given(scored())
def test_what_reported_rows_are_said_of_changes_no_verdict(
    asked: tuple[Gate, list[RunRecord]],
) -> None:
    subject, records = asked
    changed = []
    for record in records:
        spared = {f"probe {row.id}" for row in subject.pair_set(record.spec.kind).reported}
        steps = tuple(
            step.model_copy(update={"result": {**step.result, "update": "changes"}})
            if step.name in spared
            else step
            for step in record.steps
        )
        changed.append(record.model_copy(update={"steps": steps}))
    for before, after in zip(
        score(subject, records).sets, score(subject, changed).sets, strict=True
    ):
        assert after.model_copy(update={"reported": before.reported}) == before
