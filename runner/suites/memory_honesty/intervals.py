"""Intervals of rates: the percentile bootstrap, stratified by kind or over all questions alike.

A resample draws as many questions as there are, each as likely as any, with replacement: from each
kind as many as it has when stratified, else from all. A rate of a resample is a ratio of sums.
Where nothing stands below the line, which for the wrong-citation rate is a resample in which
nothing was answered, the rate is undefined: such resamples are left out and counted. The interval
runs from the 2.5th to the 97.5th percentile of the others, and both ends are values that were seen.

The same on every machine, to the last bit: the draws are made here from the generator's raw
numbers, which NumPy keeps as they are from version to version; sums are of whole numbers; no
percentile lies between two values. The order of the grades makes no difference.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from runner.errors import UsageError
from runner.model import Noun
from runner.stats import CONFIDENCE
from runner.suites._names import among
from runner.suites.memory_honesty._file import KINDS, Kind, Lang
from runner.suites.memory_honesty.grade import Grade
from runner.suites.memory_honesty.metrics import by_kind, by_language
from runner.suites.memory_honesty.rates import COUNTS, RATES, Rate, count, defined

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Line = np.ndarray[tuple[int], np.dtype[np.float64]]

RESAMPLES = 10_000
_CELLS = 1 << 14
"""Draws that are worked on at once: as many as fit a core's own cache, which is three times as fast
as all of them together."""


class Estimate(Noun):
    """A rate, or a difference of two, and where it may well lie."""

    value: float | None
    """None where it is undefined."""
    low: float | None
    high: float | None
    """None where it is undefined in every resample."""
    undefined: int = 0
    """Resamples in which it is: the interval is of the others."""


_ALWAYS = tuple(name for name, rate in RATES.items() if rate.over in ("answered", "n"))
Estimates = Annotated[dict[str, Estimate], among(RATES, required=_ALWAYS)]
"""Rates that are defined, by name."""


class Intervals(Noun):
    """Every rate with its interval: over all questions, by kind and by language.

    A part is resampled by itself, within its kinds where stratified.
    """

    all: Estimates
    by_kind: dict[Kind, Estimates]
    by_language: dict[Lang, Estimates]
    stratified: bool
    resamples: int
    seed: int


def intervals(
    grades: Sequence[Grade],
    *,
    stratified: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Intervals:
    """Every rate of these grades and of their parts, with its interval.

    Args:
        grades: of one system, a question once.
        stratified: whether each kind keeps its number of questions in every resample.
        resamples: how many are drawn.
        seed: of the draws.

    Raises:
        UsageError: no grades, or no resample.
    """

    def of(part: Sequence[Grade]) -> dict[str, Estimate]:
        return estimates(part, stratified=stratified, resamples=resamples, seed=seed)

    return Intervals(
        all=of(grades),
        by_kind={kind: of(part) for kind, part in by_kind(grades).items()},
        by_language={lang: of(part) for lang, part in by_language(grades).items()},
        stratified=stratified,
        resamples=resamples,
        seed=seed,
    )


def estimates(
    grades: Sequence[Grade],
    *,
    stratified: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Every rate of these grades with its interval, by its name in ``RATES``; see ``intervals``.

    A rate over questions of a kind that is not there is left out.
    """
    counted = count(grades)
    rates = defined(counted)
    found = resampled([grades], rates, stratified=stratified, resamples=resamples, seed=seed)
    return {
        name: estimate(rate.of(counted), found[name][0], resamples) for name, rate in rates.items()
    }


def resampled(
    systems: Sequence[Sequence[Grade]],
    rates: "dict[str, Rate]",
    *,
    stratified: bool,
    resamples: int,
    seed: int,
) -> "dict[str, list[Line]]":
    """The rates of several systems in the same resamples of the same questions.

    Args:
        systems: the grades of each, all to the same questions.
        rates: what is asked of them.
        stratified: whether each kind keeps its number of questions.
        resamples: how many are drawn.
        seed: of the draws.

    Returns:
        For each rate a line a system, of as many numbers as there are resamples; not a number
        where a rate is undefined.

    Raises:
        UsageError: no grades, or no resample.
    """
    import numpy as np

    if not systems or not systems[0]:
        raise UsageError("There is no grade to take a resample of.")
    if resamples < 1:
        raise UsageError(f"{resamples} resamples are none.")
    ordered = [sorted(grades, key=_place) for grades in systems]
    sizes = [sum(1 for one in ordered[0] if one.kind == kind) for kind in KINDS]
    strata = [size for size in sizes if size] if stratified else [len(ordered[0])]
    # A column for each count of each system, so that one product sums them all.
    values = np.array(
        [[holds(one) for holds in COUNTS.values() for one in row] for row in ordered],
        dtype=np.float64,
    ).reshape(len(ordered) * len(COUNTS), len(ordered[0]))
    sums = np.concatenate([drawn @ values.T for drawn in _drawn(strata, resamples, seed)])
    column = {name: number for number, name in enumerate(COUNTS)}

    def line(rate: Rate, system: int) -> "Line":
        first = system * len(COUNTS)
        above = np.zeros(resamples)
        for name, times in rate.terms.items():
            above += times * sums[:, first + column[name]]
        below = sums[:, first + column[rate.over]]
        found = np.full(resamples, np.nan)
        np.divide(above, below, out=found, where=below > 0)
        return found

    return {
        name: [line(rate, system) for system in range(len(ordered))] for name, rate in rates.items()
    }


def estimate(value: float | None, line: "Line", resamples: int) -> Estimate:
    """The interval of a line of resamples; those that are not a number are left out."""
    import numpy as np

    seen = np.sort(line[~np.isnan(line)])
    if not len(seen):
        return Estimate(value=value, low=None, high=None, undefined=resamples)
    # As many are cut off at either end, so that a difference turned round is its mirror image.
    cut = int(len(seen) * (1 - CONFIDENCE) / 2 + 1e-9)
    return Estimate(
        value=value,
        low=float(seen[cut]),
        high=float(seen[-1 - cut]),
        undefined=resamples - len(seen),
    )


def _drawn(
    strata: Sequence[int], resamples: int, seed: int, cells: int = _CELLS
) -> "Iterator[Table]":
    """How often each question is in each resample: a row a resample, a column a question.

    How many ``cells`` are worked on at once changes no number.
    """
    import numpy as np

    size = sum(strata)
    sizes = np.repeat(np.array(strata, dtype=np.uint64), strata)
    starts = np.repeat(np.cumsum([0, *strata[:-1]]), strata)
    generator = np.random.PCG64(seed)
    at_once = max(1, cells // size)
    for begun in range(0, resamples, at_once):
        rows = min(at_once, resamples - begun)
        raw = generator.random_raw(rows * size).reshape(rows, size)
        # The upper half of each number, as a part of its stratum: no draw is thrown away, and the
        # unevenness is less than one in 2**32 / size.
        chosen = ((raw >> np.uint64(32)) * sizes) >> np.uint64(32)
        places = chosen.astype(np.int64) + starts + np.arange(rows)[:, None] * size
        counts = np.bincount(places.ravel(), minlength=rows * size)
        yield counts.reshape(rows, size).astype(np.float64)


def _place(grade: Grade) -> tuple[int, str]:
    return KINDS.index(grade.kind), grade.question
