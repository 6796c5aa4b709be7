"""Two systems on the same questions: differences with intervals, and exact tests."""

from collections.abc import Callable, Mapping, Sequence

from runner.errors import UsageError
from runner.model import Noun
from runner.stats import mcnemar
from runner.suites.memory_honesty._file import Lang
from runner.suites.memory_honesty.grade import Grade
from runner.suites.memory_honesty.intervals import RESAMPLES, Estimate, estimate, resampled
from runner.suites.memory_honesty.metrics import by_language
from runner.suites.memory_honesty.rates import count, defined


class McNemar(Noun):
    """On how many questions one of two systems alone was right, and how likely that is."""

    only_first: int
    only_second: int
    p_value: float
    """Exact, two-sided."""


TESTS: Mapping[str, Callable[[Grade], bool | None]] = {
    "behaved": lambda grade: grade.behaved,
    "not_wrong": lambda grade: not grade.wrong,
    "answerable_right": lambda grade: None if grade.kind == "refuse" else grade.right,
    "neighbours_refused": lambda grade: grade.behaved if grade.kind == "refuse" else None,
}
"""What counts as right in each test; none for a question that it is not about."""


class Paired(Noun):
    """The first system minus the second, on the same questions in the same resamples."""

    differences: dict[str, Estimate]
    """Of every rate, by its name."""
    by_language: dict[Lang, dict[str, Estimate]]
    tests: dict[str, McNemar]
    """``behaved``: a right citation or a right refusal, over all questions; ``not_wrong``: no wrong
    citation, over all; ``answerable_right`` and ``neighbours_refused`` over those alone."""
    stratified: bool
    resamples: int
    seed: int


def paired(
    first: Sequence[Grade],
    second: Sequence[Grade],
    *,
    stratified: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Paired:
    """Compare two systems question by question.

    A difference is undefined in a resample where either rate is; such are left out and counted.

    Args:
        first: the grades of one.
        second: the grades of the other, to the same questions.
        stratified: whether each kind keeps its number of questions in every resample.
        resamples: how many are drawn.
        seed: of the draws.

    Raises:
        UsageError: other questions, or none; no resample.
    """
    both = dict(zip(map(_key, first), map(_key, second), strict=False))
    if len(first) != len(second) or sorted(both) != sorted(both.values()):
        raise UsageError("The two systems were not asked the same questions.")

    def differences(one: Sequence[Grade], other: Sequence[Grade]) -> dict[str, Estimate]:
        counted, others = count(one), count(other)
        rates = defined(counted)
        lines = resampled(
            [one, other], rates, stratified=stratified, resamples=resamples, seed=seed
        )
        return {
            name: estimate(
                _minus(rate.of(counted), rate.of(others)),
                lines[name][0] - lines[name][1],
                resamples,
            )
            for name, rate in rates.items()
        }

    others = by_language(second)
    return Paired(
        differences=differences(first, second),
        by_language={
            lang: differences(part, others[lang]) for lang, part in by_language(first).items()
        },
        tests=tests(first, second),
        stratified=stratified,
        resamples=resamples,
        seed=seed,
    )


def tests(first: Sequence[Grade], second: Sequence[Grade]) -> dict[str, McNemar]:
    """McNemar's exact test of all that two systems can be right about; see ``Paired``."""
    others = {grade.question: grade for grade in second}
    found = {}
    for name, right in TESTS.items():
        only_first = only_second = 0
        for grade in first:
            here, there = right(grade), right(others[grade.question])
            only_first += bool(here and not there)
            only_second += bool(there and not here)
        found[name] = McNemar(
            only_first=only_first,
            only_second=only_second,
            p_value=mcnemar(only_first, only_second),
        )
    return found


def _key(grade: Grade) -> tuple[str, str, str]:
    return grade.question, grade.kind, grade.lang


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
