"""Pictures for pages: drawn by matplotlib, inline, readable without colour, with their numbers."""

from runner.reports.site.figures._figure import Figure, slug
from runner.reports.site.figures.curves import Line, risk_coverage
from runner.reports.site.figures.forest import Panel, Share, forest
from runner.reports.site.figures.outcomes import Group, outcomes
from runner.reports.site.figures.prices import Worth, prices
from runner.reports.site.figures.rules import exact, rules
from runner.reports.site.figures.store import store
from runner.reports.site.figures.timeline import Moment, moments, timeline

__all__ = [
    "Figure",
    "Group",
    "Line",
    "Moment",
    "Panel",
    "Share",
    "Worth",
    "exact",
    "forest",
    "moments",
    "outcomes",
    "prices",
    "risk_coverage",
    "rules",
    "slug",
    "store",
    "timeline",
]
