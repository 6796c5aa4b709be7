"""linkedparticles' scoring, fed JSON lines. Runs in its own environment, and knows nothing of ours.

A line asks ``{"do": ..., "of": [...]}``; the answer is a line with a list as long.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from particles import __version__
from particles.benchmark.update_gate.case import rescore
from particles.benchmark.update_gate.checks import evaluate
from particles.benchmark.update_gate.fixtures import HELDOUT_SETS
from particles.benchmark.update_gate.schema import (
    PairRow,
    SavedEvent,
    SavedRow,
    SetResult,
    Spend,
    TripVsMoveReport,
    UpdateGateReport,
)
from particles.benchmark.update_gate.scoring import GATES, gate_retires, set_bars
from particles.core.past_value import records_past_value


def checks(asked: dict[str, Any]) -> object:
    """One store under one version, read as their re-scoring of a report reads it."""
    rows = [SavedRow.model_validate(row).model_dump(exclude_unset=True) for row in asked["rows"]]
    events = [SavedEvent.model_validate(event) for event in asked["events"]]
    return evaluate(
        rows,
        [(event.event_type, event.payload) for event in events],
        trip_alone=asked["trip_alone"],
        case=asked["case"],
        version=asked["version"],
    )


def bars(asked: dict[str, Any]) -> object:
    """One set of pairs."""
    return set_bars(asked["rows"], heldout=asked["heldout"])


def retired(asked: dict[str, Any]) -> object:
    """One sample of one pair, under every rule."""
    return {gate: gate_retires(asked["sample"], gate, asked["older"]) for gate in GATES}


def gate(asked: dict[str, Any]) -> object:
    """A whole report of pair sets."""
    sets = {
        name: SetResult(
            rows=[PairRow.model_validate(row) for row in rows],
            bars=set_bars(rows, heldout=name in HELDOUT_SETS),
        )
        for name, rows in asked["sets"].items()
    }
    report = UpdateGateReport(
        sdk_version=__version__,
        run_at=asked["run_at"],
        model=asked["model"],
        samples_per_pair=asked["samples"],
        fixture=[],
        sets=sets,
        spend=Spend(estimate_source="none"),
    )
    return json.loads(report.model_dump_json(by_alias=True))


def trip(asked: dict[str, Any]) -> object:
    """A whole report of runs, every check and the verdict computed by them."""
    report = rescore(TripVsMoveReport.model_validate(asked["report"]), version=asked["version"])
    return json.loads(report.model_dump_json())


DOES: dict[str, Callable[[Any], object]] = {
    "checks": checks,
    "bars": bars,
    "retired": retired,
    "gate": gate,
    "trip": trip,
    "marked": records_past_value,
}


def main() -> None:
    """Answer every line until there is none."""
    print(json.dumps(__version__), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps([DOES[asked["do"]](one) for one in asked["of"]]), flush=True)


if __name__ == "__main__":
    main()
