"""What mem0 keeps to itself: failures it logs and works on after, and the model's replies.

A reply that cannot be parsed, a vector that was not made, a row that was not written: mem0 says so
in its log and returns as if there had been nothing to do. Here that is heard.
"""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mem0_driver.errors import Degraded

LOGGER = "mem0"
DUPLICATE = "Skipping duplicate memory"
"""How mem0 says, at debug level, that it holds a statement word for word already."""
_FAILED = re.compile(r"[\w -]{1,40}\b(?:failed|error)\b")
"""How half of its failures are told, at debug level only. The words stand before anything of a
memory's own text, which may speak of failures too."""
_SHOWN = 5


class Watch(logging.Handler):
    """Hears everything mem0 logs; what tells of a failure is kept.

    Attributes:
        failures: what went wrong since the last :meth:`listening` began, in mem0's own words.
        duplicates: statements it dropped meanwhile because it held them.
    """

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.failures: list[str] = []
        self.duplicates = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record in."""
        message = record.getMessage()
        if message.startswith(DUPLICATE):
            self.duplicates += 1
        elif record.levelno >= logging.WARNING or _FAILED.match(message):
            self.failures.append(message)
            print(f"{record.name}: {message}", file=sys.stderr, flush=True)

    def attach(self) -> None:
        """Hear mem0's log from now on, and nothing of it anywhere else."""
        logger = logging.getLogger(LOGGER)
        logger.addHandler(self)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False

    @contextmanager
    def listening(self, doing: str) -> Iterator[None]:
        """Do something of mem0's.

        Raises:
            Degraded: it came to its end, and something in it failed.
        """
        self.failures, self.duplicates = [], 0
        yield
        if self.failures:
            more = f"; and {len(self.failures) - _SHOWN} more" if self.failures[_SHOWN:] else ""
            told = "; ".join(each[:300] for each in self.failures[:_SHOWN])
            raise Degraded(f"{doing}: mem0 went on after a failure: {told}{more}")


class Overheard:
    """The model's client as mem0 calls it; every reply is kept as it came.

    Attributes:
        replies: what was answered since they were last taken.
    """

    def __init__(self, client: Any) -> None:
        self._create = client.messages.create
        self.replies: list[Any] = []
        self.messages = self

    def create(self, **asked: Any) -> Any:
        """Make one call."""
        reply = self._create(**asked)
        self.replies.append(reply)
        return reply

    def taken(self) -> list[Any]:
        """The replies so far; they are forgotten here."""
        taken, self.replies = self.replies, []
        return taken
