"""The memory honesty suite, as runs and reports take it."""

from collections.abc import Mapping, Sequence
from datetime import date

from runner.errors import UsageError
from runner.model import CheckResult, Ending, Observation, RunRecord, Step
from runner.suites.memory_honesty.checks import check, ending
from runner.suites.memory_honesty.exam import SUITE, TOP_K, Exam
from runner.suites.memory_honesty.load import load_exam
from runner.suites.memory_honesty.observations import observe
from runner.suites.memory_honesty.protocol import ASK, INDEX, steps
from runner.suites.memory_honesty.score import score
from runner.suites.memory_honesty.verdict import HonestyVerdict
from runner.suites.suite import Material, Suite


class MemoryHonesty(Suite[Exam, HonestyVerdict]):
    """Does a memory cite the right page, follow a correction, and refuse what it does not hold?"""

    name = SUITE
    title = "Memory honesty"
    verbs = (INDEX, ASK)
    asks_a_model = False
    published_system = None

    def kinds(self, subject: Exam) -> tuple[str, ...]:
        """The set that is asked; a run asks all of it."""
        return subject.kinds

    def steps(self, subject: Exam, kind: str, index: int) -> tuple[Step, ...]:
        """All pages, then a question a step."""
        return steps(subject, kind, index)

    def check(self, subject: Exam, kind: str, material: Material) -> tuple[CheckResult, ...]:
        """The one version there is."""
        return (check(subject, kind, material.steps),)

    def observe(self, subject: Exam, kind: str, material: Material) -> tuple[Observation, ...]:
        """What became of each question; nothing of a held-out set."""
        return observe(subject, kind, material.steps)

    def ending(self, results: Sequence[CheckResult], version: int) -> Ending:
        """How a run that came to its end turned out."""
        return ending(next(result for result in results if result.version == version))

    def score(
        self, subject: Exam, runs: Sequence[RunRecord], version: int, planned: Mapping[str, int]
    ) -> HonestyVerdict:
        """Metrics with their intervals, of each run that came to its end."""
        return score(subject, runs, planned)

    def digests(self, subject: Exam) -> Mapping[str, str]:
        """The vault as the system is given it, and the questions."""
        vault = f"honesty/{subject.vault}"
        return {
            vault if subject.marker == "front-matter" else f"{vault} ({subject.marker})": (
                subject.vault_sha256
            ),
            f"honesty/{subject.set}.jsonl": subject.set_sha256,
        }

    def known(self, subject: Exam) -> Exam | None:
        """The project's own exam of that set, in the form of the other."""
        try:
            own = load_exam(
                subject.set,
                marker=subject.marker,
                top_k=subject.top_k,
                depth=subject.depth,
                told=subject.told,
                seed=subject.seed,
            )
        except UsageError:
            return None  # a set of another bench
        return own if subject.questions else own.public()

    def closed(self, subject: Exam) -> Exam | None:
        """Without its questions, where the set is held out."""
        return subject.public() if subject.held_out else None

    def first_words(self, subject: Exam) -> tuple[str, str]:
        """The shortest question: any may be the first. None where a report leaves them out."""
        return "", min((question.q for question in subject.questions), key=len, default="")

    def apart(self, subject: Exam, clock: str, today: date) -> tuple[str, ...]:
        """Other vaults and questions than the published ones; other ways to ask."""
        why = ["The vaults and the questions are our own; the published ones cannot be had."]
        if subject.marker != "front-matter":
            why.append(f"Replaced pages say so otherwise: by {subject.marker}.")
        if subject.top_k != TOP_K:
            why.append(f"{subject.top_k} pages may be cited, not {TOP_K}.")
        if subject.depth is not None:
            why.append(
                f"{subject.depth} pages were asked for, of which the first {subject.top_k} count."
            )
        if subject.told:
            why.append("The system was told the right pages.")
        return tuple(why)
