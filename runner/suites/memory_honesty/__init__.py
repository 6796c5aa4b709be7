"""Memory honesty: the right page cited, a correction followed, and refused what no page holds."""

from runner.suites.memory_honesty._file import KINDS, LANGS, MARKERS, Kind, Lang, Marker
from runner.suites.memory_honesty.answers import Answer, UnreadableAnswer, answers
from runner.suites.memory_honesty.checks import check, ending
from runner.suites.memory_honesty.curve import Curve, Point, area, at_coverage, curve, has_scores
from runner.suites.memory_honesty.exam import SUITE, TOP_K, VERSION, Exam
from runner.suites.memory_honesty.grade import Grade, Mark, grade, grades
from runner.suites.memory_honesty.intervals import (
    RESAMPLES,
    Estimate,
    Intervals,
    estimates,
    intervals,
)
from runner.suites.memory_honesty.load import (
    holds,
    load_exam,
    load_set,
    make_exam,
    parse_questions,
)
from runner.suites.memory_honesty.metrics import Count, Metrics, Tally, metrics
from runner.suites.memory_honesty.observations import observe
from runner.suites.memory_honesty.pages import Page, PageStatus
from runner.suites.memory_honesty.paired import McNemar, Paired, paired
from runner.suites.memory_honesty.parse import UnreadableAnswers, parse_answers
from runner.suites.memory_honesty.protocol import step_name, steps
from runner.suites.memory_honesty.questions import DEVELOPMENT, SETS, Question, QuestionSet
from runner.suites.memory_honesty.ranking import Ranking, ranking
from runner.suites.memory_honesty.rates import RATES, WEIGHTS
from runner.suites.memory_honesty.repeats import Apart, Moved, Repeats, Spread
from runner.suites.memory_honesty.result import Result, result
from runner.suites.memory_honesty.rules import (
    deep_enough,
    floor,
    pick_floor,
    same_coverage,
    skip_superseded,
)
from runner.suites.memory_honesty.score import score
from runner.suites.memory_honesty.vault import Vault, listing, load_vault, make_vault
from runner.suites.memory_honesty.verdict import HonestyVerdict, RunScore, Timing

__all__ = [
    "DEVELOPMENT",
    "KINDS",
    "LANGS",
    "MARKERS",
    "RATES",
    "RESAMPLES",
    "SETS",
    "SUITE",
    "TOP_K",
    "VERSION",
    "WEIGHTS",
    "Answer",
    "Apart",
    "Count",
    "Curve",
    "Estimate",
    "Exam",
    "Grade",
    "HonestyVerdict",
    "Intervals",
    "Kind",
    "Lang",
    "Mark",
    "Marker",
    "McNemar",
    "Metrics",
    "Moved",
    "Page",
    "PageStatus",
    "Paired",
    "Point",
    "Question",
    "QuestionSet",
    "Ranking",
    "Repeats",
    "Result",
    "RunScore",
    "Spread",
    "Tally",
    "Timing",
    "UnreadableAnswer",
    "UnreadableAnswers",
    "Vault",
    "answers",
    "area",
    "at_coverage",
    "check",
    "curve",
    "deep_enough",
    "ending",
    "estimates",
    "floor",
    "grade",
    "grades",
    "has_scores",
    "holds",
    "intervals",
    "listing",
    "load_exam",
    "load_set",
    "load_vault",
    "make_exam",
    "make_vault",
    "metrics",
    "observe",
    "paired",
    "parse_answers",
    "parse_questions",
    "pick_floor",
    "ranking",
    "result",
    "same_coverage",
    "score",
    "skip_superseded",
    "step_name",
    "steps",
]
