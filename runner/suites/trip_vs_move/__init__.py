"""Trip versus move: a value that changes, and one that does not."""

from runner.suites.trip_vs_move.case import Case, Note, Question, case_names, load_case
from runner.suites.trip_vs_move.checks import VACUOUS, StoreMissing, check, check_all, ending
from runner.suites.trip_vs_move.observations import observe
from runner.suites.trip_vs_move.protocol import KINDS, MOVE, RECALL, TRIP_ALONE, steps
from runner.suites.trip_vs_move.read_out import READ_OUT, Readout, read_out, read_outs
from runner.suites.trip_vs_move.score import BAR, Tally, Verdict, comparable, score

__all__ = [
    "BAR",
    "KINDS",
    "MOVE",
    "READ_OUT",
    "RECALL",
    "TRIP_ALONE",
    "VACUOUS",
    "Case",
    "Note",
    "Question",
    "Readout",
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
    "read_out",
    "read_outs",
    "score",
    "steps",
]
