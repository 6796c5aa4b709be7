"""Whether a comparison is good enough for whoever gates a change on it."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.errors import UsageError
from runner.reports.compare._effort import MEASURES
from runner.reports.compare.comparison import Comparison
from runner.reports.compare.nouns import Way


class FailOn(enum.StrEnum):
    """What is too much."""

    WORSE = "worse"
    """Anything that is worse: a run that no longer passes, one question."""
    SIGNIFICANT = "significant"
    """What is worse by an exact test, adjusted for all tests that decide together."""
    CHANGED = "changed"
    """Anything that is not as it was."""
    NEVER = "never"


DEFAULTS: Mapping[str, FailOn] = {
    "trip-vs-move": FailOn.WORSE,
    "update-gate": FailOn.WORSE,
    "memory-honesty": FailOn.SIGNIFICANT,
    "honesty-learning": FailOn.SIGNIFICANT,
}
"""By suite. A few runs of a case can never be significant, and each of them has to pass. Of two
hundred questions some always turn, for worse and for better."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a comparison comes to.

    Attributes:
        holds: whether nothing is too much.
        fail_on: what would have been.
        why: in a sentence or two.
    """

    holds: bool
    fail_on: FailOn
    why: str


def judge(
    comparison: Comparison,
    fail_on: FailOn | None = None,
    *,
    alpha: float = 0.05,
    limits: Mapping[str, float] | None = None,
) -> Judged:
    """Judge a comparison.

    Args:
        comparison: of A and B.
        fail_on: what is too much; as ``DEFAULTS`` has it when left out.
        alpha: below which a p-value is significant.
        limits: how many times as much as A B may take, by measure.

    Raises:
        UsageError: an ``alpha`` that is none; a limit on nothing that both reports tell.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha} is not between 0 and 1.")
    wanted = DEFAULTS[comparison.suite] if fail_on is None else fail_on
    too_much = [finding for finding in comparison.findings if {
        FailOn.WORSE: finding.way is Way.WORSE,
        FailOn.SIGNIFICANT: finding.way is Way.WORSE and finding.significant(alpha),
        FailOn.CHANGED: True,
        FailOn.NEVER: False,
    }[wanted]]  # fmt: skip
    over = list(_over(comparison, limits or {}))
    counts = ", ".join(f"{comparison.count(way)} {way.value}" for way in Way)
    said = {
        FailOn.WORSE: f"{len(too_much)} of them too much, as nothing may be worse",
        FailOn.SIGNIFICANT: f"{len(too_much)} of them worse by a test, at {alpha:g}",
        FailOn.CHANGED: f"{len(too_much)} of them too much, as nothing may change",
        FailOn.NEVER: "none of them too much, whatever they are",
    }[wanted]
    why = f"Findings: {counts}; {said}." if comparison.findings else "Nothing changed."
    return Judged(not too_much and not over, wanted, " ".join([why, *over]))


def _over(comparison: Comparison, limits: Mapping[str, float]) -> Iterator[str]:
    """Limits that B is over, a sentence each."""
    took = {one.name: one for one in comparison.effort}
    for name, most in limits.items():
        if name not in MEASURES:
            raise UsageError(
                f"There is no measure {name!r}.", hint=f"Measures: {', '.join(MEASURES)}."
            )
        one = took.get(name)
        if one is None or one.before is None or one.after is None:
            raise UsageError(
                f"--max-ratio {name}: A and B do not both tell it.",
                hint=f"Told by both: {', '.join(_told(comparison)) or 'nothing'}.",
            )
        if one.after > most * one.before:
            title = MEASURES[name].title
            yield f"{title}: {one.after:.6g}, more than {most:g} times {one.before:.6g}."


def _told(comparison: Comparison) -> Iterator[str]:
    for one in comparison.effort:
        if one.before is not None and one.after is not None:
            yield one.name
