"""All that can be said of one system's answers to one set, whoever gave them."""

from collections.abc import Sequence
from itertools import pairwise

from runner.model import Noun
from runner.suites.memory_honesty.answers import Answer
from runner.suites.memory_honesty.curve import Curve, curve, has_scores
from runner.suites.memory_honesty.exam import Exam
from runner.suites.memory_honesty.grade import grades
from runner.suites.memory_honesty.intervals import (
    RESAMPLES,
    Estimate,
    Intervals,
    estimates,
    intervals,
)
from runner.suites.memory_honesty.metrics import Metrics, metrics
from runner.suites.memory_honesty.ranking import Ranking, ranking


class Result(Noun):
    """What the answers of one run come to. There is no single score in it, and no question."""

    metrics: Metrics
    intervals: Intervals
    """Stratified by kind."""
    unstratified: dict[str, Estimate]
    """The same rates over all questions, resampled without regard to kinds, as was published."""
    curve: Curve | None
    """None where an answer has no score, or where nothing was answered."""
    ranking: Ranking | None
    """None where only one page may be cited."""
    warnings: tuple[str, ...] = ()
    """What a reader of the figures has to know, a sentence each."""


def result(exam: Exam, given: Sequence[Answer], *, resamples: int = RESAMPLES) -> Result:
    """Grade answers and say what they come to.

    Args:
        exam: what was asked, with its questions.
        given: an answer to every question; pages behind those that may be cited do not count.
        resamples: how many are drawn for the intervals; the exam's seed is theirs.

    Raises:
        UsageError: an exam without its questions, or no resample.
        UnreadableAnswer: answers that are not to these questions, or cite pages not in the vault.
    """
    given = [answer.within(exam.top_k) for answer in given]
    found = grades(exam, given)
    return Result(
        metrics=metrics(found),
        intervals=intervals(found, resamples=resamples, seed=exam.seed),
        unstratified=estimates(found, stratified=False, resamples=resamples, seed=exam.seed),
        curve=curve(found) if has_scores(found) else None,
        ranking=ranking(exam, given),
        warnings=tuple(_warnings(exam, given)),
    )


def _warnings(exam: Exam, given: Sequence[Answer]) -> list[str]:
    told = []
    standing = [answer for answer in given if answer.answered]
    if exam.told:
        told.append("The system was told the right pages: this checks the scorer, and no memory.")
    if not standing:
        told.append("Nothing was answered: a wrong-citation rate of nothing is no rate.")
    elif len(standing) == len(given) and exam.counts["refuse"]:
        least = exam.counts["refuse"] / exam.size
        told.append(
            "Nothing was refused, so the wrong-citation rate could not have been below"
            f" {least:.0%}: see it by kind."
        )
    said = {
        "refused and cited pages beside, which counts as a refusal": (
            sum(answer.refused and bool(answer.cited) for answer in given)
        ),
        "cited nothing without saying that it refuses, which counts as a refusal": (
            sum(not answer.refused and not answer.cited for answer in given)
        ),
        "cited a page twice, which counts once": (
            sum(len(set(answer.cited)) < len(answer.cited) for answer in given)
        ),
        "ranked a page above one of a higher score": sum(map(_unordered, given)),
    }
    told += [
        f"In {count} of {len(given)} answers it {what}." for what, count in said.items() if count
    ]
    without = sum(answer.score is None for answer in standing)
    if 0 < without < len(standing):
        told.append(f"{without} of {len(standing)} answers have no score: there is no curve.")
    return told


def _unordered(answer: Answer) -> bool:
    scores = [score for score in answer.scores if score is not None]
    return any(one < other for one, other in pairwise(scores))
