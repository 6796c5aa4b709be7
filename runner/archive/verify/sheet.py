"""What came of looking: a line a check, of what it looked at, how much, and what is wrong."""

import enum
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from runner.errors import BenchError
from runner.model import Noun

SHOWN = 400
"""Characters of what is wrong that are told."""


class State(enum.StrEnum):
    """What came of a check."""

    HOLDS = "holds"
    WRONG = "does not hold"
    UNCHECKED = "not checked"


class Line(Noun):
    """One check."""

    id: str
    what: str
    """What it looks at, and what that has to be."""
    looked_at: int
    """How many of them there were, as far as it got."""
    wrong: int = 0
    """How many are not as they have to be."""
    state: State
    first: str = ""
    """The first thing wrong, why nothing could be checked, or what else there is to know."""


class Sheet(Noun):
    """All checks of one file."""

    file: str
    about: str
    """What the file is."""
    lines: tuple[Line, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing that could be checked is wrong, and something could."""
        return not self.of(State.WRONG) and bool(self.of(State.HOLDS))

    def of(self, state: State) -> tuple[Line, ...]:
        """The lines that came out so."""
        return tuple(line for line in self.lines if line.state is state)

    def line(self, id_: str) -> Line:
        """The line of one check; ``KeyError`` where it was not made."""
        for line in self.lines:
            if line.id == id_:
                return line
        raise KeyError(id_)


class NotCheckable(Exception):
    """What a check needs is not there. That is no fault, and proves nothing."""


class Look:
    """One check while it is made."""

    def __init__(self) -> None:
        self.looked_at = 0
        self.wrong = 0
        self.first = ""
        self.noted = ""

    def at(self, count: int = 1) -> None:
        """So many more are looked at."""
        self.looked_at += count

    def amiss(self, told: str) -> None:
        """One of them is not as it has to be."""
        self.wrong += 1
        self.first = self.first or told

    def note(self, told: str) -> None:
        """Something that is as it may be, and worth knowing."""
        self.noted = self.noted or told

    @contextmanager
    def one(self) -> Iterator[None]:
        """Look at one of them; an error says that it is not as it has to be."""
        self.at()
        try:
            yield
        except NotCheckable:
            raise
        except Exception as error:
            self.amiss(told(error))


class Looking:
    """Makes checks one after another. Whatever a file makes one of them run into is its finding,
    so that no file can end them all."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    @contextmanager
    def check(self, id_: str, what: str) -> Iterator[Look]:
        """Make one check.

        Args:
            id_: its name.
            what: what it looks at, and what that has to be.
        """
        look = Look()
        unchecked = ""
        try:
            yield look
        except NotCheckable as why:
            unchecked = str(why)
        except Exception as error:
            look.amiss(told(error))
        if not look.looked_at:
            unchecked = unchecked or "There is nothing to look at."
        state = State.WRONG if look.wrong else State.UNCHECKED if unchecked else State.HOLDS
        self._put(id_, what, look, state, look.first or unchecked or look.noted)

    def cannot(self, id_: str, what: str, why: str) -> None:
        """Say that something could not be checked."""
        self._put(id_, what, Look(), State.UNCHECKED, why)

    def held(self, id_: str) -> bool:
        """Whether a check was made and holds."""
        return any(line.id == id_ and line.state is State.HOLDS for line in self.lines)

    def _put(self, id_: str, what: str, look: Look, state: State, first: str) -> None:
        self.lines.append(
            Line(
                id=id_,
                what=what,
                looked_at=look.looked_at,
                wrong=look.wrong,
                state=state,
                first=first[:SHOWN],
            )
        )


def told(error: Exception) -> str:
    """An error in words."""
    if isinstance(error, BenchError):
        return error.message
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {error}"
