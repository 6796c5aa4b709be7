"""How far runs of the same questions agree: what moved of the answers, and of the rates."""

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

from runner.model import Noun
from runner.suites._names import exactly
from runner.suites.memory_honesty.answers import Answer
from runner.suites.memory_honesty.metrics import Metrics

MAIN = (
    "wrong_rate",
    "coverage",
    "neighbours_refused",
    "corrections_right",
    "current_right",
    "answerable_right",
    "false_refusals",
)
"""The rates whose spread is told, as in ``Metrics``."""


class Apart(Noun):
    """Two runs laid beside one another."""

    first: int
    second: int
    """Numbers of the runs."""
    differing: int
    """Questions on which one stands by a page that the other does not, or refuses."""
    refusals: int
    """Of those, questions that one answers and the other refuses."""


class Spread(Noun):
    """One rate over several runs; none where it is undefined in every one."""

    least: float | None
    most: float | None

    @property
    def width(self) -> float | None:
        """From the least to the most."""
        return None if self.least is None or self.most is None else self.most - self.least


class Moved(Noun):
    """How much the answers moved, pair by pair, and how far apart the rates are."""

    questions: int
    pairs: tuple[Apart, ...]
    """Every two runs, the earlier first."""
    rates: Annotated[dict[str, Spread], exactly(MAIN)]
    """The main rates, by name."""

    @property
    def mean(self) -> float:
        """The share of questions on which two runs differ, over all pairs."""
        return sum(pair.differing for pair in self.pairs) / (self.questions * len(self.pairs))


class Repeats(Noun):
    """How far runs of the same questions agree."""

    runs: int
    differing: int
    """Questions on which not all of them stand by the same page, or refuse."""
    moved: Moved | None = None
    """None in a report that was made before it was told."""


def repeats(
    indices: Sequence[int], given: Sequence[Sequence[Answer]], found: Sequence[Metrics]
) -> Repeats | None:
    """Lay runs beside one another; none for fewer than two.

    Args:
        indices: the number of each run.
        given: what each answered, in the order of the exam's questions.
        found: what that came to.
    """
    if len(given) < 2:
        return None
    firsts = [[answer.first for answer in run] for run in given]
    return Repeats(
        runs=len(given),
        differing=sum(len(set(said)) > 1 for said in zip(*firsts, strict=True)),
        moved=Moved(
            questions=len(firsts[0]),
            pairs=tuple(
                _apart(indices[one], firsts[one], indices[other], firsts[other])
                for one, other in combinations(range(len(firsts)), 2)
            ),
            rates={name: _spread([_rate(one, name) for one in found]) for name in MAIN},
        ),
    )


def _apart(
    index: int, said: Sequence[str | None], other: int, others: Sequence[str | None]
) -> Apart:
    differing = [(a, b) for a, b in zip(said, others, strict=True) if a != b]
    return Apart(
        first=index,
        second=other,
        differing=len(differing),
        refusals=sum(a is None or b is None for a, b in differing),
    )


def _rate(found: Metrics, name: str) -> float | None:
    value = getattr(found, name)
    rate: float | None = value if value is None or isinstance(value, float) else value.rate
    return rate


def _spread(rates: Sequence[float | None]) -> Spread:
    known = [rate for rate in rates if rate is not None]
    return Spread(least=min(known, default=None), most=max(known, default=None))
