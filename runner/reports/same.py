"""Whether two reports are of the same result: the same but for ids, times and how long it took."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runner.model import RunRecord
from runner.reports import integrity
from runner.reports._same_records import Colours, matched
from runner.reports._same_run import (
    NOT_COMPARED,
    REPLAYED,
    Form,
    days_of,
    read_in_one,
    rows_of,
    without,
)
from runner.reports._same_told import Difference
from runner.reports._same_values import Days, Pairing, Reader
from runner.reports.schema import Report

__all__ = [
    "NOT_COMPARED",
    "REPLAYED",
    "Comparison",
    "Difference",
    "RunComparison",
    "compare",
    "first_difference",
]

SEALED = ("steps", "observations", "ending", "calls", "snapshots")
"""Parts of a run that may tell single answers to a held-out set."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run beside the same of another report.

    Attributes:
        run: its id.
        difference: the first there is; none where the runs are the same.
    """

    run: str
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports beside each other.

    Attributes:
        asked: the first difference in what was asked of which images, or in what it came to over
            all runs.
        runs: each run that is in both.
        unseen: what could not be compared, a sentence each.
    """

    asked: Difference | None
    runs: tuple[RunComparison, ...]
    unseen: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether there is no difference."""
        return self.asked is None and all(one.difference is None for one in self.runs)


def compare(one: Report, other: Report, *, sealed: bool = False) -> Comparison:
    """Lay a report beside another.

    Args:
        one: the first, whole.
        other: the second, whole; it may be a replay of the first.
        sealed: whether values are told by their digests alone, as those of a held-out set.
    """
    there = {run.spec.id: run for run in other.runs}
    runs, unseen, once = [], list(_unseen(one, other)), set[str]()
    for run in one.runs:
        beside = there.get(run.spec.id)
        if beside is not None:
            found = first_difference(run, beside)
            once |= read_in_one(run, beside)
        else:
            found = Difference(run.spec.id, "there", "missing")
        if found is not None and sealed:
            found = _by_digests(found, run, beside)
        runs.append(RunComparison(run.spec.id, found))
    if once:
        unseen.append(
            "Stores that only one of the reports was made to read are not held to anything: after"
            f" {', '.join(sorted(once))}."
        )
    known = {run.spec.id for run in one.runs}
    for run_id in there.keys() - known:
        runs.append(RunComparison(run_id, Difference(run_id, "missing", "there")))
    return Comparison(_asked(one, other), tuple(runs), tuple(unseen))


def first_difference(one: RunRecord, other: RunRecord) -> Difference | None:
    """What two runs do not have in common; none where they are the same."""
    left, right, days = Form(one, other), Form(other, one), days_of(one, other)
    readers = Reader(left.ids, days), Reader(right.ids, days)
    colours = (
        Colours(left.records(), readers[0], days),
        Colours(right.records(), readers[1], days),
    )
    pairing = Pairing(*readers, days)
    name = one.spec.id
    for field in left.fields:
        mine, theirs = left.document[field], right.document[field]
        where = f"{name}.{field}"
        if field == "snapshots":
            found = _stores(mine, theirs, where, pairing, colours)
        elif field == "calls":
            found = matched(mine, theirs, where, pairing, colours)
        elif field in ("checks", "observations"):
            found = _rows(mine, theirs, where, pairing, colours)
        elif field == "steps":
            found = _steps(mine, theirs, where, pairing)
        else:
            found = pairing.values({field: mine}, {field: theirs}, name)
        if found is not None:
            return found
    return None


def _stores(
    one: list[Any],
    other: list[Any],
    path: str,
    pairing: Pairing,
    colours: tuple[Colours, Colours],
) -> Difference | None:
    """Stores as graphs: claims and events by what they say and what they lead to."""
    mine, theirs = ([snapshot["step"] for snapshot in side] for side in (one, other))
    if found := pairing.values(mine, theirs, f"{path}.step"):
        return found
    for snapshot, beside in zip(one, other, strict=True):
        where = f'{path}["{snapshot["step"]}"].store'
        store, against = snapshot["store"], beside["store"]
        for kind in ("claims", "events"):
            if found := matched(store[kind], against[kind], f"{where}.{kind}", pairing, colours):
                return found
        rest, other_rest = (without(side, ("claims", "events")) for side in (store, against))
        if found := pairing.values(rest, other_rest, where):
            return found
    return None


def _rows(
    one: Any, other: Any, path: str, pairing: Pairing, colours: tuple[Colours, Colours]
) -> Difference | None:
    """Checks and observations: as everything else, but for evidence and rows with an id each,
    which stand in the order of ids where they say the same."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            where = f"{path}.{name}"
            mine, theirs = one[name], other[name]
            if name == "evidence" or (rows_of(mine) and rows_of(theirs) and name == "value"):
                found = matched(mine, theirs, where, pairing, colours)
            else:
                found = _rows(mine, theirs, where, pairing, colours)
            if found is not None:
                return found
        return None
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            named = mine.get("id") if isinstance(mine, dict) else None
            where = f'{path}["{named}"]' if named else f"{path}[{place}]"
            if found := _rows(mine, theirs, where, pairing, colours):
                return found
        return None
    return pairing.values(one, other, path)


def _steps(one: list[Any], other: list[Any], path: str, pairing: Pairing) -> Difference | None:
    mine, theirs = ([step["name"] for step in side] for side in (one, other))
    if found := pairing.values(mine, theirs, f"{path}.name"):
        return found
    for step, beside in zip(one, other, strict=True):
        if found := pairing.values(step, beside, f'{path}["{step["name"]}"]'):
            return found
    return None


# ---------------------------------------------------------------- whole reports


def _asked(one: Report, other: Report) -> Difference | None:
    """What was asked of which images, and the money of all runs."""
    pairing = Pairing(Reader((), Days()), Reader((), Days()), Days())
    mine, theirs = (_question(report) for report in (one, other))
    return pairing.values(mine, theirs, "report")


def _question(report: Report) -> dict[str, Any]:
    told = report.model_dump(
        mode="json",
        include={
            "suite", "case", "system", "model", "purposes", "options", "checks_version", "clock",
            "fixtures", "planned",
        },
    )  # fmt: skip
    # A held-out case is whole in memory and is not to be shown: what it holds has digests.
    told["case"] = integrity.sha256(integrity.canonical(told["case"]))
    told["images"] = [
        {"config_digest": i.config_digest, "layers": list(i.layers), "platform": i.platform}
        for i in report.images[:2]
    ]
    told["cost_usd"] = str(report.spend.cost_usd)
    return told


def _unseen(one: Report, other: Report) -> Iterator[str]:
    if one.clock.mode != "now":
        return
    yield (
        "The runs had no day of their own but that on which they were made, which cannot be had"
        " again: moments are not held to each other, and a day counts as the same where it is as"
        " far from the day of its run."
    )
    days = [{run.started_at.date() for run in report.runs} for report in (one, other)]
    if days[0] != days[1] and any(run.calls for run in one.runs):
        yield "Prompts may tell the day, and are not held to each other by their digests."


def _by_digests(found: Difference, run: RunRecord, beside: RunRecord | None) -> Difference:
    """A difference told by nothing but the part it is in and the digests of that part."""
    part = found.path.removeprefix(f"{run.spec.id}.").partition(".")[0].partition("[")[0]
    if beside is None or part not in SEALED:
        return found
    days = days_of(run, beside)
    digests = []
    for own, other in ((run, beside), (beside, run)):
        form = Form(own, other)
        numbers = {one: str(place) for place, one in enumerate(_order(form, days))}
        text = Reader(form.ids, days).masked(form.document[part], numbers, days)
        digests.append(f"sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}")
    return Difference(f"{run.spec.id}.{part} (sealed)", *digests)


def _order(form: Form, days: Days) -> tuple[str, ...]:
    """Ids of a run in the order of their appearance."""
    reader = Reader(form.ids, days)
    parts = (form.document[field] for field in form.fields)
    return tuple(dict.fromkeys(one for part in parts for one in reader.within(part)))
