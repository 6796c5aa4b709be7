"""One system's answers to one set, as they were given, or under rules that any can be given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner.errors import UsageError
from runner.reports.schema import Report
from runner.suites.memory_honesty import (
    Answer,
    Exam,
    HonestyVerdict,
    Result,
    Timing,
    answers,
    floor,
    pick_floor,
    result,
    same_coverage,
    skip_superseded,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One system's answers to one set, as they were given or under rules."""

    label: str
    exam: Exam
    answers: tuple[Answer, ...]
    """With every page that was asked for, of which the exam says how many count."""
    result: Result
    timing: Timing | None = None
    """None where nobody timed them."""
    notes: tuple[str, ...] = ()
    """What a reader has to know of the rules, a sentence each."""

    @property
    def tells_scores(self) -> bool:
        """Whether a floor can be laid: no answer comes without a score."""
        return all(answer.score is not None for answer in self.answers if answer.answered)


def row_of(report: Report) -> Row:
    """The answers of a report's first graded run.

    Raises:
        UsageError: it is no report of this suite, or no run of it came to its end.
    """
    verdict = report.verdict
    if not isinstance(report.case, Exam) or not isinstance(verdict, HonestyVerdict):
        raise UsageError(f"A report of {report.suite} holds no answers to questions.")
    if not verdict.runs:
        why = ", ".join(f"{kind} ({count})" for kind, count in verdict.reasons.items())
        raise UsageError(
            f"{report.system.name} on {report.case.set} has no run that came to its end: {why}.",
            hint="A search that failed is no refusal, so there is nothing to grade.",
        )
    first = verdict.runs[0]
    [run] = [run for run in report.runs if run.spec.id == first.run]
    given = answers(report.case, run.steps)
    return Row(report.system.name, report.case, given, first.result, first.timing)


def graded(
    label: str,
    exam: Exam,
    given: Sequence[Answer],
    timing: Timing | None = None,
    notes: tuple[str, ...] = (),
) -> Row:
    """Answers under a name of their own."""
    return Row(label, exam, tuple(given), result(exam, given), timing, notes)


def under_rules(row: Row, dev: Row | None) -> Row:
    """The same answers with replaced pages left out, and with the floor that is best on a
    development set, taken unchanged. A system that tells no scores has no floor.

    Raises:
        UsageError: there is no ``dev`` where a floor is to come from, or it is held out, or it
            tells no scores.
    """
    without = skip_superseded(row.answers, row.exam.statuses)
    notes = _emptied(row, without)
    if not row.tells_scores:
        label = f"{row.label} + rules (replaced left out; no scores, so no floor)"
        return graded(label, row.exam, without, row.timing, notes)
    if dev is None:
        raise UsageError(f"No floor for {row.label}: {row.exam.floors_from} was not answered.")
    at = pick_floor(dev.exam, skip_superseded(dev.answers, dev.exam.statuses))
    told = "no floor" if at is None else f"floor {at:.4g}"
    label = f"{row.label} + rules ({told} from {dev.exam.set})"
    return graded(label, row.exam, floor(without, at), row.timing, notes)


def _emptied(row: Row, without: Sequence[Answer]) -> tuple[str, ...]:
    """What leaving out replaced pages made refusals of, by itself."""
    emptied = sum(
        before.answered and not after.answered
        for before, after in zip(row.answers, without, strict=True)
    )
    if not emptied:
        return ()
    return (
        f"{row.label}: in {emptied} of {len(without)} answers all pages were replaced ones, of"
        f" {row.exam.wanted} asked for; with those left out they count as refusals.",
    )


def at_coverage_of(row: Row, other: Row) -> Row:
    """The same answers with the floor that leaves as many as another system answers."""
    count = other.result.metrics.answered
    at = same_coverage(row.answers, count)
    limited = graded(f"{row.label} at {count}", row.exam, floor(row.answers, at), row.timing)
    return replace(limited, label=f"{row.label} at {limited.result.metrics.answered} answered")


def title(exam: Exam) -> str:
    """A set in a line."""
    held = ", held out" if exam.held_out else ""
    counts = ", ".join(f"{count} {kind}" for kind, count in exam.counts.items())
    return f"{exam.set} ({exam.vault}{held}): {counts}"


def asked(exam: Exam) -> str:
    """How many pages were asked for, and how many of them count."""
    may = f"{exam.top_k} pages each at most"
    return may if exam.depth is None else f"{may} of {exam.depth} asked for"
