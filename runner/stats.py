"""Rates of small counts, with the exact interval that belongs to them."""

from collections.abc import Sequence
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


def fisher(hits: int, of: int, others: int, of_others: int) -> float:
    """Fisher's exact test, two-sided, of two rates of independent trials.

    It asks how often so many hits, dealt out by chance among all trials of both, would fall on the
    two as unlikely as they did, or more so. Whole numbers are counted, as for ``mcnemar``.

    Args:
        hits: of the first.
        of: trials of the first.
        others: hits of the second.
        of_others: trials of the second.

    Returns:
        The p-value, from 0 to 1; 1 where there is no trial of one.

    Raises:
        ValueError: one is no count.
    """
    if not (0 <= hits <= of and 0 <= others <= of_others):
        raise ValueError(f"{hits} of {of} and {others} of {of_others} are no counts")
    both = hits + others
    ways = {
        here: comb(of, here) * comb(of_others, both - here)
        for here in range(max(0, both - of_others), min(of, both) + 1)
    }
    unlikely = sum(count for count in ways.values() if count <= ways[hits])
    return unlikely / comb(of + of_others, both)


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """p-values of several tests made at once, as Holm adjusts them: that any one of them is below
    a level is then no likelier by chance than that level says.

    Returns:
        One for each, in the same order.
    """
    found, least = [0.0] * len(values), 0.0
    for place, (value, number) in enumerate(sorted(zip(values, range(len(values)), strict=True))):
        least = max(least, min(1.0, value * (len(values) - place)))
        found[number] = least
    return tuple(found)
