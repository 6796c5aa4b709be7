"""What the model says of one pair of claims: everything a rule reads, and nothing decided yet.

There is one way to ask about a pair, whoever asks: a note that meets the standing claims, or a
probe from outside.
"""

from dataclasses import dataclass
from typing import Any

from memory_engine import rules
from memory_engine.judge import Judge, Told
from memory_engine.replies import Verdict


@dataclass(frozen=True, slots=True)
class Sample:
    """One pair, asked about once."""

    contradiction: Verdict
    readings: tuple[rules.Reading, ...]
    """The update probe's, one or two: a second is asked for only where the first sees a change."""
    past_value: bool
    """Whether the older claim says that its value belongs to the past."""

    @property
    def changes(self) -> bool:
        """Whether a change is settled."""
        first, *more = self.readings
        return rules.settled(first, more[0] if more else None)

    def evidence(self) -> dict[str, Any]:
        """Verdicts with their reasons, as an event or a reply tells them."""
        return {
            "contradiction": {
                "verdict": "YES" if self.contradiction.yes else "NO",
                "reason": self.contradiction.reason,
            },
            "readings": [
                {"slot": reading.slot, "verdict": reading.verdict, "reason": reading.reason}
                for reading in self.readings
            ],
        }


def sample(judge: Judge, older: Told, newer: Told) -> Sample:
    """Ask both probes about a pair, the second whatever the first says.

    Raises:
        EngineError: a probe got no usable verdict, so there is no sample.
    """
    contradiction = judge.contradicts(older, newer)
    readings = [judge.update(older, newer, reading=1)]
    if readings[0].changes:
        readings.append(judge.update(older, newer, reading=2))
    return Sample(contradiction, tuple(readings), rules.has_past_value_marker(older.text))
