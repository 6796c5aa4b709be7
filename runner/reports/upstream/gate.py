"""Their report of the update gate, scored again: by its own rules, and by those of this bench."""

import hashlib
from collections.abc import Iterable, Mapping

import orjson

from runner.model import Ending, Outcome, RunRecord, RunSpec, StepRecord
from runner.reports.upstream.bars import bars, bars_apart, shown_marks
from runner.reports.upstream.result import Difference, GateResult, GateSet
from runner.reports.upstream.schema import GateUpstream, SavedPair, SavedSet, SetName
from runner.reports.upstream.trip import bare, fixture_notes
from runner.runs.pair_tables import UPSTREAM_FILES
from runner.suites.update_gate import (
    BAR,
    SUITE,
    Claimed,
    Gate,
    GateVerdict,
    Pair,
    PairSet,
    check,
    ending,
    make_gate,
    marked,
    score,
    step_name,
)
from runner.suites.update_gate.load import HELD_OUT, TITLES
from runner.suites.update_gate.pairs import LEAST_SAMPLES
from runner.suites.update_gate.protocol import VERB

NAMES: Mapping[SetName, str] = {
    "gate": "development",
    "gate-heldout": "held-out",
    "past": "past-values",
    "past-marker": "past-marker-held-out",
}
"""What this bench calls the sets of the same kinds."""
FILES = {key: UPSTREAM_FILES[name] for key, name in NAMES.items()}

NO_VERDICT = (
    "a probe that gave no verdict is no answer here, and leaves its whole sample of the set"
    " without one; their rule counts it as not retired"
)
MARKER = "the marker of this bench reads the older claim otherwise than the system's own rule did"
SAMPLES = f"the bar is for {BAR} samples of every pair here"

Marks = Mapping[SetName, Mapping[str, bool]]


def rescore_gate(report: GateUpstream, name: str) -> GateResult:
    """Score a report again; see ``rescore_upstream``."""
    own = {
        key: {row.id: marked(row.older) for row in saved.rows} for key, saved in report.sets.items()
    }
    shown = {key: shown_marks(saved) for key, saved in report.sets.items()}
    given = {key: own[key] | shown[key] for key in report.sets}
    sets = tuple(_set(key, saved, own[key], shown[key]) for key, saved in report.sets.items())
    differences = [one for again in sets for one in _apart(again)]
    records: tuple[RunRecord, ...] = ()
    verdict = None
    notes = list(_notes(report, sets))
    if report.samples_per_pair >= LEAST_SAMPLES:
        gate = _gate(report)
        records, verdict = _scored(report, gate, given)
        differences += _bars_here(report, sets, verdict)
        if any(one.read_otherwise for one in sets):
            _, by_own = _scored(report, gate, own)
            notes += _otherwise(verdict, by_own)
    return GateResult(
        name=name,
        sdk_version=report.sdk_version,
        run_at=report.run_at,
        model=bare(report.model),
        differences=tuple(differences),
        notes=tuple(notes),
        samples=report.samples_per_pair,
        sets=sets,
        records=records,
        verdict=verdict,
    )


def _set(
    key: SetName, saved: SavedSet, own: Mapping[str, bool], shown: Mapping[str, bool]
) -> GateSet:
    name = NAMES[key]
    untold = {row.id: sum(not sample.told for sample in row.samples) for row in saved.rows}
    return GateSet(
        name=name,
        saved=saved.bars,
        computed=bars(saved.rows, {**own, **shown}, held_out=name in HELD_OUT),
        unanswered={id_: count for id_, count in untold.items() if count},
        marked=tuple(id_ for id_, mark in shown.items() if mark),
        read_otherwise=tuple(id_ for id_, mark in shown.items() if own[id_] != mark),
    )


def _apart(again: GateSet) -> Iterable[Difference]:
    yield from bars_apart(again.name, again.saved, again.computed)
    for id_ in again.read_otherwise:
        theirs = id_ in again.marked
        yield Difference(
            where=again.name,
            what=f"{id_}: past-value marker",
            saved="seen" if theirs else "not seen",
            computed="not seen" if theirs else "seen",
            why=MARKER,
        )


def _bars_here(
    report: GateUpstream, sets: Iterable[GateSet], verdict: GateVerdict
) -> Iterable[Difference]:
    for again in sets:
        ours = verdict.set_score(again.name)
        if ours.bar_met is not again.computed.bar:
            yield Difference(
                where=again.name,
                what="bar here",
                saved="met" if again.computed.bar else "not met",
                computed={True: "met", False: "not met", None: "none"}[ours.bar_met],
                why=SAMPLES if report.samples_per_pair != BAR else NO_VERDICT,
            )


def _otherwise(verdict: GateVerdict, by_own: GateVerdict) -> Iterable[str]:
    for ours, own in zip(verdict.sets, by_own.sets, strict=True):
        if ours.bar_met is not own.bar_met:
            told = {True: "met", False: "not met", None: "not told"}[own.bar_met]
            yield f"By the marker of this bench the bar of {ours.name} would be {told}."


def _gate(report: GateUpstream) -> Gate:
    digests = {file.name: file.sha256 for file in report.fixture}
    sets = []
    for key, saved in report.sets.items():
        rows = [row.model_dump(exclude={"samples"}) for row in saved.rows]
        digest = hashlib.sha256(orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)).hexdigest()
        sets.append(
            PairSet(
                name=NAMES[key],
                title=TITLES[NAMES[key]],
                held_out=NAMES[key] in HELD_OUT,
                about=f"As asked by linkedparticles {report.sdk_version}.",
                pairs=tuple(map(_pair, saved.rows)),
                sha256=digests.get(FILES[key], digest),
            )
        )
    return make_gate(sets, report.samples_per_pair, fixtures="upstream")


def _pair(row: SavedPair) -> Pair:
    return Pair(
        id=row.id,
        class_=row.class_,
        expected="not-changes" if row.expected == "not_changes" else row.expected,
        older=Claimed(text=row.older),
        newer=Claimed(text=row.newer),
    )


def _scored(
    report: GateUpstream, gate: Gate, given: Marks
) -> tuple[tuple[RunRecord, ...], GateVerdict]:
    records = tuple(
        _record(report, gate, key, index, given[key])
        for key in report.sets
        for index in range(1, report.samples_per_pair + 1)
    )
    return records, score(gate, records)


def _record(
    report: GateUpstream, gate: Gate, key: SetName, index: int, given: Mapping[str, bool]
) -> RunRecord:
    rows = report.sets[key].rows
    steps = tuple(_step(row, index, given[row.id]) for row in rows)
    untold = [row.id for row in rows if not row.samples[index - 1].told]
    if untold:
        detail = f"No verdict on {', '.join(untold)}."
        ended = Ending(outcome=Outcome.ERRORED, kind="no_verdict", detail=detail)
    else:
        ended = ending(check(gate, NAMES[key], steps))
    return RunRecord(
        spec=RunSpec(
            id=f"{NAMES[key]}-{index}",
            suite=SUITE,
            case=gate.name,
            fixtures=gate.fixtures,
            kind=NAMES[key],
            index=index,
            system="particles",
            arm="live",
            model=bare(report.model),
            clock="now",
        ),
        ending=ended,
        started_at=report.run_at,
        seconds=0.0,
        steps=steps,
    )


def _step(row: SavedPair, index: int, mark: bool) -> StepRecord:
    sample = row.samples[index - 1]
    name = step_name(row.id)
    if not sample.told:
        which = "contradiction" if sample.contradiction is None else "update"
        return StepRecord(name=name, verb=VERB, seconds=0.0, error=f"no verdict: {which} probe")
    return StepRecord(
        name=name,
        verb=VERB,
        seconds=0.0,
        result={
            "contradiction": sample.contradiction,
            "update": "changes" if sample.slot == "changes" else "not_changes",
            "past_value_marker": mark,
            "detail": {"slot": sample.slot},
        },
    )


def _notes(report: GateUpstream, sets: Iterable[GateSet]) -> Iterable[str]:
    if report.samples_per_pair < LEAST_SAMPLES:
        yield "One sample of a pair cannot meet the bar: an update needs two that retire it."
    left_out = [name for key, name in NAMES.items() if key not in report.sets]
    if left_out:
        yield f"It leaves out {', '.join(left_out)}."
    for again in sets:
        if again.unanswered:
            pairs = ", ".join(f"{id_} ({count})" for id_, count in again.unanswered.items())
            yield f"{again.name}: samples without a verdict of a probe: {pairs}."
    yield from fixture_notes(report.fixture, (FILES[key] for key in report.sets))
    for note in report.notes:
        yield f"The report itself: {note}"
