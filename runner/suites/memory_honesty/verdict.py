"""What a verdict of the memory honesty suite says. There is no single score in it."""

from runner.model import Noun, Outcome
from runner.suites.memory_honesty.repeats import Repeats
from runner.suites.memory_honesty.result import Result


class Timing(Noun):
    """How long it took, as the bench's own clock saw it: a step's way there and back included.

    Steps are timed to the millisecond, so that much is the finest a figure can tell.
    """

    index_s: float
    """Until all pages were taken."""
    p50_ms: float
    """Half of the answers took no longer."""
    p99_ms: float
    """99 of 100 took no longer."""


class RunScore(Noun):
    """One run that came to its end."""

    run: str
    index: int
    result: Result
    timing: Timing


class HonestyVerdict(Noun):
    """What the runs of one set come to."""

    set: str
    held_out: bool
    sealed: bool
    """Whether the report leaves out what was answered to each question."""
    planned: int
    outcomes: dict[Outcome, int]
    """Runs by how they ended; only what occurred."""
    reasons: dict[str, int]
    """What brought about the endings without a verdict, such as ``degraded`` or ``deadline``: a
    search that failed is no refusal, and its run counts nowhere."""
    runs: tuple[RunScore, ...]
    """Those that were graded, by their number."""
    repeats: Repeats | None
    """None for fewer than two graded runs."""
    warnings: tuple[str, ...] = ()
    """Of all graded runs, each once."""

    @property
    def counted(self) -> int:
        """Runs that were graded."""
        return len(self.runs)

    @property
    def uncounted(self) -> int:
        """Runs without a verdict: incomplete, invalid, errored."""
        return sum(self.outcomes.values()) - self.counted

    @property
    def missing(self) -> int:
        """Planned runs of which there is no record."""
        return self.planned - sum(self.outcomes.values())

    def as_of(self, other: "HonestyVerdict") -> "HonestyVerdict":
        """The same, without what was not told yet when another was made."""
        if self.repeats is None or other.repeats is None or other.repeats.moved is not None:
            return self
        before = self.repeats.model_copy(update={"moved": None})
        return self.model_copy(update={"repeats": before})

    @property
    def result(self) -> Result | None:
        """Of the first graded run; none where there is none."""
        return self.runs[0].result if self.runs else None
