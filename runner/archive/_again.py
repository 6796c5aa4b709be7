"""From a report to the protocol that makes it again, held to what this bench has."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from runner import __version__
from runner.errors import UsageError
from runner.faults import Fault, load_fault
from runner.model import RunSpec
from runner.prices import ModelPrice, PriceList, load_prices
from runner.published import digests as published_digests
from runner.reports.recording import check_tape
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.plan import specs, tables
from runner.runs.protocol import Arm, Protocol
from runner.runs.provider import Tape
from runner.suites.registry import suite_of
from runner.systems import catalog
from runner.systems.catalog import System
from runner.systems.outside import described

_SCRIPTED = "scripted/"
_PUBLISHED = ("notes/", "pairs/")
_ARMS: Mapping[str, Arm] = {"scripted": "scripted", "record": "replay", "replay": "replay"}
"""Who answers again, by who answered."""


class OtherBench(UsageError):
    """This bench is not the one that made a report, in a way that makes another result of it."""


def protocol_of(report: Report, tape: Tape | None, brought: Path | None = None) -> Protocol:
    """The protocol that a report is of, as it is run again.

    Args:
        report: whole.
        tape: its recording, where it has one.
        brought: the folder of what an archive holds of a system that is none of the bench's.

    Raises:
        OtherBench: this bench has other fixtures, scripted answers, systems or faults, or plans
            other runs.
        UsageError: what a model answered cannot be had again.
    """
    arm = _ARMS.get(report.arm)
    if arm is None:
        raise UsageError(
            f"The runs were made with --arm {report.arm}, and nothing recorded what the model"
            " answered: it cannot be had again.",
            hint="A report of --arm record, archived with its cassette, can be made again.",
        )
    if arm == "replay" and tape is None:
        raise UsageError(
            "The runs were answered by a model, and their recording is not in the archive.",
            hint="Archive the report anew, with --cassette.",
        )
    spec = report.runs[0].spec if report.runs else None
    kinds = list(dict.fromkeys(planned.kind for planned in report.planned))
    protocol = Protocol(
        case=report.case,
        system=_system(report, brought),
        arm=arm,
        model=report.model,
        runs={kind: sum(one.kind == kind for one in report.planned) for kind in kinds},
        clock=Clock(report.clock.mode),
        pins=_pins(report, spec),
        options=report.options,
        checks_version=report.checks_version,
        max_usd=report.spend.max_usd_per_run,
        ceiling=report.spend.ceiling,
        step_deadline_s=spec.step_deadline_s if spec is not None else 600.0,
        fault=_fault(spec),
        tape=tape if arm == "replay" else None,
    )
    if differing := list(_differing(report, protocol)):
        raise OtherBench(f"This bench has not what the report was made of: {'; '.join(differing)}.")
    planned = [(one.id, one.kind, one.index) for one in report.planned]
    if planned != [(one.id, one.kind, one.index) for one in specs(protocol)]:
        raise OtherBench("This bench plans other runs than the report has.")
    if arm == "replay":
        check_tape(protocol)
    return protocol


def prices_of(report: Report) -> PriceList:
    """The prices that a report's money was counted at, whatever this bench's are."""
    listed = load_prices()
    told: dict[str, ModelPrice] = {}
    for run in report.runs:
        rates: Mapping[str, Mapping[str, Decimal]] = run.gateway.prices if run.gateway else {}
        told |= {model: ModelPrice.model_validate(dict(rate)) for model, rate in rates.items()}
    if all(listed.name_of(model) and listed.resolve(model) == told[model] for model in told):
        return listed
    return listed.priced_at(told).model_copy(update={"source": "the report that is made again"})


def apart(report: Report, bench_source: str) -> str:
    """What may make another result, although fixtures and answers are the same; empty where
    nothing may.

    Args:
        report: the one that is made again.
        bench_source: the digest of the files of this bench.
    """
    if report.bench_version != __version__:
        return f"The report is of bench {report.bench_version}; this is {__version__}."
    if len(report.images) > 1 and report.images[1].source != bench_source:
        return "The report was made by a bench of other files than this one."
    return ""


def _system(report: Report, brought: Path | None) -> System:
    """
    Raises:
        OtherBench: this bench knows no such system, or not that version of it.
    """
    name, version = report.system.name, report.system.version
    try:
        if brought is not None and report.system.reader == "system":
            return catalog.archived(brought, name, version)
        return catalog.load(name, version)
    except UsageError as error:
        raise OtherBench(f"This bench cannot run {name} {version}: {error.message}") from error


def _fault(spec: RunSpec | None) -> Fault | None:
    """
    Raises:
        OtherBench: this bench has no such fault.
    """
    if spec is None or spec.fault is None:
        return None
    try:
        return load_fault(spec.fault)
    except UsageError as error:
        raise OtherBench(error.message) from error


def _pins(report: Report, spec: RunSpec | None) -> dict[str, str]:
    if spec is not None:
        return dict(spec.pins)
    return {name: model for name, model in report.purposes.items() if model != report.model}


def _differing(report: Report, protocol: Protocol) -> Iterator[str]:
    """What of a report's fixtures this bench does not have just so, each with why."""
    wanted = {fixture.name: fixture.sha256 for fixture in report.fixtures}
    own = {**_own(report), **described(protocol.system)}
    for name, digest in wanted.items():
        if name.startswith(_SCRIPTED):
            continue
        if own.get(name) is None:
            yield f"it has no {name}"
        elif own[name] != digest:
            yield f"its {name} is {own[name][:12]}, not {digest[:12]}"
    answers = _answers(protocol)
    for name in dict.fromkeys((*filter(_is_scripted, wanted), *answers)):
        mine, theirs = answers.get(name), wanted.get(name)
        if mine is None:
            yield f"it has no {name}"
        elif theirs is None:
            yield f"it would answer by {name} too"
        elif mine != theirs:
            yield f"its {name} is {mine[:12]}, not {theirs[:12]}"


def _is_scripted(name: str) -> bool:
    return name.startswith(_SCRIPTED)


def _own(report: Report) -> Mapping[str, str]:
    """Digests of the fixtures of that name as this bench has them."""
    suite, case = suite_of(report.case), report.case
    known = suite.known(case)
    found = dict(suite.digests(known)) if known is not None else {}
    if case.fixtures == "upstream":
        # Nobody keeps a copy: the publisher's own digests say whether the report's are theirs.
        theirs = set(published_digests().values())
        for name, digest in suite.digests(case).items():
            if name.startswith(_PUBLISHED):
                found[name] = digest if digest in theirs else ""
    return {name: digest for name, digest in found.items() if digest}


def _answers(protocol: Protocol) -> Mapping[str, str]:
    """Scripted tables as this bench has them, by the names a report has for them.

    Raises:
        OtherBench: it has none for the case.
    """
    try:
        return {f"{_SCRIPTED}{table.name}": table.sha256 for table in tables(protocol)}
    except UsageError as error:
        raise OtherBench(error.message) from error
