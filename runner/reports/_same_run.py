"""A run as it is laid beside another: what of it is compared, and what declares an id."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from runner.model import Call, GatewayRecord, Noun, RunRecord, RunSpec, SnapshotRecord, StepRecord
from runner.reports._same_values import Days

_TIME = "a time"
_DURATION = "how long something took"
_MACHINE = "of the machine it ran on"
_DIGEST = "a digest of bytes that hold ids and times; what was read out of them is compared"
_ORDER = "calls of one step may be made at the same time, in any order"

NOT_COMPARED: Mapping[type[Noun], Mapping[str, str]] = {
    RunRecord: {
        "started_at": _TIME,
        "seconds": _DURATION,
        "escapes": f"{_MACHINE}; one that succeeded is the run's ending",
        "limits": _MACHINE,
        "peak_memory_bytes": _MACHINE,
        "peak_memory_how": _MACHINE,
        "warnings": "told of what is compared itself, or of the machine",
        "log_tail": "the system's own log, full of times",
    },
    StepRecord: {"seconds": _DURATION, "snapshot": _DIGEST},
    SnapshotRecord: {"sha256": _DIGEST, "size": _DIGEST},
    Call: {
        "seq": _ORDER,
        "request_id": "an id",
        "latency_ms": _DURATION,
        "first_byte_ms": _DURATION,
    },
    GatewayRecord: {"prices_source": "words about prices, which are compared"},
}
"""What of a run is not held to another's, field by field, and why. All else is."""

_OF_THE_ARM = "who answered: a provider when it was recorded, the recording now"
REPLAYED: Mapping[type[Noun], Mapping[str, str]] = {
    RunSpec: {"arm": _OF_THE_ARM},
    GatewayRecord: dict.fromkeys(
        ("arm", "network", "way_out", "allow_tools", "allow_media", "cassette_sha256"), _OF_THE_ARM
    ),
    Call: {"source": _OF_THE_ARM},
}
"""What more is not, where the first run was recorded and the second is its replay."""


class Form:
    """A run as it is compared: a document without what is not."""

    # What was asked, how it ended, what it left; then all that led there.
    fields = (
        "spec", "gateway", "encoder", "system", "ending", "snapshots", "steps", "checks",
        "observations", "calls", "usage", "cost_usd",
    )  # fmt: skip

    def __init__(self, run: RunRecord, beside: RunRecord) -> None:
        replayed = {run.spec.arm, beside.spec.arm} == {"record", "replay"}
        own, once = run.model_dump(mode="json"), read_in_one(run, beside)
        left_out = _left_out(replayed)
        document = without(own, left_out[RunRecord])
        document["spec"] = without(own["spec"], left_out.get(RunSpec, ()))
        document["steps"] = [
            without(step, left_out[StepRecord])
            | {"snapshot_taken": step["snapshot"] is not None and step["name"] not in once}
            for step in own["steps"]
        ]
        document["snapshots"] = [
            without(snapshot, left_out[SnapshotRecord])
            for snapshot in own["snapshots"]
            if snapshot["step"] not in once
        ]
        dropped = set(left_out[Call])
        if days_of(run, beside).apart not in (None, {0}):
            dropped.add("prompt_sha256")  # a prompt may tell the day
        document["calls"] = [without(call, dropped) for call in own["calls"]]
        if own["gateway"] is not None:
            document["gateway"] = without(own["gateway"], left_out[GatewayRecord])
            prices: Mapping[str, Mapping[str, str]] = own["gateway"]["prices"]
            document["gateway"]["prices"] = {
                model: {f"{kind}_usd": price for kind, price in rates.items()}
                for model, rates in prices.items()
            }
        self.document: dict[str, Any] = document
        claims = [claim for one in run.snapshots for claim in one.store.claims]
        batches = {call.batch for call in run.calls if call.batch}
        self.ids = {claim.id for claim in claims} | batches

    def records(self) -> Iterator[tuple[str, Any]]:
        """Everything that is in no order."""
        for snapshot in self.document["snapshots"]:
            for kind in ("claims", "events"):
                for record in snapshot["store"][kind]:
                    yield f"{snapshot['step']} {kind}", record
        for result in self.document["checks"]:
            for check in result["checks"]:
                for text in check["evidence"]:
                    yield f"{result['version']} {check['id']}", text
        for observation in self.document["observations"]:
            for row in rows_of(observation["value"]):
                yield observation["id"], row


def _left_out(replayed: bool) -> dict[type[Noun], tuple[str, ...]]:
    found = {noun: tuple(fields) for noun, fields in NOT_COMPARED.items()}
    for noun, fields in REPLAYED.items() if replayed else ():
        found[noun] = (*found.get(noun, ()), *fields)
    return found


def without(document: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """A document less some of its fields."""
    return {name: value for name, value in document.items() if name not in fields}


def read_in_one(one: RunRecord, other: RunRecord) -> frozenset[str]:
    """Steps that both runs came through and after which one of them read the store: an older
    report was read less often, and what is missing there is no difference."""
    mine, theirs = (
        {step.name: step.snapshot is not None for step in run.steps if step.error is None}
        for run in (one, other)
    )
    return frozenset(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name])


def days_of(one: RunRecord, other: RunRecord) -> Days:
    """How the days of two runs are held to each other."""
    if one.spec.clock != "now" or other.spec.clock != "now":
        return Days()
    return Days(frozenset((b - a).days for a in _lasted(one) for b in _lasted(other)))


def _lasted(run: RunRecord) -> set[date]:
    """The days a run happened on: two where it passed midnight."""
    return {run.started_at.date(), (run.started_at + timedelta(seconds=run.seconds)).date()}


def rows_of(value: Any) -> list[Any]:
    """The rows of a list in which each has an id; none where it is no such list."""
    if isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value):
        return value
    return []
