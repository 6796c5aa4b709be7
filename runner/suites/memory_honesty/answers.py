"""What a system answered, read from the steps of a run. Nothing in it is guessed."""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from runner.errors import BenchError
from runner.model import Noun, StepRecord
from runner.suites.memory_honesty.exam import Exam
from runner.suites.memory_honesty.protocol import ASK, INDEX, step_name

Score = Annotated[float, Field(allow_inf_nan=False)]


class UnreadableAnswer(BenchError):
    """An answer is not there, there twice, or not of the form that grades are read off."""

    exit_code = 7


class Answer(Noun):
    """What a system made of one question."""

    question: str
    """Its id."""
    cited: tuple[str, ...]
    """Names of pages, the best first; a page may be there twice."""
    scores: tuple[Score | None, ...]
    """One for each cited page, higher is better; none where the system tells none."""
    refused: bool
    """Whether it said that it has nothing, in its own words."""
    receipt: dict[str, JsonValue] = Field(default_factory=dict)
    """Why, in its own words."""
    ms: float | None = None
    """How long it took; none for answers that were handed in."""

    @model_validator(mode="after")
    def _a_score_each(self) -> Self:
        if len(self.scores) != len(self.cited):
            raise ValueError(f"scores: {len(self.scores)} for {len(self.cited)} cited pages")
        return self

    @property
    def answered(self) -> bool:
        """Whether it counts as answered.

        Who cites nothing has refused, whatever it calls it; who says that it refuses has refused,
        whatever it cites beside.
        """
        return bool(self.cited) and not self.refused

    @property
    def first(self) -> str | None:
        """The page it stands by; none where it refused."""
        return self.cited[0] if self.answered else None

    @property
    def score(self) -> float | None:
        """How sure it is of that page; none where it refused, or does not tell."""
        return self.scores[0] if self.answered else None

    def within(self, top_k: int) -> "Answer":
        """The answer with no more than so many pages, the best."""
        return self.model_copy(update={"cited": self.cited[:top_k], "scores": self.scores[:top_k]})

    @property
    def ranked(self) -> tuple[str, ...]:
        """The cited pages, each once: where it was cited first. None where it refused."""
        return tuple(dict.fromkeys(self.cited)) if self.answered else ()


class _Strict(BaseModel):
    """What a verdict reads of a result; there may be more in it."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Indexed(_Strict):
    pages: int


class _Cited(_Strict):
    name: str
    score: Score | None


class _Asked(_Strict):
    # From the record of a step, where JSON's arrays are lists.
    pages: list[_Cited]
    refused: bool
    receipt: dict[str, JsonValue] = Field(default_factory=dict)


def answers(exam: Exam, steps: Iterable[StepRecord]) -> tuple[Answer, ...]:
    """What a run answered, in the order of the exam's questions.

    Args:
        exam: what was asked, with its questions.
        steps: one ``index`` step and one ``ask`` step a question, in any order.

    Raises:
        UsageError: an exam without its questions.
        UnreadableAnswer: the pages were not taken, or not all of them; a question was not asked,
            was asked twice or got no answer; an answer lacks a field, holds another type, cites
            more pages than were asked for or one that is not in the vault; a step asks something
            else.
    """
    wanted = {step_name(question.id): question.id for question in exam.asked()}
    known = exam.statuses
    taken = list(steps)
    see_indexed(exam, [record for record in taken if record.verb == INDEX])
    found: dict[str, Answer] = {}
    for record in taken:
        if record.verb == INDEX:
            continue
        id_ = wanted.get(record.name)
        if record.verb != ASK or id_ is None:
            raise UnreadableAnswer(
                f"Step {record.name!r} ({record.verb}) asks no question of {exam.set}."
            )
        if id_ in found:
            raise UnreadableAnswer(f"The question {id_} of {exam.set} was asked twice.")
        found[id_] = _answer(exam, id_, record)
        see_known(found[id_], known)
    missing = [id_ for id_ in wanted.values() if id_ not in found]
    if missing:
        raise UnreadableAnswer(
            f"There is no answer to {', '.join(missing[:5])}"
            f"{f' and {len(missing) - 5} more' if len(missing) > 5 else ''} ({exam.set}).",
            hint="Such a run is incomplete: it has no verdict.",
        )
    return tuple(found[id_] for id_ in wanted.values())


def see_indexed(exam: Exam, records: Sequence[StepRecord]) -> StepRecord:
    """The one step in which all pages were taken.

    Raises:
        UnreadableAnswer: there is none, there are several, or it did not take every page.
    """
    if len(records) != 1:
        raise UnreadableAnswer(f"The pages of {exam.vault} were handed over {len(records)} times.")
    (record,) = records
    if record.error is not None:
        raise UnreadableAnswer(f"The pages of {exam.vault} were not taken: {record.error}.")
    try:
        count = _Indexed.model_validate(record.result).pages
    except ValidationError as error:
        raise UnreadableAnswer(f"What it took cannot be read: {_first(error)}.") from error
    if count != len(exam.pages):
        raise UnreadableAnswer(
            f"It took {count} pages of {exam.vault}, which has {len(exam.pages)}.",
            hint="What it does not hold it cannot answer; such a run has no verdict.",
        )
    return record


def see_known(answer: Answer, known: Iterable[str]) -> None:
    """See that an answer cites pages of the vault.

    Raises:
        UnreadableAnswer: it cites another.
    """
    pages = known if isinstance(known, dict) else set(known)
    for name in answer.cited:
        if name not in pages:
            raise UnreadableAnswer(
                f"The answer to {answer.question} cites {name!r}, which is no page of the vault."
            )


def _answer(exam: Exam, id_: str, record: StepRecord) -> Answer:
    if record.error is not None:
        raise UnreadableAnswer(f"The question {id_} of {exam.set} got no answer: {record.error}.")
    try:
        asked = _Asked.model_validate(record.result)
    except ValidationError as error:
        raise UnreadableAnswer(
            f"The answer to {id_} ({exam.set}) cannot be read: {_first(error)}."
        ) from error
    if len(asked.pages) > exam.wanted:
        raise UnreadableAnswer(
            f"The answer to {id_} ({exam.set}) cites {len(asked.pages)} pages, of {exam.wanted}"
            " that it may."
        )
    return Answer(
        question=id_,
        cited=tuple(page.name for page in asked.pages),
        scores=tuple(page.score for page in asked.pages),
        refused=asked.refused,
        receipt=asked.receipt,
        ms=round(record.seconds * 1000, 3) if math.isfinite(record.seconds) else None,
    )


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'result'}: {first['msg']}"
