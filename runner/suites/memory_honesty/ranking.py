"""Where the right page stood among the cited ones. Reported, and no part of any verdict."""

from collections.abc import Sequence

from runner.model import Noun
from runner.suites.memory_honesty.answers import Answer
from runner.suites.memory_honesty.exam import Exam

STEPS = (1, 3, 5, 10, 20, 50, 100)


class Ranking(Noun):
    """How far down the right page stood, over the questions that a page answers.

    Pages count once, where they were cited first, and no further down than a system may cite. A
    refusal cites nothing.
    """

    of: int
    """Questions that a page answers."""
    hits: dict[str, int]
    """Of those, how many have a right page among the first so many cited."""
    mrr: float | None
    """Mean of one over the place of the first right page, 0 where there is none; none over no
    question."""


def ranking(exam: Exam, given: Sequence[Answer]) -> Ranking | None:
    """Where the right pages stood; none where only one page may be cited.

    Raises:
        UsageError: an exam without its questions.
    """
    if exam.top_k == 1:
        return None
    by_id = {answer.question: answer for answer in given}
    places = []
    asked = [question for question in exam.asked() if question.answerable]
    for question in asked:
        ranked = by_id[question.id].ranked[: exam.top_k]
        place = next((at for at, name in enumerate(ranked, start=1) if name in question.gold), None)
        places.append(place)
    deep = sorted({step for step in STEPS if step < exam.top_k} | {exam.top_k})
    found = [place for place in places if place is not None]
    return Ranking(
        of=len(asked),
        hits={str(step): sum(place <= step for place in found) for step in deep},
        mrr=sum(1 / place for place in found) / len(asked) if asked else None,
    )
