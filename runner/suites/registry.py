"""Every suite there is, and which one a subject belongs to."""

from collections.abc import Mapping
from typing import Any

from runner.suites.honesty_learning import Lesson, LessonVerdict
from runner.suites.honesty_learning.suite import HonestyLearning
from runner.suites.memory_honesty import Exam, HonestyVerdict
from runner.suites.memory_honesty.suite import MemoryHonesty
from runner.suites.suite import Suite
from runner.suites.trip_vs_move import Case, Verdict
from runner.suites.trip_vs_move.suite import TripVsMove
from runner.suites.update_gate import Gate, GateVerdict
from runner.suites.update_gate.suite import UpdateGate

AnySubject = Case | Gate | Exam | Lesson
AnyVerdict = Verdict | GateVerdict | HonestyVerdict | LessonVerdict

SUITES: Mapping[str, Suite[Any, Any]] = {
    suite.name: suite for suite in (TripVsMove(), UpdateGate(), MemoryHonesty(), HonestyLearning())
}


def suite_of(subject: AnySubject) -> Suite[Any, Any]:
    """The suite that a subject is one of."""
    match subject:
        case Case():
            return SUITES["trip-vs-move"]
        case Gate():
            return SUITES["update-gate"]
        case Exam():
            return SUITES["memory-honesty"]
        case Lesson():
            return SUITES["honesty-learning"]
