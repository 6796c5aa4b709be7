"""What was published of the same cases and models, as dated data, to lay beside a result of ours.

Figures are as the page prints them: money in US dollars at list prices, to the cent; a figure that
the page does not give is none here, never worked out.
"""

from runner.published.beside import Beside, BesideRow, Ours, beside
from runner.published.data import (
    Count,
    GateTally,
    Published,
    PublishedEstimate,
    PublishedKind,
    PublishedResult,
    PublishedSet,
)
from runner.published.honesty import (
    OTHERS,
    PublishedAnswers,
    PublishedHonesty,
    PublishedMemory,
    PublishedQuestions,
    load_honesty,
)
from runner.published.load import SUITES, digests, load_published, published

__all__ = [
    "OTHERS",
    "SUITES",
    "Beside",
    "BesideRow",
    "Count",
    "GateTally",
    "Ours",
    "Published",
    "PublishedAnswers",
    "PublishedEstimate",
    "PublishedHonesty",
    "PublishedKind",
    "PublishedMemory",
    "PublishedQuestions",
    "PublishedResult",
    "PublishedSet",
    "beside",
    "digests",
    "load_honesty",
    "load_published",
    "published",
]
