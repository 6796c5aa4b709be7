"""The tallies and bars of their update gate, by the rules of the report itself.

A report does not say what the system's own rule took for a past-value marker, but its tallies show
it wherever it made a difference. What they show is taken; the marker of this bench decides the
rest, on which nothing depends.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from runner.reports.upstream.result import Difference
from runner.reports.upstream.schema import SavedBars, SavedPair, SavedSample, SavedSet, SavedTally
from runner.suites.update_gate import RULES, Sample, retires
from runner.suites.update_gate.pairs import CASE
from runner.suites.update_gate.rules import BEFORE, CHANGES_ONLY, PRODUCTION

ENOUGH = 2
"""Samples that have to retire an update by their rule, however many there are."""


def sampled(sample: SavedSample, mark: bool) -> Sample:
    """One sample as their rule takes it: what has no verdict counts as a no."""
    return Sample(
        contradiction=sample.contradiction is True, changes=sample.slot == "changes", marked=mark
    )


def shown_marks(saved: SavedSet) -> dict[str, bool]:
    """Which pairs the system's own rule saw a past-value marker in, by id, as far as the saved
    tallies of the production rule show it: wherever it makes a difference, if they are sound."""
    shown = {row.id: _shown(row, saved.bars) for row in saved.rows}
    return {id_: mark for id_, mark in shown.items() if mark is not None}


def bars(rows: Sequence[SavedPair], given: Mapping[str, bool], *, held_out: bool) -> SavedBars:
    """Every figure that their report saves of a set.

    Args:
        rows: the pairs with their samples.
        given: whether the older claim of each is marked as past, by id.
        held_out: whether one update may be missed.
    """
    controls = [row for row in rows if _control(row)]
    added = tuple(
        row.id
        for row in controls
        if any(
            retires(PRODUCTION, one) and not retires(BEFORE, one)
            for one in (sampled(sample, given[row.id]) for sample in row.samples)
        )
    )
    gates = {rule: _tally(rows, rule, given, held_out=held_out) for rule in RULES}
    return SavedBars(
        gates=gates,
        bar=gates[PRODUCTION].ok,
        regression=not added,
        controls_added_by_production=added,
        reported={row.id: _reported(row, given) for row in rows if not _barred(row)},
    )


def bars_apart(where: str, saved: SavedBars, computed: SavedBars) -> list[Difference]:
    """Every figure that was saved otherwise than its rows come to."""
    found: list[Difference] = []

    def compare(what: str, theirs: object, ours: object) -> None:
        if theirs != ours:
            found.append(
                Difference(where=where, what=what, saved=_told(theirs), computed=_told(ours))
            )

    for rule in RULES:
        tally = saved.gates.get(rule)
        if tally is None:
            compare(rule, "nothing", "a tally")
            continue
        for name in SavedTally.model_fields:
            theirs, ours = getattr(tally, name), getattr(computed.gates[rule], name)
            if isinstance(ours, tuple):
                theirs, ours = sorted(theirs), sorted(ours)
            compare(f"{rule}: {name}", theirs, ours)
    compare("bar", saved.bar, computed.bar)
    compare("regression", saved.regression, computed.regression)
    compare(
        "controls_added_by_production",
        sorted(saved.controls_added_by_production),
        sorted(computed.controls_added_by_production),
    )
    compare("reported", sorted(saved.reported), sorted(computed.reported))
    for id_, ours in computed.reported.items():
        told = saved.reported.get(id_, {})
        for key, value in ours.items():
            compare(f"reported {id_}: {key}", told.get(key), value)
    return found


def _barred(row: SavedPair) -> bool:
    return row.class_ != CASE and row.expected != "report"


def _control(row: SavedPair) -> bool:
    return _barred(row) and row.expected == "not_changes"


def _hits(row: SavedPair, rule: str, mark: bool) -> int:
    return sum(retires(rule, sampled(sample, mark)) for sample in row.samples)


def _shown(row: SavedPair, saved: SavedBars) -> bool | None:
    unmarked, mark = _hits(row, CHANGES_ONLY, False), _hits(row, BEFORE, False)
    if unmarked == mark:
        return None  # nothing depends on it
    if not _barred(row):
        said = saved.reported.get(row.id, {}).get(PRODUCTION)
        return {mark: True, unmarked: False}.get(said) if isinstance(said, int) else None
    if _control(row):
        return row.id not in saved.controls_added_by_production
    if unmarked < ENOUGH or mark >= ENOUGH or PRODUCTION not in saved.gates:
        return None  # missed, or retired, either way
    return row.id in saved.gates[PRODUCTION].positive_misses


def _tally(
    rows: Iterable[SavedPair], rule: str, given: Mapping[str, bool], *, held_out: bool
) -> SavedTally:
    hits = {row.id: _hits(row, rule, given[row.id]) for row in rows}
    updates = [row for row in rows if _barred(row) and not _control(row)]
    controls = [row for row in rows if _control(row)]
    missed = tuple(row.id for row in updates if hits[row.id] < ENOUGH)
    retired = tuple(row.id for row in controls if hits[row.id])
    return SavedTally(
        positives_retired=len(updates) - len(missed),
        positives=len(updates),
        positive_misses=missed,
        control_retirements=sum(hits[row.id] for row in controls),
        control_samples=sum(len(row.samples) for row in controls),
        control_rows_retired=retired,
        ok=len(missed) <= (1 if held_out else 0) and not retired,
    )


def _reported(row: SavedPair, given: Mapping[str, bool]) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"class": row.class_, "expected": row.expected}
    told |= {rule: _hits(row, rule, given[row.id]) for rule in RULES}
    return {**told, "of": len(row.samples)}


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "nothing" if value is None else str(value)
