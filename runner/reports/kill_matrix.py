"""Which check catches which fault: the checks measured with models that are wrong on purpose."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.faults import Fault
from runner.model import CheckResult, Ending, Outcome, RunRecord
from runner.prices import PriceList
from runner.reports.formats import markdown_text
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.place import Place
from runner.runs.plan import jobs
from runner.runs.pool import run_all
from runner.runs.protocol import Protocol
from runner.runs.watch import Watch
from runner.suites.trip_vs_move import KINDS, MOVE, TRIP_ALONE, load_case
from runner.systems.catalog import load

CHECKS = {MOVE: ("known", "i", "ii", "iii", "iv"), TRIP_ALONE: ("a", "b")}
VERSION = 3
SYSTEM = "engine"
MODEL = "claude-sonnet-5-5"


@dataclass(frozen=True, slots=True)
class Sighting:
    """How one run with a faulty model turned out."""

    fault: str
    case: str
    kind: str
    ending: Ending
    checks: tuple[CheckResult, ...]

    @property
    def broken(self) -> frozenset[str]:
        """The checks of version 3 that do not hold."""
        return frozenset(
            check.id
            for result in self.checks
            if result.version == VERSION
            for check in result.checks
            if not check.passed
        )

    @property
    def caught(self) -> bool:
        """Whether a check broke; a run without a verdict caught nothing."""
        return self.ending.outcome is Outcome.FAILED


def sightings(
    faults: Sequence[Fault], place: Place, prices: PriceList, *, workers: int, watch: Watch
) -> tuple[Sighting, ...]:
    """Run every fault in each of its cases, with the move and without."""
    wanted = [
        job
        for fault in faults
        for case in fault.cases
        for job in jobs(protocol(fault, case), place.images, prices)
    ]
    found: list[Sighting] = []

    def done(record: RunRecord) -> None:
        assert record.spec.fault is not None
        found.append(
            Sighting(
                fault=record.spec.fault,
                case=record.spec.case,
                kind=record.spec.kind,
                ending=record.ending,
                checks=record.checks,
            )
        )

    run_all(wanted, place.sandbox, workers=workers, watch=watch, keep=Keep(None), done=done)
    return tuple(found)


def protocol(fault: Fault, case: str) -> Protocol:
    """One run of each kind on a model with a fault."""
    return Protocol(
        case=load_case(case),
        system=load(SYSTEM),
        arm="scripted",
        model=MODEL,
        runs=dict.fromkeys(KINDS, 1),
        clock=Clock("note"),
        fault=fault,
    )


def markdown(faults: Sequence[Fault], sightings: Sequence[Sighting]) -> str:
    """The matrix as a page: a row a fault, a column a check, and in each cell the cases.

    ``R`` is the reader's case, ``M`` is mid-trip; ``·`` says that the check held.
    """
    seen = {(s.fault, s.case, s.kind): s for s in sightings}
    columns = [(kind, check) for kind in KINDS for check in CHECKS[kind]]
    heads = [f"{_SHORT[kind]} {check}" for kind, check in columns]
    lines = [
        "# The kill matrix",
        "",
        "Scripted models, each wrong in one way, against every check of version 3. Made by",
        "`bench kill-matrix`; a test makes it again and compares.",
        "",
        "A cell names the cases in which the check broke: **R** the reader's, **M** mid-trip.",
        "Columns: the checks of a move run (`mv`), then those of a trip-alone run (`ta`).",
        "`other` names endings that are no verdict.",
        "",
        f"| fault | {' | '.join(heads)} | other | caught |",
        f"|---|{':-:|' * len(heads)}---|---|",
    ]
    for fault in faults:
        cells = [
            _cell([seen[fault.name, case, kind] for case in fault.cases], check)
            for kind, check in columns
        ]
        mine = [seen[fault.name, case, kind] for case in fault.cases for kind in KINDS]
        caught = any(sighting.caught for sighting in mine)
        lines.append(
            f"| [{fault.title}](#{fault.name}) | {' | '.join(cells)} | {_other(mine)}"
            f" | {'yes' if caught else '**no**'} |"
        )
    lines += ["", *_missed(faults, seen), "## The faults", ""]
    for fault in faults:
        lines += [f"### {fault.name}", "", f"{fault.title}. {fault.about}", ""]
    return "\n".join(lines).rstrip() + "\n"


_SHORT = {MOVE: "mv", TRIP_ALONE: "ta"}


def _cell(sightings: Sequence[Sighting], check: str) -> str:
    return " ".join(s.case[0].upper() for s in sightings if check in s.broken) or "·"


def _other(sightings: Sequence[Sighting]) -> str:
    kinds = {
        f"{s.ending.outcome.value}: {s.ending.kind}"
        for s in sightings
        if s.ending.outcome not in (Outcome.PASSED, Outcome.FAILED)
    }
    return ", ".join(map(markdown_text, sorted(kinds))) or "·"


def _missed(faults: Sequence[Fault], seen: dict[tuple[str, str, str], Sighting]) -> list[str]:
    """Named: what no check catches, and in which case alone."""
    lines = ["## What no check catches", ""]
    for fault in faults:
        blind = [
            case
            for case in fault.cases
            if not any(seen[fault.name, case, kind].caught for kind in KINDS)
        ]
        if blind:
            lines.append(f"- **{fault.title}** ({', '.join(blind)}). {fault.about}")
    return [*(lines if len(lines) > 2 else [*lines, "Nothing: every fault is caught."]), ""]
