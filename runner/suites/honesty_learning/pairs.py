"""Pairs of one intent in two wordings, and the lesson that a vault's pairs are."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from runner.model import Fixtures, Noun
from runner.suites.memory_honesty import KINDS, TOP_K, Exam, Kind, Lang, PageStatus, Question
from runner.suites.memory_honesty._file import Id, Text
from runner.suites.memory_honesty.exam import MOST

SUITE: Final = "honesty-learning"
VERSION: Final = 1
"""Of the checks."""
VAULTS: Final = ("vault1", "vault2")
"""Vaults with pairs, in the order they are told of."""
BEFORE: Final = "before"
AFTER: Final = "after"
LESSON_KINDS: Final = (BEFORE, AFTER)
WEEKS: Final[tuple[Literal[1, 2], ...]] = (1, 2)

Week = Literal[1, 2]


class Pair(Noun):
    """One intent, asked in one wording in the first week and in another in the second."""

    id: Id
    vault: Id
    kind: Kind
    lang: Lang
    week1: Text
    week2: Text
    gold: tuple[Text, ...]
    """The pages any of which is right to cite first; none where the right thing is to refuse."""
    old: Text | None = None
    """For a correction: the page that was replaced."""
    neighbour: Text | None = None
    """For one to refuse: the page it sounds like."""
    term: Text | None = None
    """For one to refuse: what both wordings ask after, which no page holds."""
    quote: Text | None = None
    """The sentence of a right page that answers it; none for one to refuse."""

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        for week in WEEKS:
            self.question(week)
        if plain(self.week1) == plain(self.week2):
            raise ValueError("week2: the wording of week1 again")
        if (self.kind == "refuse") != (self.quote is None):
            raise ValueError("quote: belongs to a question that a page answers, and to no other")
        if self.kind == "refuse" and (self.neighbour is None or self.term is None):
            raise ValueError("neighbour, term: a question to refuse has both")
        return self

    @property
    def answerable(self) -> bool:
        """Whether a page of the vault answers it."""
        return self.kind != "refuse"

    def wording(self, week: Week) -> str:
        """What is asked in one of the weeks."""
        return self.week1 if week == 1 else self.week2

    def question(self, week: Week) -> Question:
        """The same as a question of the memory honesty suite, which grades it."""
        return Question(
            id=self.id,
            q=self.wording(week),
            kind=self.kind,
            lang=self.lang,
            gold=self.gold,
            old=self.old,
            neighbour=self.neighbour,
            term=self.term,
        )


class Lesson(Noun):
    """The pairs of one vault, and how they are asked: the subject of a report."""

    name: str = SUITE
    fixtures: Fixtures = "own"
    registered: date
    set_sha256: str
    """Of the file of pairs, those of other vaults included."""
    vault: str
    vault_sha256: str
    """Of the pages as a system is given them."""
    pages: tuple[PageStatus, ...] = Field(min_length=1)
    top_k: Annotated[int, Field(ge=1, le=MOST)] = TOP_K
    """Pages that a system may cite for a question."""
    pairs: tuple[Pair, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if other := sorted({pair.vault for pair in self.pairs} - {self.vault}):
            raise ValueError(f"pairs: of {', '.join(other)}, not of {self.vault}")
        if twice := _twice([pair.id for pair in self.pairs]):
            raise ValueError(f"pairs named twice: {', '.join(twice)}")
        # What is learned is known by its wording, and a wording asked twice is asked once.
        asked = [plain(pair.wording(week)) for pair in self.pairs for week in WEEKS]
        if twice := _twice(asked):
            raise ValueError(f"wordings that are there twice: {'; '.join(twice)}")
        return self

    @property
    def variant(self) -> str:
        """Which of several it is: the vault."""
        return self.vault

    @property
    def names(self) -> Mapping[str, str]:
        """What placeholders stand for in scripted tables: there are none."""
        return {}

    @property
    def script(self) -> str:
        """Name of the scripted table that answers for it; it is made when it is asked."""
        return SUITE

    @property
    def checks_versions(self) -> tuple[int, ...]:
        """The one version there is."""
        return (VERSION,)

    @property
    def published_day(self) -> date:
        """The day of the published runs of another router's learner."""
        return date(2026, 10, 15)

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return len(self.pairs)

    @property
    def counts(self) -> dict[Kind, int]:
        """Pairs of each kind, the kinds in their order."""
        found = Counter(pair.kind for pair in self.pairs)
        return {kind: found[kind] for kind in KINDS}

    def exam(self, week: Week) -> Exam:
        """One week's wordings as an exam of the memory honesty suite, which reads and grades."""
        questions = tuple(pair.question(week) for pair in self.pairs)
        name = f"week {week} of {self.vault}"
        return Exam(
            set=name,
            held_out=False,
            floors_from=name,
            registered=self.registered,
            set_sha256=self.set_sha256,
            vault=self.vault,
            marker="front-matter",
            vault_sha256=self.vault_sha256,
            pages=self.pages,
            top_k=self.top_k,
            counts=self.counts,
            questions=questions,
        )


def plain(wording: str) -> str:
    """A wording with single spaces: as a log may hold it, and enough to know it by."""
    return " ".join(wording.split())


def _twice(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
