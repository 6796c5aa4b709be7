"""What an answer came to, in a sign and a word: nothing is told by colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from runner.reports.sheet import Tone
from runner.suites.memory_honesty import Mark


@dataclass(frozen=True, slots=True)
class Sign:
    """How an outcome is shown."""

    symbol: str
    """One character."""
    word: str
    meaning: str
    tone: Tone


SIGNS: Mapping[Mark, Sign] = {
    Mark.RIGHT: Sign("✓", "right", "the first page cited answers the question", Tone.GOOD),
    Mark.REFUSED: Sign("∅", "refused", "nothing answers it, and it was refused", Tone.GOOD),
    Mark.STALE: Sign("↶", "stale", "the first page was replaced by another", Tone.BAD),
    Mark.NEIGHBOUR: Sign(
        "≈", "neighbour", "to be refused, and answered with the page it sounds like", Tone.BAD
    ),
    Mark.UNRELATED: Sign("✗", "unrelated", "another page that does not answer it", Tone.BAD),
    Mark.FALSE_REFUSAL: Sign(
        "○", "false refusal", "a page answers it, and it was refused", Tone.UNSURE
    ),
}
"""By outcome, those that behave well first."""
