"""Small sets, and runs over them, for the tests of this folder."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from runner.model import Ending, Outcome, RunRecord, RunSpec, StepRecord
from runner.suites.update_gate import Claimed, Gate, Pair, PairSet, make_gate, step_name, steps

KEEPS, RETIRES, WITH_CONTRADICTION = (False, False), (True, False), (True, True)
"""What a system says of a pair: whether a value changed, and whether the two contradict."""

Said = tuple[bool, bool]

TABLE = """
schema = 1
name = "development"
title = "Développement"
held_out = false
registered = 2026-11-30
about = "Made for the tests."

[[pair]]
id = "home"
class = "dated-update"
expected = "changes"
older = { text = "Zoë lives in Köln, as of 2026-01-02.", day = 2026-01-02 }
newer = { text = "Zoë moved to Łódź.", day = 2026-03-02 }
contradicts = false
why = "A move."

[[pair]]
id = "bike"
class = "coexisting"
expected = "not-changes"
older = { text = "Zoë rides a bike." }
newer = { text = "Zoë has a car.", day = 2026-03-02 }
contradicts = false
why = "Both can be had."
"""


def pair(id_: str, expected: str = "changes", class_: str = "update", **more: Any) -> Pair:
    """A row whose claims name it."""
    sides = {
        "older": Claimed(text=f"{id_} was thus.", day=date(2026, 1, 2)),
        "newer": Claimed(text=f"{id_} is otherwise.", day=date(2026, 3, 2)),
    }
    return Pair.model_validate({"id": id_, "class": class_, "expected": expected, **sides, **more})


def pair_set(name: str = "development", *pairs: Pair, held_out: bool | None = None) -> PairSet:
    """Two updates, two controls, a row of the case and a reported one, when not told otherwise."""
    return PairSet(
        name=name,
        title=name.title(),
        held_out="held-out" in name if held_out is None else held_out,
        about="Made for the tests.",
        pairs=pairs
        or (
            pair("u1"),
            pair("u2"),
            pair("c1", "not-changes"),
            pair("c2", "not-changes", "relied-on"),
            pair("k1", "changes", "case"),
            pair("r1", "report"),
        ),
        sha256="0" * 64,
    )


def gate(*sets: PairSet, samples: int = 3) -> Gate:
    """A gate over one small set, when not told otherwise."""
    return make_gate(sets or (pair_set(),), samples, fixtures="own")


def result(said: Said, marked: bool = False) -> dict[str, Any]:
    """What a driver answers to a probe."""
    changes, contradicts = said
    return {
        "contradiction": contradicts,
        "update": "changes" if changes else "not_changes",
        "past_value_marker": marked,
        "detail": {"readings": []},
    }


def perfect(pairs: PairSet) -> dict[str, Said]:
    """What a model without fault says of every pair."""
    return {p.id: RETIRES if p.expected == "changes" else KEEPS for p in pairs.pairs}


def answered(
    asked: Gate,
    kind: str = "development",
    index: int = 1,
    said: Mapping[str, Said] | None = None,
    marked: Iterable[str] = (),
) -> tuple[StepRecord, ...]:
    """The steps of one sample, in the order they are asked in."""
    pairs = asked.pair_set(kind)
    told = {**perfect(pairs), **(said or {})}
    by_step = {step_name(p.id): result(told[p.id], p.id in marked) for p in pairs.pairs}
    return tuple(
        StepRecord(name=step.name, verb=step.verb, seconds=0.1, result=by_step[step.name])
        for step in steps(asked, kind, index)
    )


def run(
    asked: Gate,
    kind: str = "development",
    index: int = 1,
    said: Mapping[str, Said] | None = None,
    *,
    outcome: str = "passed",
    why: str = "checks",
    marked: Iterable[str] = (),
    **spec: Any,
) -> RunRecord:
    """One sample of one set."""
    taken = answered(asked, kind, max(1, min(index, asked.samples)), said, marked)
    return RunRecord(
        spec=RunSpec(
            kind=kind,
            index=index,
            **{
                "id": f"{kind}-{index}",
                "suite": "update-gate",
                "case": "update-gate",
                "system": "engine",
                "arm": "scripted",
                "model": "model-a",
                "clock": "note",
                **spec,
            },
        ),
        ending=Ending(outcome=Outcome(outcome), kind=why),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=1.0,
        steps=taken if outcome in ("passed", "failed") else taken[:1],
    )


def protocol(
    asked: Gate, *changed: Mapping[str, Said], kind: str = "development", **more: Any
) -> list[RunRecord]:
    """A run for every sample of a set; ``changed`` says what differs, sample by sample."""
    said: Sequence[Mapping[str, Said]] = [*changed, *[{}] * asked.samples][: asked.samples]
    return [run(asked, kind, index, one, **more) for index, one in enumerate(said, start=1)]


def upstream(*rows: Mapping[str, str], **more: Any) -> bytes:
    """A published pair file."""
    known = (
        {"id": "U 1", "class": "case", "older": "a", "newer": "b", "expected": "changes"},
        {"id": "u_2", "class": "move", "older": "é", "newer": "b", "expected": "changes"},
        {"id": "u_3", "class": "move", "older": "a", "newer": "c", "expected": "not_changes"},
        {"id": "u_4", "class": "past", "older": "a", "newer": "d", "expected": "report"},
    )
    document = {"about": "What it is.", "labelled_by": "a person", "rows": rows or known, **more}
    return json.dumps(document).encode()
