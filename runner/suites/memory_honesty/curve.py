"""Risk over coverage: how often a system is wrong when it answers only what it is surest of.

A point a score: everything of that score and better is answered, nothing else; answers of one score
stand or fall together. Coverage is answered over all questions, risk is wrong over answered.
"""

from collections.abc import Sequence

from runner.errors import UsageError
from runner.model import Noun
from runner.suites.memory_honesty.grade import Grade


class Point(Noun):
    """One floor, and what is left of a system's answers with it."""

    floor: float
    """The score that an answer needs."""
    answered: int
    right: int
    wrong: int
    coverage: float
    """Answered over all questions."""
    risk: float
    """Wrong over answered."""


class Curve(Noun):
    """Risk over coverage, from the surest answers to all that were given."""

    n: int
    """Questions, answered or not."""
    points: tuple[Point, ...]
    """In ascending coverage; none where nothing was answered."""
    area: float
    """Below the curve, from no coverage to the most the system reaches; see ``area``. Less is
    better, at the same coverage."""

    @property
    def most(self) -> float:
        """The coverage it reaches."""
        return self.points[-1].coverage if self.points else 0.0


def curve(grades: Sequence[Grade]) -> Curve:
    """The curve of a system that tells how sure it is.

    Raises:
        UsageError: an answer without a score.
    """
    by_score: dict[float, list[Grade]] = {}
    for grade in grades:
        if grade.answered:
            if grade.score is None:
                raise UsageError(
                    f"The system reports no score (question {grade.question}).",
                    hint="Without one there is no floor, no curve and no equal coverage.",
                )
            by_score.setdefault(grade.score, []).append(grade)
    answered = wrong = 0
    points = []
    for floor in sorted(by_score, reverse=True):
        answered += len(by_score[floor])
        wrong += sum(grade.wrong for grade in by_score[floor])
        points.append(
            Point(
                floor=floor,
                answered=answered,
                right=answered - wrong,
                wrong=wrong,
                coverage=answered / len(grades),
                risk=wrong / answered,
            )
        )
    found = Curve(n=len(grades), points=tuple(points), area=0.0)
    return found.model_copy(update={"area": area(found)})


def has_scores(grades: Sequence[Grade]) -> bool:
    """Whether every answer has a score, and there is one."""
    given = [grade for grade in grades if grade.answered]
    return bool(given) and all(grade.score is not None for grade in given)


def area(of: Curve, until: float | None = None) -> float:
    """The area below a curve, each point's risk held from the coverage before it to its own.

    Two systems are comparable to the coverage that both reach, and no further: a system that
    answers little has little below its curve.

    Args:
        of: the curve.
        until: the coverage up to which; all that it reaches when left out.

    Raises:
        UsageError: a coverage that it does not reach, or below none.
    """
    end = of.most if until is None else until
    if not 0 <= end <= of.most:
        raise UsageError(f"The curve reaches a coverage of {of.most:.3f}, not {end:.3f}.")
    total = before = 0.0
    for point in of.points:
        total += point.risk * max(0.0, min(point.coverage, end) - before)
        before = point.coverage
    return total


def at_coverage(of: Curve, coverage: float) -> Point | None:
    """The point of the most coverage that is not above ``coverage``.

    None where even the surest answers are more than that, or where the system never answers so
    much: what it would do there is not known.
    """
    if coverage > of.most:
        return None
    below = [point for point in of.points if point.coverage <= coverage]
    return below[-1] if below else None
