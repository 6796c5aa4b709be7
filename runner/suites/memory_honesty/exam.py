"""What one report is about: a set of questions, their vault, and how they are asked."""

import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Final, Self

import orjson
from pydantic import Field, model_validator

from runner.errors import UsageError
from runner.model import Fixtures, Noun
from runner.suites.memory_honesty._file import Kind, Marker
from runner.suites.memory_honesty.pages import PageStatus
from runner.suites.memory_honesty.questions import Question, counts, named_twice

SUITE: Final = "memory-honesty"
VERSION: Final = 1
"""Of the checks."""
TOP_K: Final = 5
"""Pages a system may cite, when nobody says otherwise."""
MOST: Final = 100


class Exam(Noun):
    """A set of questions, their vault, and how they are asked.

    The pages' texts are no part of it: they lie in the vault whose digest it carries.
    """

    name: str = SUITE
    fixtures: Fixtures = "own"
    set: str
    """The name of the set."""
    held_out: bool
    """Whether a report of it tells aggregates only."""
    floors_from: str
    """The development set that floors are picked on."""
    registered: date
    set_sha256: str
    vault: str
    marker: Marker
    """How a replaced page says that it was."""
    vault_sha256: str
    """Of the pages as a system is given them."""
    pages: tuple[PageStatus, ...] = Field(min_length=1)
    top_k: Annotated[int, Field(ge=1, le=MOST)] = TOP_K
    """Pages that a system may cite for a question."""
    depth: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Pages that it is asked for, where those are more: what stands behind the others counts only
    where rules leave some of them out."""
    seed: int = 0
    """Of the order of questions and pages, and of the resamples."""
    told: bool = False
    """Whether the system is told the right pages: the scorer's own check, and no system's."""
    counts: dict[Kind, int]
    """Questions of each kind."""
    questions: tuple[Question, ...] = ()
    """None in the report of a held-out set."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.questions:
            if not self.held_out:
                raise ValueError("questions: only a held-out exam may go without")
        elif counts(self.questions) != self.counts:
            raise ValueError("counts: not those of the questions")
        if self.depth is not None and self.depth <= self.top_k:
            raise ValueError("depth: no more than may be cited")
        if twice := named_twice(self.questions):
            raise ValueError(f"questions named twice: {', '.join(twice)}")
        return self

    @property
    def variant(self) -> str | None:
        """Which of several it is: its set tells that already."""
        return None

    @property
    def names(self) -> Mapping[str, str]:
        """What placeholders stand for in scripted tables: there are none."""
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
        """The day of the published runs of the other memories."""
        return date(2026, 10, 14)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The one kind of run there is, named after the set."""
        return (self.set,)

    @property
    def wanted(self) -> int:
        """How many pages a system is asked for."""
        return self.top_k if self.depth is None else self.depth

    @property
    def size(self) -> int:
        """How many questions are asked."""
        return sum(self.counts.values())

    @property
    def statuses(self) -> dict[str, PageStatus]:
        """Its pages by name."""
        return {page.name: page for page in self.pages}

    @property
    def digest(self) -> str:
        """Digest of all of it; the questions come in by the digest of their set."""
        # As it was before there was a depth, where there is none.
        left_out = {"questions"} | ({"depth"} if self.depth is None else set())
        told = self.model_dump(mode="json", exclude=left_out)
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def public(self) -> "Exam":
        """The form a report holds: without the questions, where the set is held out."""
        return self.model_copy(update={"questions": ()}) if self.held_out else self

    def asked(self) -> tuple[Question, ...]:
        """Its questions.

        Raises:
            UsageError: it is the form of a report, which does not hold them.
        """
        if not self.questions:
            raise UsageError(
                f"The questions of {self.set} are not in its report: the set is held out.",
                hint="They are in the bench, and what was answered is in the sealed file.",
            )
        return self.questions

    def one_of(self, kind: str) -> None:
        """See that a run's kind is the one there is.

        Raises:
            UsageError: it is not.
        """
        if kind not in self.kinds:
            raise UsageError(
                f"The question set {kind!r} is not asked here.", hint=f"Asked: {self.set}."
            )
