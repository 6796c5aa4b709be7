"""What a run of the update gate asks of a system: every pair of one set, once."""

import hashlib
from typing import Final

from runner.errors import UsageError
from runner.model import Step
from runner.suites.update_gate.pairs import Claimed, Gate, Pair

VERB: Final = "probe"


def steps(gate: Gate, kind: str, index: int) -> tuple[Step, ...]:
    """One probe a pair, in an order that tells nothing of classes and labels.

    The order differs from sample to sample and is the same on every machine: by the digest of
    set, sample and pair. A system is given the two claims and their days, and no name of a row.

    Args:
        gate: what is asked.
        kind: the name of one of its sets.
        index: which sample of it, from 1.

    Raises:
        UsageError: no such set or sample.
    """
    pairs = gate.pair_set(kind).pairs
    if not 1 <= index <= gate.samples:
        raise UsageError(f"There is no sample {index}: each pair is asked {gate.samples} times.")

    def place(pair: Pair) -> bytes:
        return hashlib.sha256(f"{kind}\n{index}\n{pair.id}".encode()).digest()

    return tuple(
        Step(
            name=step_name(pair.id),
            verb=VERB,
            payload={"older": _told(pair.older), "newer": _told(pair.newer)},
        )
        for pair in sorted(pairs, key=place)
    )


def step_name(pair: str) -> str:
    """The name of the step that asks about that pair."""
    return f"{VERB} {pair}"


def _told(claimed: Claimed) -> dict[str, str | None]:
    return {"text": claimed.text, "day": claimed.day.isoformat() if claimed.day else None}
