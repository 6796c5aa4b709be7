"""The update gate, as runs and reports take it."""

from collections.abc import Mapping, Sequence
from datetime import date

from runner.errors import UsageError
from runner.model import CheckResult, Ending, Observation, RunRecord, Step
from runner.suites.suite import Material, Suite
from runner.suites.update_gate.checks import check, ending
from runner.suites.update_gate.load import load_gate
from runner.suites.update_gate.observations import observe
from runner.suites.update_gate.pairs import SETS, SUITE, Gate
from runner.suites.update_gate.protocol import VERB, steps
from runner.suites.update_gate.score import score
from runner.suites.update_gate.verdict import GateVerdict


class UpdateGate(Suite[Gate, GateVerdict]):
    """Does the update rule retire what it should, and nothing else?"""

    name = SUITE
    title = "Update gate"
    verbs = (VERB,)

    def kinds(self, subject: Gate) -> tuple[str, ...]:
        """The sets that are asked; a run is one sample of one."""
        return subject.kinds

    def steps(self, subject: Gate, kind: str, index: int) -> tuple[Step, ...]:
        """A probe a pair."""
        return steps(subject, kind, index)

    def check(self, subject: Gate, kind: str, material: Material) -> tuple[CheckResult, ...]:
        """The one version there is."""
        return (check(subject, kind, material.steps),)

    def observe(self, subject: Gate, kind: str, material: Material) -> tuple[Observation, ...]:
        """Rows that are reported only, and markers that two readers see differently."""
        return tuple(observe(subject, kind, material.steps))

    def ending(self, results: Sequence[CheckResult], version: int) -> Ending:
        """How a run that came to its end turned out."""
        return ending(next(result for result in results if result.version == version))

    def score(
        self, subject: Gate, runs: Sequence[RunRecord], version: int, planned: Mapping[str, int]
    ) -> GateVerdict:
        """Tallies of three rules, and the bar of the one in force."""
        return score(subject, runs, planned)

    def digests(self, subject: Gate) -> Mapping[str, str]:
        """The sets' files."""
        return {f"pairs/{one.name}": one.sha256 for one in subject.sets}

    def known(self, subject: Gate) -> Gate | None:
        """The project's own sets of that name; none of the published ones, which it lacks."""
        if subject.fixtures != "own":
            return None
        try:
            return load_gate(subject.kinds, subject.samples)
        except UsageError:
            return None  # sets of another bench

    def first_words(self, subject: Gate) -> tuple[str, str]:
        """The shortest pair there is: any may be the first."""
        pairs = (pair for one in subject.sets for pair in one.pairs)
        return "", min((pair.older.text + pair.newer.text for pair in pairs), key=len)

    def apart(self, subject: Gate, clock: str, today: date) -> tuple[str, ...]:
        """Other pairs, other sets, other numbers of samples."""
        why = []
        if subject.fixtures == "own":
            why.append("The pairs are our own; --fixtures upstream takes the published ones.")
        left_out = [name for name in SETS if name not in subject.kinds]
        if left_out:
            why.append(f"Not asked: {', '.join(left_out)}.")
        return tuple(why)
