"""A memory's life as a git repository: what it believed, and when it changed its mind.

A run becomes a chain of commits, one for each time its store was read, dated at the day the step
happened on for the system. Every claim is a file of its own; a claim that is retired stays, and its
status changes. The notes lie beside them, so that what was told and what it did stand in one diff.
Everything follows from the report alone: the same report makes the same commits.
"""

from runner.reports.history._life import Life, Moment, lives, no_stores
from runner.reports.history._repository import Branch, write
from runner.reports.history._words import person

__all__ = ["Branch", "Life", "Moment", "lives", "no_stores", "person", "write"]
