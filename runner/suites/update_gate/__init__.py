"""The update gate: whether a newer claim retires an older one, on registered pairs."""

from runner.suites.update_gate.checks import check, ending
from runner.suites.update_gate.load import load_gate, load_set, make_gate, parse_upstream
from runner.suites.update_gate.marker import marked
from runner.suites.update_gate.observations import observe
from runner.suites.update_gate.pairs import (
    SAMPLES,
    SETS,
    SUITE,
    VERSION,
    Claimed,
    Gate,
    Pair,
    PairSet,
)
from runner.suites.update_gate.protocol import step_name, steps
from runner.suites.update_gate.rules import RULES, Sample, UnreadableSample, retires, samples
from runner.suites.update_gate.score import BAR, needed, score
from runner.suites.update_gate.verdict import GateVerdict, Paired, Reported, RuleTally, SetScore

__all__ = [
    "BAR",
    "RULES",
    "SAMPLES",
    "SETS",
    "SUITE",
    "VERSION",
    "Claimed",
    "Gate",
    "GateVerdict",
    "Pair",
    "PairSet",
    "Paired",
    "Reported",
    "RuleTally",
    "Sample",
    "SetScore",
    "UnreadableSample",
    "check",
    "ending",
    "load_gate",
    "load_set",
    "make_gate",
    "marked",
    "needed",
    "observe",
    "parse_upstream",
    "retires",
    "samples",
    "score",
    "step_name",
    "steps",
]
