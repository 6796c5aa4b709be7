"""Two things any retriever can be given: replaced pages left out, and a floor below which it
refuses.

A floor is a score: an answer whose first citation scores less becomes a refusal. ``None`` is no
floor. It is picked on a development set and taken unchanged to any other.
"""

import math
from collections.abc import Sequence

from runner.errors import UsageError
from runner.suites.memory_honesty.answers import Answer
from runner.suites.memory_honesty.exam import MOST, Exam
from runner.suites.memory_honesty.grade import grades
from runner.suites.memory_honesty.pages import Statuses

ASKED = 50
"""Pages that a system is asked for at least, where replaced ones are left out afterwards."""


def skip_superseded(given: Sequence[Answer], pages: Statuses) -> tuple[Answer, ...]:
    """The answers as if replaced pages were not cited.

    What replaced what is known from the pages' own front matter, whatever marker a system was
    given. Where nothing else was cited, the answer becomes a refusal: so for a fair figure a
    system has to be asked for more pages than may be cited, see ``deep_enough``. Who refused has
    still refused.

    Raises:
        KeyError: a page that is not there.
    """
    return tuple(_without(answer, pages) for answer in given)


def deep_enough(pages: Statuses, top_k: int) -> int | None:
    """How many pages to ask for, so that as many as may be cited are left however many replaced
    ones are on top; none where no more than those are needed, or can be asked for."""
    replaced = sum(page.superseded for page in pages.values())
    depth = min(MOST, max(ASKED, replaced + top_k))
    return depth if depth > top_k else None


def floor(given: Sequence[Answer], at: float | None) -> tuple[Answer, ...]:
    """The answers as if none was given whose first citation scores less than ``at``.

    What was cited stays in them, beside the refusal.

    Raises:
        UsageError: an answer whose first citation has no score.
    """
    if at is None:
        return tuple(given)
    return tuple(
        answer.model_copy(update={"refused": True})
        if answer.answered and scored(answer) < at
        else answer
        for answer in given
    )


def pick_floor(exam: Exam, given: Sequence[Answer]) -> float | None:
    """The floor with the most right answers minus wrong ones; of several the lowest.

    Tried are no floor and every first score there is, which is every way to draw the line but the
    one that refuses everything.

    Args:
        exam: a development set, with its questions.
        given: the answers to it.

    Returns:
        The floor; none where it is best to have none.

    Raises:
        UsageError: a held-out set, or an answer whose first citation has no score.
    """
    if exam.held_out:
        raise UsageError(
            f"No floor is picked on {exam.set}: it is held out.",
            hint=f"Floors for it come from {exam.floors_from}.",
        )
    found = grades(exam, given)
    by_score: dict[float, int] = {}
    for answer, one in zip(_in_order(exam, given), found, strict=True):
        if answer.answered:
            score = scored(answer)
            by_score[score] = by_score.get(score, 0) + (1 if one.right else -1)
    best, gained, kept = None, sum(by_score.values()), sum(by_score.values())
    lower: float | None = None
    for score in sorted(by_score):
        # With the floor at this score, all that score less are gone.
        if lower is not None:
            kept -= by_score[lower]
            if kept > gained:
                best, gained = score, kept
        lower = score
    return best


def same_coverage(given: Sequence[Answer], count: int) -> float | None:
    """The floor at which as many are answered as another system answers.

    Answers of one score stand or fall together. Where no floor leaves exactly ``count``, it is the
    one that leaves the most of those that leave fewer: no system gains by answering more.

    Args:
        given: the answers to any set.
        count: how many are to be left.

    Returns:
        The floor; none where no more than ``count`` are answered anyway; just above the best score
        where even those of the best score are more than ``count``.

    Raises:
        UsageError: a negative count, or an answer whose first citation has no score.
    """
    if count < 0:
        raise UsageError(f"{count} questions cannot be answered.")
    descending = sorted((scored(answer) for answer in given if answer.answered), reverse=True)
    if len(descending) <= count:
        return None
    # The best that is to go, and with it all of its score; the lowest that is above it may stay.
    gone = descending[count]
    above = [score for score in descending if score > gone]
    return above[-1] if above else math.nextafter(gone, math.inf)


def scored(answer: Answer) -> float:
    """The score of the page an answer stands by.

    Raises:
        UsageError: it has none.
    """
    if answer.score is None:
        raise UsageError(
            f"The system reports no score (question {answer.question}).",
            hint="Without one there is no floor, no curve and no equal coverage.",
        )
    return answer.score


def _in_order(exam: Exam, given: Sequence[Answer]) -> list[Answer]:
    by_id = {answer.question: answer for answer in given}
    return [by_id[question.id] for question in exam.asked()]


def _without(answer: Answer, pages: Statuses) -> Answer:
    kept = [
        (name, score)
        for name, score in zip(answer.cited, answer.scores, strict=True)
        if not pages[name].superseded
    ]
    return answer.model_copy(
        update={
            "cited": tuple(name for name, _ in kept),
            "scores": tuple(score for _, score in kept),
        }
    )
