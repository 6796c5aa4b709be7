"""Trip versus move, as runs and reports take it."""

from collections.abc import Mapping, Sequence
from datetime import date

from runner.errors import UsageError
from runner.model import CheckResult, Ending, Observation, RunRecord, Step
from runner.suites.suite import Material, Suite
from runner.suites.trip_vs_move.case import Case, load_case
from runner.suites.trip_vs_move.checks import check_all, ending
from runner.suites.trip_vs_move.observations import observe
from runner.suites.trip_vs_move.protocol import KINDS, RECALL, steps
from runner.suites.trip_vs_move.read_out import read_out
from runner.suites.trip_vs_move.score import Verdict, comparable, score


class TripVsMove(Suite[Case, Verdict]):
    """Does a memory tell a trip from a move?"""

    name = "trip-vs-move"
    title = "Trip versus move"
    verbs = ("deposit", "consolidate", "snapshot")
    verbs_where_answered = (RECALL,)

    def kinds(self, subject: Case) -> tuple[str, ...]:
        """With the move, and without."""
        return KINDS

    def steps(self, subject: Case, kind: str, index: int) -> tuple[Step, ...]:
        """The notes, each on its day, consolidation, and questions after each; every run of a kind
        is the same."""
        return steps(subject, kind)

    def check(self, subject: Case, kind: str, material: Material) -> tuple[CheckResult, ...]:
        """A result for every version that is defined for the case."""
        return check_all(subject, kind, material.stores)

    def observe(self, subject: Case, kind: str, material: Material) -> tuple[Observation, ...]:
        """End dates, dinner requests and the like, and what came first of what was asked."""
        return (
            *observe(subject, kind, material.stores),
            *read_out(subject, material.steps),
        )

    def ending(self, results: Sequence[CheckResult], version: int) -> Ending:
        """How a run that came to its end turned out."""
        return ending(results, version)

    def score(
        self, subject: Case, runs: Sequence[RunRecord], version: int, planned: Mapping[str, int]
    ) -> Verdict:
        """Tallies and the bar."""
        return score(subject, runs, version, planned=planned)

    def digests(self, subject: Case) -> Mapping[str, str]:
        """The case file and its notes."""
        return {
            f"cases/{subject.name}.toml": subject.sha256,
            **{f"notes/{note.name}": note.sha256 for note in subject.notes},
        }

    def known(self, subject: Case) -> Case | None:
        """The case or variant of that name, with the subject's notes where they are not its own."""
        try:
            known = load_case(subject.name, subject.variant)
        except UsageError:
            return None  # a case of another bench
        if subject.fixtures == "own":
            return known
        return known.with_notes({note.name: note.text for note in subject.notes}, subject.fixtures)

    def first_words(self, subject: Case) -> tuple[str, str]:
        """The first note: its extraction is the first call."""
        return subject.notes[0].name, subject.notes[0].text

    def apart(self, subject: Case, clock: str, today: date) -> tuple[str, ...]:
        """Days on which the case is another test than the published one, and other people."""
        why = []
        off_day = comparable(subject, clock, today)
        if off_day is not None:
            why.append(off_day)
        if subject.variant is not None:
            why.append(f"The people, places and days are those of the variant {subject.variant}.")
        elif subject.fixtures == "own":
            why.append("The notes are worded anew; --fixtures upstream takes the published bytes.")
        if clock == "note" and subject.end_date_counts:
            why.append(
                "Notes are read on their own days, so the trip's end date is stored;"
                " the published runs read them later and stored none."
            )
        return tuple(why)
