"""What a system itself says that a reader of its run has to know."""

from collections.abc import Mapping
from typing import Any

MOST = 20
"""Sentences that are kept of one step; the rest is a number."""
CHARACTERS = 500
"""Of a sentence, at most."""


def warned(step: str, result: Mapping[str, Any]) -> list[str]:
    """The ``warnings`` in what a verb was answered with, a sentence each.

    A system did what it was asked, and knows of something that a result can be misread for want
    of: a page that its model found nothing to remember of, say.
    """
    given = result.get("warnings")
    said = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    more = [f"and {len(said) - MOST} more of the kind"] if len(said) > MOST else []
    return [f"{step}: {each[:CHARACTERS]}" for each in (*said[:MOST], *more)]
