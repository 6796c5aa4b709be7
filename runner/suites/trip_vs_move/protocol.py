"""What a run of trip versus move asks of a system, step by step."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from runner.errors import UsageError
from runner.model import Step
from runner.suites.trip_vs_move.case import Case, Note, Question

MOVE = "move"
TRIP_ALONE = "trip-alone"
KINDS = (MOVE, TRIP_ALONE)
CONSOLIDATE = "consolidate"
RECALL: Final = "recall"
TOP_K = 3
"""Statements a system may give to a question. What comes first is what is looked at."""


def notes_of(case: Case, kind: str) -> tuple[Note, ...]:
    """The notes a run of that kind deposits, in order."""
    if kind not in KINDS:
        raise UsageError(f"There is no kind of run {kind!r}.", hint=f"Kinds: {', '.join(KINDS)}.")
    if kind == MOVE:
        return case.notes
    return tuple(note for note in case.notes if note.name in case.trip_alone)


def steps(case: Case, kind: str) -> tuple[Step, ...]:
    """The notes one at a time, each on its own day, then consolidation on the last one's; after
    each of these, on the same day, the questions of the case.

    The store is read after every one of them, so that a memory's life can be followed. Verdicts
    rest on the last, and of a move run also on the one just before the move: so that a check can
    tell a home that was given up from one that was never known.
    """
    notes = notes_of(case, kind)
    deposits = [
        Step(
            name=step_name(note.name),
            verb="deposit",
            payload={"name": note.name, "text": note.text, "day": note.day.isoformat()},
            day=note.day,
            snapshot=True,
            judged=kind == MOVE and step_name(note.name) == step_before_move(case),
        )
        for note in notes
    ]
    last = Step(name=CONSOLIDATE, verb="consolidate", day=notes[-1].day, snapshot=True, judged=True)
    return tuple(
        one for step in (*deposits, last) for one in (step, *_questions(case, step.name, step.day))
    )


def _questions(case: Case, after: str, day: date | None) -> Iterator[Step]:
    """What is asked after a step; a system is told no more of a question than its words."""
    for question in case.questions:
        yield Step(
            name=recall_name(question, after),
            verb=RECALL,
            payload={"question": case.asked(question), "top_k": TOP_K},
            day=day,
            aside=True,
        )


def recall_name(question: Question, after: str) -> str:
    """The name of the step that asks a question after another step."""
    return f"{RECALL} {question.id} after {after}"


def step_name(note: str) -> str:
    """The name of the step that deposits that note."""
    return f"deposit {note}"


def step_before_move(case: Case) -> str:
    """The name of the last step before the move's note."""
    return step_name(case.notes[-2].name)
