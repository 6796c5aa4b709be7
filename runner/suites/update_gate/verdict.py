"""What a verdict of the update gate says. There is no single score in it."""

from typing import Annotated

from pydantic import ConfigDict, Field

from runner.model import Noun, Outcome
from runner.suites._names import exactly
from runner.suites.update_gate._file import Expected
from runner.suites.update_gate.rules import RULES


class RuleTally(Noun):
    """What one rule made of the counted samples of one set."""

    rule: str
    positives_retired: int
    """Updates retired in at least two thirds of the planned samples."""
    positives: int
    missed: tuple[str, ...]
    """Updates that no sample still to come can bring to two thirds."""
    control_retirements: int
    control_samples: int
    control_rows: tuple[str, ...]
    """Controls retired in any sample."""
    met: bool | None
    """Whether the rule meets the bar of the set; none where there is none to meet, or where it
    cannot be told yet."""


class Paired(Noun):
    """Two rules on the same barred samples.

    Samples of one pair are asked of one model, so they are less than independent: the p-value is
    then smaller than it should be.
    """

    rule: str
    other: str
    only_rule_right: int
    """Samples that the first rule decides as labelled, and the second does not."""
    only_other_right: int
    p_value: float
    """Of McNemar's exact test, two-sided: how often as great a difference comes by chance."""


class Reported(Noun):
    """A row that is never barred."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    class_: str = Field(alias="class")
    expected: Expected
    retirements: Annotated[dict[str, int], exactly(RULES)]
    """Counted samples that retire it, by rule."""
    of: int
    """Counted samples."""


class SetScore(Noun):
    """How the samples of one set turned out."""

    name: str
    title: str
    held_out: bool
    planned: int
    outcomes: dict[Outcome, int]
    """Runs by how they ended; only what occurred. A run is one sample of every pair."""
    reasons: dict[str, int]
    """What brought about the endings that did not pass, such as ``checks`` or ``ceiling``."""
    rules: tuple[RuleTally, ...]
    paired: tuple[Paired, ...]
    bar_met: bool | None
    """Of the production rule; none where there is no bar to meet, or it cannot be told yet."""
    bar_note: str
    """Why, in a sentence."""
    regression: bool | None
    """Whether every control sample that the production rule retires is one that the rule before
    1.187 retires too: true is good. None where it cannot be told yet."""
    added: tuple[str, ...]
    """Controls with a sample that the production rule retires and the rule before does not."""
    reported: dict[str, Reported]
    """By the id of the row."""

    @property
    def counted(self) -> int:
        """Runs that came to a verdict: what every tally is of."""
        return self.outcomes.get(Outcome.PASSED, 0) + self.outcomes.get(Outcome.FAILED, 0)

    @property
    def uncounted(self) -> int:
        """Runs without a verdict: incomplete, invalid, errored."""
        return sum(self.outcomes.values()) - self.counted

    @property
    def missing(self) -> int:
        """Planned runs of which there is no record."""
        return self.planned - sum(self.outcomes.values())

    @property
    def coverage(self) -> float:
        """Counted runs as a part of the planned ones, 0 to 1."""
        return self.counted / self.planned if self.planned else 0.0

    def rule(self, name: str) -> RuleTally:
        """The tally of one rule; ``KeyError`` when there is none."""
        for tally in self.rules:
            if tally.rule == name:
                return tally
        raise KeyError(name)


class GateVerdict(Noun):
    """What the samples of every set come to."""

    sets: tuple[SetScore, ...]
    paired: tuple[Paired, ...]
    """Over all sets."""
    bar_met: bool | None
    """Whether every set meets its bar."""
    bar_note: str
    models: tuple[str, ...]
    """Every model that was asked for, the runs' own first."""
    mixture: dict[str, str]
    """Purposes that ran on another model than the runs' own; empty when there is one model."""

    def set_score(self, name: str) -> SetScore:
        """The score of one set; ``KeyError`` when there is none."""
        for one in self.sets:
            if one.name == name:
                return one
        raise KeyError(name)
