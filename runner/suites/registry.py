"""Every suite there is, and which one a subject belongs to."""

from collections.abc import Mapping
from typing import Any

from runner.suites.suite import Suite
from runner.suites.trip_vs_move import Case, Verdict
from runner.suites.trip_vs_move.suite import TripVsMove
from runner.suites.update_gate import Gate, GateVerdict
from runner.suites.update_gate.suite import UpdateGate

AnySubject = Case | Gate
AnyVerdict = Verdict | GateVerdict

SUITES: Mapping[str, Suite[Any, Any]] = {
    suite.name: suite for suite in (TripVsMove(), UpdateGate())
}


def suite_of(subject: AnySubject) -> Suite[Any, Any]:
    """The suite that a subject is one of."""
    return SUITES["trip-vs-move" if isinstance(subject, Case) else "update-gate"]
