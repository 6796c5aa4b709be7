"""Answers that somebody hands in: a JSON object a line, of any system.

::

    {"id": "q001", "cited": ["Engineering/Release process.md"], "refused": false, "scores": [4.2]}

``cited`` is in rank order, with paths below the vault; ``scores`` may be left out, and holds one
for each cited page otherwise. Whatever else a line holds is refused, with its number: a field that
is spelled otherwise must not count as one that was left out.
"""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

from pydantic import ValidationError

from runner.errors import UsageError
from runner.suites.memory_honesty.answers import Answer
from runner.suites.memory_honesty.exam import Exam

FIELDS = ("id", "cited", "refused", "scores")
MOST_TOLD = 10
"""Faults that are told of; a file that is wrong all over needs no more."""


class UnreadableAnswers(UsageError):
    """A file of answers is not of the form that is graded, or not about these questions.

    Attributes:
        faults: a sentence each, those of a line with its number.
    """

    def __init__(self, faults: list[str]) -> None:
        more = len(faults) - MOST_TOLD
        told = [*faults[:MOST_TOLD], *([f"and {more} more faults"] if more > 0 else [])]
        super().__init__("The answers cannot be graded:\n  " + "\n  ".join(told))
        self.faults = tuple(faults)


class _Fault(Exception):
    """What is wrong with one line."""


def parse_answers(lines: Iterable[str | bytes], exam: Exam) -> tuple[Answer, ...]:
    """Read handed-in answers, in the order of the exam's questions.

    Args:
        lines: of the file, with or without their ends; blank ones say nothing.
        exam: the questions they answer, and the pages there are to cite.

    Raises:
        UsageError: an exam without its questions.
        UnreadableAnswers: a line that is no JSON object of the four fields, a question that is
            unknown, answered twice or not at all, or a page that is not in the vault.
    """
    asked = [question.id for question in exam.asked()]
    ids, pages = set(asked), exam.statuses
    found: dict[str, Answer] = {}
    at: dict[str, int] = {}
    faults = []
    for number, line in enumerate(lines, start=1):
        try:
            fields = _fields(line, first=number == 1)
            if fields is None:
                continue
            answer = _answer(fields)
            if answer.question not in ids:
                raise _Fault(f"{exam.set} has no question {answer.question!r}")
            if answer.question in at:
                raise _Fault(
                    f"{answer.question} was answered in line {at[answer.question]} already"
                )
            at[answer.question] = number
            _known(answer, pages, exam.vault)
            found[answer.question] = answer
        except _Fault as fault:
            faults.append(f"line {number}: {fault}")
    missing = [id_ for id_ in asked if id_ not in at]
    if missing:
        some = ", ".join(missing[:MOST_TOLD]) + (", …" if len(missing) > MOST_TOLD else "")
        faults.append(f"{len(missing)} of {len(asked)} questions have no answer: {some}")
    if faults:
        raise UnreadableAnswers(faults)
    return tuple(found[id_] for id_ in asked)


def _fields(line: str | bytes, *, first: bool) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
    except UnicodeDecodeError as error:
        raise _Fault(f"not UTF-8: {error.reason} at byte {error.start + 1}") from error
    if first:
        text = text.removeprefix("\ufeff")  # as some editors begin a file
    if not text.strip():
        return None
    try:
        read = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _Fault(f"no JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise _Fault("no JSON that can be read: nested too deep") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise _Fault(f"no JSON that can be read: {error}") from error
    if not isinstance(read, dict):
        raise _Fault("no JSON object")
    return read


def _answer(fields: dict[str, Any]) -> Answer:
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise _Fault(f"unknown field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    for name in FIELDS[:3]:
        if name not in fields:
            raise _Fault(f"no field {name!r}")
    id_, cited, refused = (fields[name] for name in FIELDS[:3])
    if not isinstance(id_, str):
        raise _Fault("id: not a string")
    if not isinstance(cited, list) or not all(isinstance(name, str) for name in cited):
        raise _Fault("cited: not a list of page names")
    if not isinstance(refused, bool):
        raise _Fault("refused: neither true nor false")
    scores = fields["scores"] if "scores" in fields else [None] * len(cited)
    if not isinstance(scores, list) or not all(map(_scored, scores)):
        raise _Fault("scores: not a list of numbers, or null where there is none")
    try:
        return Answer(question=id_, cited=cited, scores=scores, refused=refused)
    except (ValidationError, OverflowError) as error:
        told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise _Fault(told.removeprefix("Value error, ")) from error


def _scored(score: object) -> bool:
    return score is None or (isinstance(score, int | float) and not isinstance(score, bool))


def _known(answer: Answer, pages: Iterable[str], vault: str) -> None:
    names = list(pages)
    for name in answer.cited:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"; is it {close[0]!r}?" if close else ""
            raise _Fault(f"{vault} has no page {name!r}{hint}")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise _Fault(f"the field {name!r} is there twice")
    return dict(pairs)


def _no_number(name: str) -> NoReturn:
    raise _Fault(f"{name} is no number")
