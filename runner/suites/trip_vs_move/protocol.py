"""What a run of trip versus move asks of a system, step by step."""

from dataclasses import replace

from runner.errors import UsageError
from runner.model import Step
from runner.suites.trip_vs_move.case import Case, Note

MOVE = "move"
TRIP_ALONE = "trip-alone"
KINDS = (MOVE, TRIP_ALONE)
CONSOLIDATE = "consolidate"


def notes_of(case: Case, kind: str) -> tuple[Note, ...]:
    """The notes a run of that kind deposits, in order."""
    if kind not in KINDS:
        raise UsageError(f"There is no kind of run {kind!r}.", hint=f"Kinds: {', '.join(KINDS)}.")
    if kind == MOVE:
        return case.notes
    return tuple(note for note in case.notes if note.name in case.trip_alone)


def steps(case: Case, kind: str) -> tuple[Step, ...]:
    """The notes one at a time, each on its own day, then consolidation on the last one's.

    A move run is read just before the move as well, so that a check can tell a home that was
    given up from one that was never known.
    """
    notes = notes_of(case, kind)
    deposits = [
        Step(
            name=step_name(note.name),
            verb="deposit",
            payload={"name": note.name, "text": note.text, "day": note.day.isoformat()},
            day=note.day,
        )
        for note in notes
    ]
    if kind == MOVE:
        deposits[-2] = replace(deposits[-2], snapshot=True)
    last = Step(name=CONSOLIDATE, verb="consolidate", day=notes[-1].day, snapshot=True)
    return (*deposits, last)


def step_name(note: str) -> str:
    """The name of the step that deposits that note."""
    return f"deposit {note}"


def step_before_move(case: Case) -> str:
    """The name of the last step before the move's note."""
    return step_name(case.notes[-2].name)
