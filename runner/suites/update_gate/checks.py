"""The checks of one sample of one set, under the production rule.

A run is one sample: it fails where a single update is kept or a single control retired. The bar,
which forgives an update one sample of three, is over all samples of a set: see ``score``.
"""

from collections.abc import Iterable

from runner.model import Check, CheckResult, Ending, Outcome, StepRecord
from runner.suites.update_gate.pairs import VERSION, Gate, Pair
from runner.suites.update_gate.rules import PRODUCTION, retires, samples


def check(gate: Gate, kind: str, steps: Iterable[StepRecord]) -> CheckResult:
    """Check one sample of one set.

    Args:
        gate: what was asked.
        kind: the name of the set.
        steps: what the system answered, one step a pair, in any order.

    Raises:
        UsageError: there is no such set.
        UnreadableSample: a pair has no sample that can be read.
    """
    found = samples(gate, kind, steps)
    asked = gate.pair_set(kind)
    kept = [pair for pair in asked.positives if not retires(PRODUCTION, found[pair.id])]
    retired = [pair for pair in asked.controls if retires(PRODUCTION, found[pair.id])]
    checks = (
        _forbids("updates", "No older claim outlives its update", kept),
        _forbids("controls", "No control retires its older claim", retired),
    )
    return CheckResult(version=VERSION, passed=all(check.passed for check in checks), checks=checks)


def ending(result: CheckResult) -> Ending:
    """How a run that came to its end turned out."""
    failed = [check for check in result.checks if not check.passed]
    return Ending(
        outcome=Outcome.PASSED if result.passed else Outcome.FAILED,
        kind=result.reason or "checks",
        detail="; ".join(f"({check.id}) {check.title}" for check in failed),
    )


def _forbids(id_: str, title: str, broke: list[Pair]) -> Check:
    return Check(id=id_, title=title, passed=not broke, evidence=tuple(map(_told, broke)))


def _told(pair: Pair) -> str:
    return f'{pair.id}: "{pair.older.text}" → "{pair.newer.text}"'
