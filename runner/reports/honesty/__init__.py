"""What systems answered to a set of questions, side by side, as tables that fit eighty columns."""

from runner.reports.honesty.against import compared, curves
from runner.reports.honesty.effort import effort
from runner.reports.honesty.moved import movements, repeated
from runner.reports.honesty.rows import (
    Row,
    asked,
    at_coverage_of,
    graded,
    row_of,
    title,
    under_rules,
)
from runner.reports.honesty.tables import (
    costs,
    every_rate,
    exact_rates,
    matrix,
    parts,
    question_sheet,
    questions,
)
from runner.reports.honesty.taken import Taken, taken, takings

__all__ = [
    "Row",
    "Taken",
    "asked",
    "at_coverage_of",
    "compared",
    "costs",
    "curves",
    "effort",
    "every_rate",
    "exact_rates",
    "graded",
    "matrix",
    "movements",
    "parts",
    "question_sheet",
    "questions",
    "repeated",
    "row_of",
    "taken",
    "takings",
    "title",
    "under_rules",
]
