"""Sets of labelled pairs, and what of them the bar asks for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from pydantic import ConfigDict, Field, model_validator

from runner.errors import UsageError
from runner.model import Fixtures, Noun
from runner.suites.update_gate._file import Expected

SUITE = "update-gate"
SETS = ("development", "held-out", "past-values", "past-marker-held-out")
"""Every registered set, in the order they are told of."""
VERSION = 1
"""Of the checks."""
LEAST_SAMPLES = 2
"""Fewer cannot meet the bar: an update counts as retired when two samples retire it."""
SAMPLES = 3
CASE = "case"
"""The class of rows taken from a case that was looked at while the rule was made."""


class Claimed(Noun):
    """One side of a pair: what was said, and when."""

    text: str
    day: date | None = None


class Pair(Noun):
    """An older and a newer claim about one thing, and whether the newer replaces the older."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    id: str
    class_: str = Field(alias="class")
    """What kind of row it is, such as ``residence``; ``case`` for one that is never barred."""
    expected: Expected
    """``report`` for a row that is told of and never barred."""
    older: Claimed
    newer: Claimed
    contradicts: bool | None = None
    """Whether the two cannot both be true of one moment; none where nobody labelled it."""
    why: str = ""

    @property
    def barred(self) -> bool:
        """Whether the bar asks for it."""
        return self.class_ != CASE and self.expected != "report"

    @property
    def positive(self) -> bool:
        """Whether the bar wants its older claim retired."""
        return self.barred and self.expected == "changes"

    @property
    def control(self) -> bool:
        """Whether the bar wants its older claim kept."""
        return self.barred and self.expected == "not-changes"


class PairSet(Noun):
    """One registered set of pairs."""

    name: str
    title: str
    held_out: bool
    """Worded apart from what the rule was made on; one update of it may be missed."""
    registered: date | None = None
    """The day its labels were fixed."""
    about: str
    pairs: tuple[Pair, ...] = Field(min_length=1)
    sha256: str
    """Digest of the file it was read from."""

    @model_validator(mode="after")
    def _each_once(self) -> "PairSet":
        if twice := named_twice(pair.id for pair in self.pairs):
            raise ValueError(f"pairs named twice: {', '.join(twice)}")
        return self

    @property
    def positives(self) -> tuple[Pair, ...]:
        """The updates that the bar wants retired."""
        return tuple(pair for pair in self.pairs if pair.positive)

    @property
    def controls(self) -> tuple[Pair, ...]:
        """The pairs that the bar wants left alone."""
        return tuple(pair for pair in self.pairs if pair.control)

    @property
    def reported(self) -> tuple[Pair, ...]:
        """The pairs that are told of and never barred."""
        return tuple(pair for pair in self.pairs if not pair.barred)


class Gate(Noun):
    """What a report is about: the sets that were asked, and how often."""

    name: str = SUITE
    fixtures: Fixtures
    """Whether the pairs are this project's own, or the published ones."""
    sets: tuple[PairSet, ...] = Field(min_length=1)
    samples: int = Field(ge=LEAST_SAMPLES)
    """How often each pair is asked."""

    @model_validator(mode="after")
    def _each_once(self) -> "Gate":
        if twice := named_twice(one.name for one in self.sets):
            raise ValueError(f"sets named twice: {', '.join(twice)}")
        return self

    @property
    def variant(self) -> str | None:
        """Which of several it is: there is one."""
        return None

    @property
    def names(self) -> Mapping[str, str]:
        """What placeholders stand for in scripted tables: pairs have none."""
        return {}

    @property
    def script(self) -> str:
        """Name of the scripted table that answers for it."""
        return SUITE

    @property
    def checks_versions(self) -> tuple[int, ...]:
        """The one version there is."""
        return (VERSION,)

    @property
    def published_day(self) -> date:
        """The day of the published results of record."""
        return date(2026, 10, 12)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of its sets: what a run's kind is one of."""
        return tuple(one.name for one in self.sets)

    def pair_set(self, kind: str) -> PairSet:
        """The set of that name.

        Raises:
            UsageError: there is none.
        """
        for one in self.sets:
            if one.name == kind:
                return one
        raise UsageError(
            f"There is no pair set {kind!r}.", hint=f"Sets asked: {', '.join(self.kinds)}."
        )


def named_twice(names: Iterable[str]) -> list[str]:
    """What occurs more than once, each once."""
    return [name for name, count in Counter(names).items() if count > 1]
