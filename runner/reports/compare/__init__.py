"""Two reports of one suite beside each other: what changed, with the tests that belong to it."""

from runner.reports.compare._effort import MEASURES, Took
from runner.reports.compare.comparison import Comparison, compare
from runner.reports.compare.nouns import Finding, Way
from runner.reports.compare.render import document, headline, page, sheets, spreadsheet, table
from runner.reports.compare.verdict import DEFAULTS, FailOn, Judged, judge

__all__ = [
    "DEFAULTS",
    "MEASURES",
    "Comparison",
    "FailOn",
    "Finding",
    "Judged",
    "Took",
    "Way",
    "compare",
    "document",
    "headline",
    "judge",
    "page",
    "sheets",
    "spreadsheet",
    "table",
]
