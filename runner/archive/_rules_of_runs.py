"""Rules about runs and what was asked: all of it, as everybody is asked, and nothing left out."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from runner.archive._rules import Beside, Broken
from runner.archive.verify import Sheet, State
from runner.model import RunRecord
from runner.paths import fixtures
from runner.reports.rescore import JUDGED
from runner.reports.schema import Report
from runner.suites.honesty_learning import LESSON_KINDS, Lesson
from runner.suites.memory_honesty import TOP_K, Exam
from runner.suites.registry import AnySubject, suite_of
from runner.suites.suite import Suite
from runner.suites.trip_vs_move import Case
from runner.suites.trip_vs_move.score import BAR as RUNS
from runner.suites.update_gate import BAR as SAMPLES
from runner.suites.update_gate import SETS, Gate

REGISTER = "REGISTER.md"


# ---------------------------------------------------------------- the runs


def counts(report: Report, _sheet: Sheet) -> str:
    """The protocol's own number of runs, sets and samples, and all of them made."""
    planned: dict[str, int] = {}
    for item in report.planned:
        planned[item.kind] = planned.get(item.kind, 0) + 1
    wanted = _wanted(report.case)
    if isinstance(report.case, Exam):
        _whole_set(report.case)
        wanted = {report.case.set: max(1, planned.get(report.case.set, 0))}
    if planned != wanted:
        raise Broken(
            f"Planned were {_listed(planned)}; the protocol has {_listed(wanted)}.",
            "Run all of it: the command without a number of runs, sets or samples.",
        )
    if report.missing:
        names = ", ".join(item.id for item in report.missing[:3])
        raise Broken(
            f"{len(report.missing)} of {len(report.planned)} runs were not made: {names}.",
            "Finish the report with --resume.",
        )
    return f"{_listed(wanted)}, all made."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"


def _wanted(subject: AnySubject) -> dict[str, int]:
    match subject:
        case Case():
            return dict(RUNS)
        case Gate():
            return dict.fromkeys(SETS, SAMPLES)
        case Lesson():
            return dict.fromkeys(LESSON_KINDS, 1)
        case Exam():
            return {subject.set: 1}


def _whole_set(exam: Exam) -> None:
    suite: Suite[Any, Any] = suite_of(exam)
    known = suite.known(exam)
    if known is None or known.set_sha256 != exam.set_sha256:
        raise Broken(
            f"{exam.set} is not a set that is registered here.",
            "Ask a registered set, all of it: `bench honesty --set SET`.",
        )


def verdicts(report: Report, _sheet: Sheet) -> str:
    """Every planned run in the report, also those without a verdict."""
    open_ = [run for run in report.runs if run.ending.outcome not in JUDGED]
    if report.missing:
        raise Broken(
            f"{len(report.missing)} planned runs are nowhere in the report.",
            "Finish it with --resume: a run without a record may be one that failed.",
        )
    if not report.runs or len(open_) == len(report.runs):
        raise Broken("No run came to a verdict.", "Find out why, and run it again.")
    if open_:
        told = ", ".join(f"{run.spec.id} ({run.ending.kind})" for run in open_[:3])
        return f"{len(open_)} of {len(report.runs)} without a verdict, and told of: {told}."
    return f"{len(report.runs)} of {len(report.runs)} runs have one."


def ceilings(report: Report, _sheet: Sheet) -> str:
    """No call refused or cut short for want of money."""
    for run in report.runs:
        if run.ending.kind == "ceiling":
            raise Broken(
                f"{run.spec.id} ended at its ceiling.",
                "Run it again with a higher --max-usd, or none.",
            )
        for call in run.calls:
            if call.error == "ceiling" or "lowered" in call.flags:
                raise Broken(
                    f"Call {call.seq} of {run.spec.id} was refused or cut short by the ceiling.",
                    "Run it again with a higher --max-usd, or none.",
                )
    return "No call was refused or cut short."


# ---------------------------------------------------------------- what was asked


def top_k(report: Report, _sheet: Sheet) -> str:
    """As many pages as everywhere."""
    if not isinstance(report.case, Exam | Lesson):
        raise Beside("No pages are cited here.")
    if report.case.top_k != TOP_K:
        raise Broken(
            f"{report.case.top_k} pages may be cited here, {TOP_K} everywhere else.",
            f"Run it again with --top-k {TOP_K}, the default.",
        )
    return f"{TOP_K} pages, as everywhere."


def revealed(report: Report, _sheet: Sheet) -> str:
    """No reveal of a held-out set for the system, after it was registered."""
    exam = report.case
    if not isinstance(exam, Exam) or not exam.held_out:
        raise Beside("Nothing of it is held out.")
    system, others = report.system.name, []
    for day, what in _log(exam.set):
        kind, _, whose = what.partition(": ")
        if kind not in ("revealed", "burned") or day < exam.registered:
            continue
        if whose == system or whose.startswith(f"{system} "):
            raise Broken(
                f"The register says {day}: {exam.set} {what}.",
                "Use a held-out set that nobody saw, with a claim of its own.",
            )
        others.append(whose)
    told = f" It was shown for {', '.join(dict.fromkeys(others))}." if others else ""
    return f"The register has no reveal of {exam.set} for {system}.{told}"


def _log(name: str) -> Iterator[tuple[date, str]]:
    """What the register tells of a set, with the day."""
    path = fixtures() / "honesty" / REGISTER
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Broken(
            f"The register cannot be read at {path}: {error.strerror or error}.",
            "Check the result where the register lies.",
        ) from error
    for line in lines:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) < 5 or name not in re.split(r",\s*", cells[2]):
            continue
        try:
            yield date.fromisoformat(cells[1]), cells[3].replace("\\|", "|")
        except ValueError:
            continue  # the head of a table


def answers(report: Report, sheet: Sheet) -> str:
    """What a verdict comes from, in the report or sealed beside it."""
    if suite_of(report.case).closed(report.case) is not None:
        states = {line.id: line.state for line in sheet.lines}
        if states.get("sealed") is not State.HOLDS:
            raise Broken(
                "The set is held out, and its sealed answers are not there or not its own.",
                "Hand in the archive, or the report with its .sealed.gz beside it.",
            )
        return "Sealed: aggregates in the report, answers in the file beside it."
    judged = [run for run in report.runs if run.ending.outcome in JUDGED]
    bare = [run.spec.id for run in judged if not _raw(report.case, run)]
    if bare or not judged:
        raise Broken(
            f"There is nothing in {', '.join(bare[:3]) or 'it'} that a verdict comes from.",
            "Hand in the report as it was written.",
        )
    return "Every answer, row and event is in the report."


def _raw(subject: AnySubject, run: RunRecord) -> bool:
    """Whether a run holds what its verdict comes from."""
    if isinstance(subject, Case):
        return bool(run.snapshots)
    return any(step.result for step in run.steps)
