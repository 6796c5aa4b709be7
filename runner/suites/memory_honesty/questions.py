"""Registered questions about a vault, and what the right behaviour to each is."""

from collections import Counter
from datetime import date
from typing import Self

from pydantic import Field, model_validator

from runner.model import Noun
from runner.suites.memory_honesty._file import KINDS, Id, Kind, Lang, Text

SETS = ("dev", "dev2", "dev3", "heldout", "heldout2", "heldout3")
"""Every registered set, in the order they are told of."""
DEVELOPMENT = ("dev", "dev2", "dev3")


class Question(Noun):
    """One question and what answers it."""

    id: Id
    q: Text
    kind: Kind
    """``correction``: a page that answers it was replaced, and the new page is right;
    ``current``: one page answers it and always did; ``refuse``: no page answers it."""
    lang: Lang
    gold: tuple[Text, ...]
    """The pages any of which is right to cite first; none where the right thing is to refuse."""
    old: Text | None = None
    """For a correction: the page that was replaced."""
    neighbour: Text | None = None
    """For one to refuse: the page it sounds like."""
    term: Text | None = None
    """For one to refuse: what it names that no page holds."""

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        if (self.kind == "refuse") != (not self.gold):
            raise ValueError("gold: a question to refuse has none, and any other has one")
        if len(set(self.gold)) != len(self.gold):
            raise ValueError("gold: a page is named twice")
        if (self.kind == "correction") != (self.old is not None):
            raise ValueError("old: belongs to a correction, and to nothing else")
        if self.old in self.gold:
            raise ValueError("old: the replaced page cannot be right")
        if self.kind != "refuse" and (self.neighbour is not None or self.term is not None):
            raise ValueError("neighbour, term: belong to a question to refuse")
        return self

    @property
    def answerable(self) -> bool:
        """Whether a page of the vault answers it."""
        return self.kind != "refuse"


class QuestionSet(Noun):
    """One registered set of questions."""

    name: str
    vault: str
    held_out: bool
    """Never tuned on: told of in aggregates only."""
    floors_from: str
    """The development set that floors are picked on; a development set names itself."""
    registered: date
    sha256: str
    """Of its lines as they are, not compressed."""
    questions: tuple[Question, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if twice := named_twice(self.questions):
            raise ValueError(f"questions named twice: {', '.join(twice)}")
        return self

    @property
    def counts(self) -> dict[Kind, int]:
        """Questions of each kind."""
        return counts(self.questions)


def counts(questions: tuple[Question, ...]) -> dict[Kind, int]:
    """How many questions there are of each kind, the kinds in their order."""
    found = Counter(question.kind for question in questions)
    return {kind: found[kind] for kind in KINDS}


def named_twice(questions: tuple[Question, ...]) -> list[str]:
    """Ids that more than one question has."""
    found = Counter(question.id for question in questions)
    return [id_ for id_, count in found.items() if count > 1]
