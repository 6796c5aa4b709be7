"""What came first when a system was asked, after every step: looked at, and never scored.

A store may hold the right thing where an agent never sees it, or the wrong one where it always
does. So each question of the case is asked after each step, and of what comes back the first
statement is told: its age in days, and whether it names the home before the move or the one after.
Everything here follows from the records of the steps alone.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from runner.model import Noun, Observation, StepRecord
from runner.suites.trip_vs_move.case import Case, Question
from runner.suites.trip_vs_move.protocol import RECALL, recall_name
from runner.suites.trip_vs_move.text import says

READ_OUT = "read_out"


class Recalled(Noun):
    """One statement, as a system gave it; what else it says of it is its own affair."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1)
    day: date | None = None
    """When the memory says that it took it in."""
    score: float | None = None
    source: str | None = None


class First(Noun):
    """The statement that came first."""

    text: str
    day: date | None
    age_days: int | None
    """Days from its day to the step's; none where either is not known."""
    names_before: bool
    """Whether it names the home before the move."""
    names_after: bool
    """Whether it names the home after the move, which before it is where the trip goes."""
    source: str | None
    score: float | None


class Readout(Noun):
    """What a question brought up after one step."""

    question: str
    """Its id."""
    asked: str
    after: str
    """The step it was asked after."""
    day: date | None
    found: int = 0
    """Statements that came back."""
    first: First | None = None
    """None where nothing came back."""
    error: str | None = None
    """Why there is no answer."""


_ANSWER = TypeAdapter(tuple[Recalled, ...])
_READ_OUT = TypeAdapter(tuple[Readout, ...])


def read_out(case: Case, steps: Sequence[StepRecord]) -> tuple[Observation, ...]:
    """What every question brought up, in the order they were asked; nothing where none was.

    The observation's value is a list of :class:`Readout`, in JSON.
    """
    found: list[JsonValue] = [one.model_dump(mode="json") for one in _read(case, steps)]
    if not found:
        return ()
    title = "What came first when asked, after each step"
    return (Observation(id=READ_OUT, title=title, value=found),)


def read_outs(observations: Sequence[Observation]) -> tuple[Readout, ...]:
    """The same, out of the observations of a run."""
    return tuple(
        one
        for observation in observations
        if observation.id == READ_OUT
        for one in _READ_OUT.validate_python(observation.value)
    )


def _read(case: Case, steps: Sequence[StepRecord]) -> Iterator[Readout]:
    asked = {
        recall_name(question, step.name): (question, step.name)
        for question in case.questions
        for step in steps
        if step.verb != RECALL
    }
    for step in steps:
        if step.verb == RECALL and step.name in asked:
            yield _one(case, *asked[step.name], step)


def _one(case: Case, question: Question, after: str, step: StepRecord) -> Readout:
    day = step.day or (step.saw.date() if step.saw else None)
    statements, error = _answer(step)
    return Readout(
        question=question.id,
        asked=case.asked(question),
        after=after,
        day=day,
        found=len(statements),
        first=_first(case, statements[0], day) if statements else None,
        error=error,
    )


def _first(case: Case, said: Recalled, day: date | None) -> First:
    return First(
        text=said.text,
        day=said.day,
        age_days=(day - said.day).days if day and said.day else None,
        names_before=says(said.text, case.home),
        names_after=says(said.text, case.away),
        source=said.source,
        score=said.score,
    )


def _answer(step: StepRecord) -> tuple[tuple[Recalled, ...], str | None]:
    """The statements of an answer, or why it is none."""
    if step.error is not None:
        return (), step.error
    try:
        return _ANSWER.validate_python(step.result.get("statements")), None
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        at = ".".join(("statements", *map(str, wrong["loc"])))
        return (), f"no answer to {RECALL}: {at}: {wrong['msg']}"
