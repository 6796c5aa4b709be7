"""What several runs of one case come to: tallies, coverage and the bar, and no single score."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TypeVar

from runner.errors import UsageError
from runner.model import Noun, Outcome, RunRecord
from runner.suites.trip_vs_move.case import Case
from runner.suites.trip_vs_move.protocol import KINDS, MOVE, TRIP_ALONE

K = TypeVar("K")

BAR = {MOVE: 3, TRIP_ALONE: 2}
"""Runs the bar asks for, by kind: these and no other numbers, every one passing."""
BAR_VERSIONS = (2, 3)


class Tally(Noun):
    """How the runs of one kind ended, under one version of the checks."""

    kind: str
    planned: int
    outcomes: dict[Outcome, int]
    """Runs by how they ended; only what occurred."""
    reasons: dict[str, int]
    """What brought about the endings that did not pass, such as ``checks`` or ``ceiling``."""

    @property
    def passed(self) -> int:
        """Runs that passed."""
        return self.outcomes.get(Outcome.PASSED, 0)

    @property
    def counted(self) -> int:
        """Runs that passed or failed: what a rate is taken of."""
        return self.passed + self.outcomes.get(Outcome.FAILED, 0)

    @property
    def uncounted(self) -> int:
        """Runs without a verdict: incomplete, invalid, errored."""
        return sum(self.outcomes.values()) - self.counted

    @property
    def missing(self) -> int:
        """Planned runs of which there is no record."""
        return max(0, self.planned - sum(self.outcomes.values()))

    @property
    def coverage(self) -> float:
        """Counted runs as a part of the planned ones, 0 to 1."""
        return self.counted / self.planned if self.planned else 0.0


class Verdict(Noun):
    """What the runs of one case, or of one variant, come to under one version of the checks."""

    case: str
    fixture_variant: str | None
    checks_version: int
    models: tuple[str, ...]
    """Every model that was asked for, the runs' own first."""
    mixture: dict[str, str]
    """Purposes that ran on another model than the runs' own; empty when there is one model."""
    tallies: tuple[Tally, ...]
    bar_met: bool | None
    """None where there is no bar to meet, or where it cannot be told yet."""
    bar_note: str
    """Why, in a sentence."""

    def tally(self, kind: str) -> Tally:
        """The tally of one kind of run; ``KeyError`` when there is none."""
        for tally in self.tallies:
            if tally.kind == kind:
                return tally
        raise KeyError(kind)


def score(
    case: Case,
    records: Sequence[RunRecord],
    version: int | None = None,
    *,
    planned: Mapping[str, int] | None = None,
) -> Verdict:
    """Count how the runs of one case turned out.

    A run that reached its verdict is counted by its result under ``version``; any other keeps the
    ending it has, whatever its store may look like.

    Args:
        case: the case or the variant that every record is of.
        records: the runs there are.
        version: of the checks; the case's newest when left out.
        planned: how many runs of each kind there should be; as many as there are when left out.

    Raises:
        UsageError: neither a run nor a plan of one, records of another case or variant, the same
            run twice, a version that is not defined for the case or that a counted run has no
            result of.
    """
    wanted = case.checks_version if version is None else version
    if not records and not sum((planned or {}).values()):
        raise UsageError("There is no run to score, and none is planned.")
    _fits(case, records, wanted)
    own = {record.spec.model for record in records}
    mixture = {
        purpose: model
        for record in records
        for purpose, model in sorted(record.spec.pins.items())
        if model != record.spec.model
    }
    tallies = tuple(
        _tally(kind, [record for record in records if record.spec.kind == kind], wanted, planned)
        for kind in KINDS
    )
    bar_met, bar_note = _bar(wanted, tallies, len(own | set(mixture.values())), bool(mixture))
    return Verdict(
        case=case.name,
        fixture_variant=case.variant,
        checks_version=wanted,
        models=(*sorted(own), *sorted(set(mixture.values()) - own)),
        mixture=mixture,
        tallies=tallies,
        bar_met=bar_met,
        bar_note=bar_note,
    )


def comparable(case: Case, clock: str, today: date) -> str | None:
    """Why runs on this clock are not comparable with the published ones; none when they are.

    Args:
        case: the case.
        clock: ``note``, ``now``, or the ISO day every step happens on.
        today: the day of the wall clock, for ``now``.
    """
    if clock == "note":
        return None
    day = today if clock == "now" else date.fromisoformat(clock)
    if case.comparable_on(day):
        return None
    return (
        f"The notes were read on {day}. From {case.comparable_before} on, the case {case.name} is "
        "another test than the published one: its trip is stored without an end date."
    )


def _fits(case: Case, records: Sequence[RunRecord], version: int) -> None:
    if version not in case.checks_versions:
        raise UsageError(f"Checks version {version} is not defined for the case {case.name}.")
    seen: set[object] = set()
    for record in records:
        spec = record.spec
        if (spec.case, spec.fixture_variant) != (case.name, case.variant):
            raise UsageError(f"Run {spec.id} is not of {case.name}, variant {case.variant}.")
        if spec.id in seen or (spec.kind, spec.index, spec.model) in seen:
            raise UsageError(f"Run {spec.id} is there twice.")
        seen |= {spec.id, (spec.kind, spec.index, spec.model)}


def _tally(
    kind: str, records: Sequence[RunRecord], version: int, planned: Mapping[str, int] | None
) -> Tally:
    endings = [_outcome(record, version) for record in records]
    return Tally(
        kind=kind,
        planned=len(records) if planned is None else planned.get(kind, 0),
        outcomes=_count(outcome for outcome, _ in endings),
        reasons=_count(reason for outcome, reason in endings if outcome is not Outcome.PASSED),
    )


def _outcome(record: RunRecord, version: int) -> tuple[Outcome, str]:
    if record.ending.outcome not in (Outcome.PASSED, Outcome.FAILED):
        return record.ending.outcome, record.ending.kind
    for result in record.checks:
        if result.version == version:
            outcome = Outcome.PASSED if result.passed else Outcome.FAILED
            return outcome, result.reason or "checks"
    raise UsageError(f"Run {record.spec.id} has no result under checks version {version}.")


def _count(items: Iterable[K]) -> dict[K, int]:
    counts: dict[K, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts


def _bar(
    version: int, tallies: Sequence[Tally], models: int, pinned: bool
) -> tuple[bool | None, str]:
    asked = " and ".join(f"{count} {kind}" for kind, count in BAR.items())
    if version not in BAR_VERSIONS:
        return None, f"Checks version {version} has no bar."
    if pinned or models > 1:
        return None, "A mixture of models has no bar."
    if any(tally.planned != BAR[tally.kind] for tally in tallies):
        return None, f"The bar is for {asked} runs, no more and no fewer."
    if any(tally.outcomes.get(Outcome.FAILED) for tally in tallies):
        return False, "A run failed."
    without = sum(tally.uncounted + tally.missing for tally in tallies)
    if without:
        return None, f"Not told: {without} of the runs have no verdict."
    return True, f"All of {asked} runs passed, on one model."
