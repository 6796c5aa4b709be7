"""What is worth knowing about a sample and decides nothing."""

from collections.abc import Iterable

from pydantic import JsonValue

from runner.model import Observation, StepRecord
from runner.suites.update_gate.marker import marked
from runner.suites.update_gate.pairs import Gate, Pair
from runner.suites.update_gate.rules import RULES, retires, samples


def observe(gate: Gate, kind: str, steps: Iterable[StepRecord]) -> tuple[Observation, ...]:
    """Look at the rows that are never barred, and at what the system takes for a marker.

    Every value is a list of pairs in the order of the set; an empty list says that there was none.

    Raises:
        UsageError: there is no such set.
        UnreadableSample: a pair has no sample that can be read.
    """
    found = samples(gate, kind, steps)
    asked = gate.pair_set(kind)
    reported: list[JsonValue] = [
        {
            **_brief(pair),
            "class": pair.class_,
            "expected": pair.expected,
            "retired": {rule: retires(rule, found[pair.id]) for rule in RULES},
        }
        for pair in asked.reported
    ]
    differs: list[JsonValue] = [
        {**_brief(pair), "system": found[pair.id].marked, "ours": marked(pair.older.text)}
        for pair in asked.pairs
        if found[pair.id].marked != marked(pair.older.text)
    ]
    return (
        Observation(
            id="reported",
            title="Rows that are never barred, and which rule retired their older claim",
            value=reported,
        ),
        Observation(
            id="marker",
            title="Older claims whose past-value marker the system and the bench see differently",
            value=differs,
        ),
    )


def _brief(pair: Pair) -> dict[str, JsonValue]:
    return {"id": pair.id, "older": pair.older.text, "newer": pair.newer.text}
