"""What judges a result by one rule: what was found, or why the rule is broken."""

from collections.abc import Callable

from runner.archive.verify import Sheet
from runner.reports.schema import Report

GET = "`bench verify FILE` says what is wrong. Hand in the file as it was written."


class Broken(Exception):
    """A rule is not followed.

    Attributes:
        found: what was found.
        todo: what to do.
    """

    def __init__(self, found: str, todo: str) -> None:
        super().__init__(found)
        self.found = found
        self.todo = todo


class Beside(Exception):
    """A rule has nothing to say of such a result."""


Judge = Callable[[Report, Sheet], str]
"""Says what was found where a rule is followed; raises ``Broken`` or ``Beside`` where not."""
