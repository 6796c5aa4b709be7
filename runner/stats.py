"""Rates of small counts, with the exact interval that belongs to them."""

from math import comb
from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A range of rates, from 0 to 1."""

    low: float
    high: float


def exact_interval(hits: int, of: int, *, confidence: float = CONFIDENCE) -> Interval:
    """The exact (Clopper-Pearson) interval of a rate: ``hits`` of ``of`` independent trials.

    Of no trials nothing is known, so the interval is everything.

    Raises:
        ValueError: when ``hits`` of ``of`` is no count, or ``confidence`` not between 0 and 1.
    """
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no count")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    if of == 0:
        return Interval(0.0, 1.0)
    tail = (1 - confidence) / 2
    # All or none, which is how most protocols end, has a closed form.
    if hits == of:
        return Interval(tail ** (1 / of), 1.0)
    if hits == 0:
        return Interval(0.0, 1 - tail ** (1 / of))
    # Loading it takes longer than most commands do.
    from scipy.special import betaincinv

    low = float(betaincinv(hits, of - hits + 1, tail))
    high = float(betaincinv(hits + 1, of - hits, 1 - tail))
    return Interval(low, high)


def rate(hits: int, of: int, *, confidence: float = CONFIDENCE) -> str:
    """A count as it is printed: ``3 of 3 [29–100%]``; without an interval when ``of`` is 0."""
    counted = f"{hits} of {of}"
    if of == 0:
        return counted
    low, high = exact_interval(hits, of, confidence=confidence)
    return f"{counted} [{low * 100:.0f}–{high * 100:.0f}%]"


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided, of two ways to decide the same cases.

    It asks how often a coin thrown once for every case they disagree on would fall as unevenly as
    this, or more so. Whole numbers are counted, so the value is the same to the last bit on every
    machine, as a report that is computed again has to be.

    Args:
        only_first: cases that the first way alone decides rightly.
        only_second: cases that the second way alone decides rightly.

    Returns:
        The p-value, from 0 to 1; 1 where they never disagree.

    Raises:
        ValueError: a count is negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"{only_first} and {only_second} are no counts")
    thrown, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(comb(thrown, heads) for heads in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << thrown))
