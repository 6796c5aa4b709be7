"""A report's runs as moments: what lies in the repository after each, and what is said of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from runner.errors import UsageError
from runner.model import RunRecord, SnapshotRecord, StepRecord, Store
from runner.plain import plain
from runner.reports.history import _claims
from runner.reports.history._changes import changes
from runner.reports.history._words import file_name, line, paragraph, slug
from runner.reports.schema import Report
from runner.suites.registry import suite_of
from runner.suites.trip_vs_move import RECALL, Case, Note
from runner.suites.trip_vs_move.protocol import step_name

NOTES = "notes"
PREFERRED = "move"
"""The kind of run that is shown first: in it a memory has something to change its mind about."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One commit.

    Attributes:
        step: after which the store was read.
        at: what the system's clock showed, in UTC.
        files: all there are after it, by their paths.
        message: the commit's.
    """

    step: str
    at: datetime
    files: dict[str, bytes]
    message: str


@dataclass(frozen=True, slots=True)
class Life:
    """One run.

    Attributes:
        run: its id.
        branch: what its commits are on.
        moments: oldest first; none where its store was never read.
        outcome: how it ended.
    """

    run: str
    branch: str
    moments: tuple[Moment, ...]
    outcome: str


def lives(report: Report, run: str | None = None) -> tuple[Life, ...]:
    """The runs of a report in which a store was read; the one to be shown first comes first.

    Args:
        report: of a suite that reads stores.
        run: the id of one of its runs; all of them when left out.

    Raises:
        UsageError: the suite reads none, there is no such run, or its store was never read.
    """
    if "snapshot" not in suite_of(report.case).verbs:
        raise no_stores(report.suite)
    chosen = [one for one in report.runs if run is None or one.spec.id == run]
    if not chosen:
        known = ", ".join(line(one.spec.id) for one in report.runs)
        what = "no run" if run is None else f"no run {run!r}"
        raise UsageError(f"The report has {what}.", hint=f"Runs: {known or 'none'}.")
    read = [one for one in chosen if one.snapshots]
    if not read:
        which = "no run of the report" if run is None else f"the run {run}"
        raise UsageError(f"In {which} was a store read: there is no history to tell.")
    notes = report.case.notes if isinstance(report.case, Case) else ()
    names: dict[str, None] = {}
    lived = [_life(one, notes, _branch(one, names)) for one in read]
    found = [life for life in lived if life.moments]
    if not found:
        raise UsageError("No step of the report is one after which its stores were read.")
    return tuple(sorted(found, key=lambda life: not life.branch.startswith(f"runs/{PREFERRED}-")))


def no_stores(suite: str) -> UsageError:
    """Why a suite's reports have no history."""
    return UsageError(
        f"A report of {suite} has no history: what is looked at there are answers, and no store"
        " was read.",
        hint="Take a report of trip-vs-move.",
    )


def _branch(run: RunRecord, taken: dict[str, None]) -> str:
    name = f"runs/{slug(run.spec.kind) or 'run'}-{run.spec.index}"
    while name in taken:
        name += "-again"
    taken[name] = None
    return name


def _life(run: RunRecord, notes: Sequence[Note], branch: str) -> Life:
    outcome = f"{run.ending.outcome} ({line(run.ending.kind, 60)})"
    return Life(run.spec.id, branch, tuple(_moments(run, notes, outcome)), outcome)


def _moments(run: RunRecord, notes: Sequence[Note], outcome: str) -> Iterator[Moment]:
    stores = {one.step: one for one in run.snapshots}
    names = _claims.Names([one.store for one in run.snapshots])
    told = _Notes(notes)
    acted = [step for step in run.steps if step.verb != RECALL]
    before, unread, files = Store(), list[StepRecord](), dict[str, bytes]()
    for number, step in enumerate(acted, 1):
        told.give(step)
        taken = stores.get(step.name)
        if taken is None and number < len(acted):
            unread.append(step)
            continue
        after = before if taken is None else taken.store
        files = told.files | _claims.files(after, names, told.paths)
        found = changes(before, after, names)
        if taken is None:  # the run ended here
            unread.append(step)
        summary = found.summary if taken else "its store was not read"
        yield Moment(
            step.name,
            _at(step, run),
            files,
            _message(
                f"{line(step.name, 100)}: {summary}",
                [*found.sentences, *_unread(unread)],
                [
                    ("Run", line(run.spec.id)),
                    *told.fresh(),
                    *_store(taken),
                    *([("Outcome", outcome)] if number == len(acted) else []),
                ],
            ),
        )
        before, unread = after, []


class _Notes:
    """The notes as files, as far as they were handed over."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._by_step = {step_name(note.name): note for note in notes}
        self._fresh: list[Note] = []
        self.files: dict[str, bytes] = {}
        self.paths: dict[str, str] = {}
        taken: set[str] = set()
        for number, note in enumerate(notes, 1):
            name = file_name(note.name)
            while name.lower() in taken:
                name = f"{number:02}-{name}"
            taken.add(name.lower())
            self.paths[note.name] = f"{NOTES}/{name}"

    def give(self, step: StepRecord) -> None:
        note = self._by_step.get(step.name)
        if note is not None:
            self.files[self.paths[note.name]] = plain(note.text).encode()
            self._fresh.append(note)

    def fresh(self) -> list[tuple[str, str]]:
        """What was handed over since this was last asked."""
        found = [("Note", f"{self.paths[note.name]} sha256:{note.sha256}") for note in self._fresh]
        self._fresh = []
        return found


def _at(step: StepRecord, run: RunRecord) -> datetime:
    """What the system's clock showed when it had answered; noon where it does not say."""
    if step.saw is not None:
        return step.saw if step.saw.tzinfo else step.saw.replace(tzinfo=UTC)
    if step.day is not None:
        return datetime.combine(step.day, time(12), UTC)
    return run.started_at


def _unread(unread: Sequence[StepRecord]) -> Iterator[str]:
    for step in unread:
        failed = f", which failed: {line(step.error, 160)}" if step.error else ""
        yield f"The store was not read after {line(step.name, 100)}{failed}."


def _store(taken: SnapshotRecord | None) -> list[tuple[str, str]]:
    return [] if taken is None else [("Store", f"sha256:{line(taken.sha256, 80)}")]


def _message(subject: str, sentences: Sequence[str], trailers: Sequence[tuple[str, str]]) -> str:
    parts = [subject]
    if sentences:
        parts.append("\n".join(paragraph(sentence) for sentence in sentences))
    parts.append("\n".join(f"{name}: {value}" for name, value in trailers))
    return "\n\n".join(parts) + "\n"
