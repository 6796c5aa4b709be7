"""What a verdict of the learning suite says. There is no single score in it."""

from runner.model import Noun, Outcome
from runner.suites.honesty_learning.pairs import AFTER, BEFORE
from runner.suites.memory_honesty import Metrics, Paired


class Learned(Noun):
    """What one night came to, in counts."""

    looked_at: int
    """Different questions of the first week."""
    asked: int
    """Those that a model was asked about."""
    declined: int
    """Those that no page answers, as the model has it."""
    learned: int
    wrong: int
    """Of the learned: not a page that answers the question, or a question to refuse."""
    unproved: int
    """Those where the model named a page and did not prove it, where a proof was needed."""
    unproved_right: int
    """Of the unproved: pages that do answer the question, which the proof kept out all the same."""
    proof: bool
    """Whether a proof was needed."""


class LessonRun(Noun):
    """One run that came to its end."""

    run: str
    kind: str
    index: int
    week1: Metrics | None
    """Of the answers before the night; none for a run without one."""
    learned: Learned | None
    """None for a run without a night."""
    week2: Metrics


class LessonVerdict(Noun):
    """What the runs of one vault come to."""

    vault: str
    planned: dict[str, int]
    """Runs, by kind."""
    outcomes: dict[Outcome, int]
    """Runs by how they ended; only what occurred."""
    reasons: dict[str, int]
    """What brought about the endings without a verdict: such a run counts nowhere."""
    runs: tuple[LessonRun, ...]
    """Those that were graded, by kind and number."""
    paired: Paired | None
    """Week 2 after the night minus before it, of the first graded run of each kind; none where one
    of them is missing."""
    warnings: tuple[str, ...] = ()

    @property
    def before(self) -> LessonRun | None:
        """The first graded run without a night; none where there is none."""
        return self._first(BEFORE)

    @property
    def after(self) -> LessonRun | None:
        """The first graded run with one; none where there is none."""
        return self._first(AFTER)

    def _first(self, kind: str) -> LessonRun | None:
        return next((run for run in self.runs if run.kind == kind), None)
