"""What comes of scoring one of their reports again."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from runner.model import CheckResult, Noun, Outcome, RunRecord
from runner.reports.upstream.schema import SavedBars, SavedVerdict
from runner.suites.trip_vs_move import Verdict
from runner.suites.update_gate import GateVerdict


class Difference(Noun):
    """Something the report says, and what comes out of its own rows."""

    where: str
    """The run, the set or the part of the report."""
    what: str
    saved: str
    computed: str
    why: str = ""
    """What is known to make the difference. Empty where nothing is: then what was saved is not
    what its rows come to."""

    @property
    def altered(self) -> bool:
        """Whether nothing known explains it."""
        return not self.why


class UpstreamResult(Noun):
    """A report of linkedparticles', scored again."""

    name: str
    """Of its file."""
    sdk_version: str
    """The version of linkedparticles that wrote it."""
    run_at: datetime
    model: str
    differences: tuple[Difference, ...]
    """Everything it says that does not come out again, in its own order."""
    notes: tuple[str, ...]
    """What else a reader has to know, a sentence each."""

    @property
    def altered(self) -> bool:
        """Whether something it says is not what its rows come to."""
        return any(difference.altered for difference in self.differences)


class TripRun(Noun):
    """One run of trip versus move, scored again."""

    saved: bool | None
    """Whether it passed, as saved; none where it did neither."""
    verified: CheckResult | None
    """Under the version of the checks that the report was scored by; none where that version is
    not known here."""
    record: RunRecord
    """The run in the nouns of this bench: with the claims and events of its store, the result of
    every version of the checks that can be computed, and its ending under the asked one."""


class TripResult(UpstreamResult):
    """A report of trip versus move, scored again."""

    suite: Literal["trip-vs-move"] = "trip-vs-move"
    case: str
    arm: str
    same_slot_admits: bool
    saved_version: int
    """Version of the checks that the report was scored by."""
    checks_version: int
    """The one it is scored by now."""
    runs: tuple[TripRun, ...]
    saved: SavedVerdict
    verdict: Verdict
    """What the runs come to by the rules of this bench."""


class GateSet(Noun):
    """One pair set, scored again by the rules of the report."""

    name: str
    """What this bench calls the set of that kind."""
    saved: SavedBars
    computed: SavedBars
    unanswered: dict[str, int] = Field(default_factory=dict)
    """Pairs with samples that a probe gave no verdict in, and how many."""
    marked: tuple[str, ...] = ()
    """Pairs in which the system's own rule saw a past-value marker, as far as the saved figures
    show it: where it makes a difference."""
    read_otherwise: tuple[str, ...] = ()
    """Of the pairs of which they show whether it saw one: those that the marker of this bench reads
    the other way."""


class GateResult(UpstreamResult):
    """A report of the update gate, scored again."""

    suite: Literal["update-gate"] = "update-gate"
    samples: int
    sets: tuple[GateSet, ...]
    records: tuple[RunRecord, ...]
    """Every sample of every set as a run of this bench; none where there is one sample only."""
    verdict: GateVerdict | None
    """By the rules of this bench; none where there are too few samples for them."""


def exit_code(result: TripResult | GateResult) -> int:
    """The exit code of scoring it again.

    7 where something it says is not what its rows come to. Else by the gravest of its runs under
    the rules of this bench: 4 invalid, 5 errored, 3 incomplete, 1 failed or a bar that is not met.
    0 where every run passed and every bar is met.
    """
    if result.altered:
        return 7
    if isinstance(result, TripResult):
        outcomes = [run.record.ending.outcome for run in result.runs]
        return _gravest(outcomes, failed=result.verdict.bar_met is False)
    if result.verdict is None:
        return 0 if all(one.computed.bar for one in result.sets) else 1
    if result.verdict.bar_met is not None:
        return 0 if result.verdict.bar_met else 1
    outcomes = [record.ending.outcome for record in result.records]
    return _gravest(outcomes, failed=any(one.bar_met is False for one in result.verdict.sets))


def _gravest(outcomes: list[Outcome], *, failed: bool) -> int:
    for outcome, code in (
        (Outcome.INVALID, 4),
        (Outcome.ERRORED, 5),
        (Outcome.INCOMPLETE, 3),
        (Outcome.FAILED, 1),
    ):
        if outcome in outcomes:
            return code
    return 1 if failed else 0
