"""Every rate of this suite, defined once: what is counted over what.

All are a sum of counts over a count, so one table serves the figures and their resamples alike.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from runner.suites.memory_honesty.grade import Grade, Mark

WEIGHTS = (1, 2, 5)
"""How many right citations a wrong one costs, in three readings side by side."""


def _marked(mark: Mark) -> Callable[[Grade], bool]:
    return lambda grade: grade.outcome is mark


COUNTS: Mapping[str, Callable[[Grade], bool]] = {
    "n": lambda grade: True,
    "answered": lambda grade: grade.answered,
    "right": lambda grade: grade.right,
    "wrong": lambda grade: grade.wrong,
    "stale": _marked(Mark.STALE),
    "neighbour": _marked(Mark.NEIGHBOUR),
    "unrelated": _marked(Mark.UNRELATED),
    "false_refusal": _marked(Mark.FALSE_REFUSAL),
    "refused": _marked(Mark.REFUSED),
    "behaved": lambda grade: grade.behaved,
    "refuse": lambda grade: grade.kind == "refuse",
    "answerable": lambda grade: grade.kind != "refuse",
    "correction": lambda grade: grade.kind == "correction",
    "current": lambda grade: grade.kind == "current",
    "correction_right": lambda grade: grade.kind == "correction" and grade.right,
    "current_right": lambda grade: grade.kind == "current" and grade.right,
}
"""What is counted of grades."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A sum of counts over one count."""

    terms: Mapping[str, int]
    """Counts by name, each as often as it says."""
    over: str

    def of(self, counted: Mapping[str, int]) -> float | None:
        """The rate; none over nothing."""
        if not counted[self.over]:
            return None
        return self.sum(counted) / counted[self.over]

    def sum(self, counted: Mapping[str, int]) -> int:
        """What stands above the line."""
        return sum(times * counted[name] for name, times in self.terms.items())


RATES: Mapping[str, Rate] = {
    "wrong_rate": Rate({"wrong": 1}, "answered"),
    "stale_rate": Rate({"stale": 1}, "answered"),
    "neighbour_rate": Rate({"neighbour": 1}, "answered"),
    "unrelated_rate": Rate({"unrelated": 1}, "answered"),
    "neighbours_refused": Rate({"refused": 1}, "refuse"),
    "corrections_right": Rate({"correction_right": 1}, "correction"),
    "current_right": Rate({"current_right": 1}, "current"),
    "answerable_right": Rate({"right": 1}, "answerable"),
    "false_refusals": Rate({"false_refusal": 1}, "answerable"),
    "behaved": Rate({"behaved": 1}, "n"),
    "coverage": Rate({"answered": 1}, "n"),
    **{f"cost_{weight}": Rate({"right": 1, "wrong": -weight}, "n") for weight in WEIGHTS},
}
"""By name. ``cost_2`` is right citations minus twice the wrong ones, over all questions: a refusal
costs nothing and earns nothing."""


def count(grades: Iterable[Grade]) -> dict[str, int]:
    """All that is counted of these grades."""
    given = list(grades)
    return {name: sum(map(holds, given)) for name, holds in COUNTS.items()}


def defined(counted: Mapping[str, int]) -> dict[str, Rate]:
    """The rates that mean something for questions of these kinds.

    One over what a system answered always does, even where it answered nothing.
    """
    return {
        name: rate for name, rate in RATES.items() if rate.over == "answered" or counted[rate.over]
    }
