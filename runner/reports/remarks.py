"""What a report says of its runs beside what they came to."""

from datetime import UTC, datetime

from runner.gateway.config import ANTHROPIC
from runner.images.drift import brief
from runner.published import published
from runner.reports.schema import Comparable, Report
from runner.runs.page_tables import LABEL, is_of_pages
from runner.runs.plan import tables
from runner.runs.protocol import Protocol
from runner.suites.honesty_learning import Lesson
from runner.suites.trip_vs_move import Case


def against_published(protocol: Protocol) -> Comparable:
    """Everything that sets these runs apart from the published ones."""
    case = protocol.case
    why = list(protocol.suite.apart(case, protocol.clock.mode, datetime.now(UTC).date()))
    if protocol.tape is not None or tables(protocol):
        answers = "scripted" if protocol.arm == "scripted" else "replayed from a recording"
        why.append(f"The model's answers are {answers}, so no model was measured.")
    if protocol.paid and protocol.provider.way_out.anthropic != ANTHROPIC:
        why.append(f"Calls went to {protocol.provider.way_out.anthropic}, not to {ANTHROPIC}.")
    measured = protocol.suite.published_system
    if measured is not None and protocol.system.name != measured:
        name = protocol.system.name
        why.append(f"The published runs measured {measured}; these measure {name}.")
    elif measured is not None:
        suite, version = protocol.suite.name, protocol.system.version
        of = published(suite, case.name, protocol.model)
        builds = list(dict.fromkeys(one.build for one in of if one.build))
        if builds and version not in builds:
            told = " and ".join(builds)
            why.append(f"The published runs were made with {told}; these with {version}.")
    if protocol.mixed:
        why.append("Purposes run on more than one model.")
    if protocol.fault is not None:
        why.append(f"The scripted model is made wrong on purpose: {protocol.fault.title}.")
    return Comparable(to=case.published_day.isoformat(), holds=not why, why=tuple(why))


def answered_by(report: Report) -> str:
    """Who answered a report's model calls, in a word or two."""
    made = any(is_of_pages(fixture.name) for fixture in report.fixtures)
    return f"{report.arm}: {LABEL}" if made else report.arm


def drifted(report: Report) -> tuple[str, ...]:
    """Which images held other packages than their locks when they were built, a sentence each."""
    return tuple(
        f"{image.name} held other packages than its locks: {brief(image.drift)}."
        for image in report.images
        if image.drift
    )


def notes(protocol: Protocol) -> tuple[str, ...]:
    """What a reader of any run has to know, a sentence each."""
    found = []
    asked = tables(protocol)
    if asked:
        found.append(
            "Every model answer came from a table. This proves the sandbox, the gateway and the"
            " checks, and says nothing about any model."
        )
    if any(is_of_pages(table.name) for table in asked):
        found.append(
            f"The notes of pages are scripted: {LABEL}, statement by statement. No model chose what"
            " to keep, so this shows what the memory's store and search do with a plain note."
        )
    if protocol.system.outside:
        found.append(_brought(protocol))
    if isinstance(protocol.case, Case) and "statements" in protocol.system.capabilities:
        found.append(
            f"{protocol.system.name} gives its statements no status, so each one that it still"
            " holds is read as current: unless it takes the old ones out itself, a move can only"
            " fail on the store, and the read-out is what tells."
        )
    if protocol.unasked:
        found.append(
            f"{protocol.system.name} does not answer {' or '.join(protocol.unasked)}: what would"
            " have been read out beside the checks was not asked."
        )
    if protocol.arm == "scripted" and isinstance(protocol.case, Lesson):
        found.append(
            "The scripted model knows the right pages. About a question to refuse it names the"
            " page that it sounds like, with a made-up sentence: it shows what a proof keeps out,"
            " and nothing of how often a model errs, or errs with a sentence that is there."
        )
    if protocol.tape is not None:
        found.append(
            f"Every model answer was recorded ({protocol.tape.name}); nothing was spent and no"
            " model was asked again."
        )
    if protocol.mixed:
        found.append(
            "A mixture of models: "
            + ", ".join(f"{name} on {model}" for name, model in sorted(protocol.purposes.items()))
            + "."
        )
    return tuple(found)


def _brought(protocol: Protocol) -> str:
    """Of a system that is not the bench's own: on whose word it rests what its store holds."""
    told = f"{protocol.system.name} is none of this bench's systems: it came with its own folder."
    if not isinstance(protocol.case, Case):
        return told
    return (
        f"{told} Its store was read by its own driver, in a container beside nothing but a"
        " snapshot: what is said of its claims rests on the system's word."
    )
