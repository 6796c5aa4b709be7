"""The learning suite, as runs and reports take it."""

from collections.abc import Mapping, Sequence
from datetime import date

from runner.errors import UsageError
from runner.model import CheckResult, Ending, Observation, RunRecord, Step
from runner.suites.honesty_learning.checks import check, ending
from runner.suites.honesty_learning.load import FILE, load_lesson
from runner.suites.honesty_learning.observations import observe
from runner.suites.honesty_learning.pairs import LESSON_KINDS, SUITE, Lesson
from runner.suites.honesty_learning.protocol import LEARN, steps
from runner.suites.honesty_learning.score import score
from runner.suites.honesty_learning.verdict import LessonVerdict
from runner.suites.memory_honesty import TOP_K
from runner.suites.memory_honesty.protocol import ASK, INDEX
from runner.suites.suite import Material, Suite


class HonestyLearning(Suite[Lesson, LessonVerdict]):
    """Does what a memory learns from one week's questions help it with the next week's?"""

    name = SUITE
    title = "Honesty learning"
    verbs = (INDEX, ASK, LEARN)
    published_system = None

    def kinds(self, subject: Lesson) -> tuple[str, ...]:
        """Without a night to learn in, and with one."""
        return LESSON_KINDS

    def steps(self, subject: Lesson, kind: str, index: int) -> tuple[Step, ...]:
        """All pages, and a question a step; see ``protocol``."""
        return steps(subject, kind, index)

    def check(self, subject: Lesson, kind: str, material: Material) -> tuple[CheckResult, ...]:
        """The one version there is."""
        return (check(subject, kind, material.steps),)

    def observe(self, subject: Lesson, kind: str, material: Material) -> tuple[Observation, ...]:
        """What became of each pair, and what was learned."""
        return observe(subject, kind, material.steps)

    def ending(self, results: Sequence[CheckResult], version: int) -> Ending:
        """How a run that came to its end turned out."""
        return ending(next(result for result in results if result.version == version))

    def score(
        self, subject: Lesson, runs: Sequence[RunRecord], version: int, planned: Mapping[str, int]
    ) -> LessonVerdict:
        """Metrics of the second week before and after, and what was learned between."""
        return score(subject, runs, planned)

    def digests(self, subject: Lesson) -> Mapping[str, str]:
        """The vault as the system is given it, and the pairs."""
        return {
            f"honesty/{subject.vault}": subject.vault_sha256,
            f"honesty/{FILE}": subject.set_sha256,
        }

    def known(self, subject: Lesson) -> Lesson | None:
        """The project's own pairs of that vault."""
        try:
            return load_lesson(subject.vault, top_k=subject.top_k)
        except UsageError:
            return None  # pairs of another bench

    def first_words(self, subject: Lesson) -> tuple[str, str]:
        """The shortest question of the first week: any may be the first."""
        return "", min((pair.week1 for pair in subject.pairs), key=len)

    def apart(self, subject: Lesson, clock: str, today: date) -> tuple[str, ...]:
        """Another vault and pairs than the published ones, of one intent each."""
        why = [
            "The vaults and the pairs are our own. The published pairs are two different questions"
            " about one page; these are one intent in two wordings."
        ]
        if subject.top_k != TOP_K:
            why.append(f"{subject.top_k} pages may be cited, not {TOP_K}.")
        return tuple(why)
