"""Honesty, learning: whether what is learned from one week's questions helps with the next's."""

from runner.suites.honesty_learning.checks import answered, check, ending
from runner.suites.honesty_learning.learned import Lore, Night, night
from runner.suites.honesty_learning.load import load_lesson, make_lesson, parse_pairs
from runner.suites.honesty_learning.observations import observe
from runner.suites.honesty_learning.pairs import (
    AFTER,
    BEFORE,
    LESSON_KINDS,
    SUITE,
    VAULTS,
    VERSION,
    Lesson,
    Pair,
    plain,
)
from runner.suites.honesty_learning.protocol import LEARN, step_name, steps
from runner.suites.honesty_learning.score import score
from runner.suites.honesty_learning.verdict import Learned, LessonRun, LessonVerdict

__all__ = [
    "AFTER",
    "BEFORE",
    "LEARN",
    "LESSON_KINDS",
    "SUITE",
    "VAULTS",
    "VERSION",
    "Learned",
    "Lesson",
    "LessonRun",
    "LessonVerdict",
    "Lore",
    "Night",
    "Pair",
    "answered",
    "check",
    "ending",
    "load_lesson",
    "make_lesson",
    "night",
    "observe",
    "parse_pairs",
    "plain",
    "score",
    "step_name",
    "steps",
]
