"""Trip versus move: a value that changes, and one that does not."""

from runner.suites.trip_vs_move.case import Case, Note, case_names, load_case
from runner.suites.trip_vs_move.checks import VACUOUS, StoreMissing, check, check_all, ending
from runner.suites.trip_vs_move.observations import observe
from runner.suites.trip_vs_move.protocol import KINDS, MOVE, TRIP_ALONE, steps
from runner.suites.trip_vs_move.score import BAR, Tally, Verdict, comparable, score

__all__ = [
    "BAR",
    "KINDS",
    "MOVE",
    "TRIP_ALONE",
    "VACUOUS",
    "Case",
    "Note",
    "StoreMissing",
    "Tally",
    "Verdict",
    "case_names",
    "check",
    "check_all",
    "comparable",
    "ending",
    "load_case",
    "observe",
    "score",
    "steps",
]
