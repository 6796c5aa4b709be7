"""Which check of the update gate catches which fault."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.faults import Fault
from runner.model import Outcome, RunRecord
from runner.prices import PriceList
from runner.reports.formats import markdown_text
from runner.reports.kill_matrix import MODEL, SYSTEM
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.place import Place
from runner.runs.plan import jobs
from runner.runs.pool import run_all
from runner.runs.protocol import Protocol
from runner.runs.watch import Watch
from runner.suites.update_gate import BAR, GateVerdict, load_gate, score
from runner.systems.catalog import load

CHECKS = ("updates", "controls")


@dataclass(frozen=True, slots=True)
class GateSighting:
    """How one sample of every set with a faulty model turned out."""

    fault: str
    runs: tuple[RunRecord, ...]
    """One a set."""

    @property
    def broken(self) -> frozenset[tuple[str, str]]:
        """Set and check of all that does not hold."""
        return frozenset(
            (run.spec.kind, check.id)
            for run in self.runs
            for result in run.checks
            for check in result.checks
            if not check.passed
        )

    @property
    def caught(self) -> bool:
        """Whether a check broke; a run without a verdict caught nothing."""
        return any(run.ending.outcome is Outcome.FAILED for run in self.runs)

    @property
    def verdict(self) -> GateVerdict:
        """What as many such samples as the bar asks for come to.

        A table answers what is asked, every time alike, so one sample stands for all.
        """
        runs = [
            run.model_copy(
                update={"spec": run.spec.model_copy(update={"id": f"{n} {n_th}", "index": n_th})}
            )
            for n, run in enumerate(self.runs)
            for n_th in range(1, BAR + 1)
        ]
        return score(load_gate(), runs)


def gate_protocol(fault: Fault) -> Protocol:
    """One sample of every set on a model with a fault."""
    gate = load_gate()
    return Protocol(
        case=gate,
        system=load(SYSTEM),
        arm="scripted",
        model=MODEL,
        runs=dict.fromkeys(gate.kinds, 1),
        clock=Clock("now"),
        fault=fault,
    )


def gate_sightings(
    faults: Sequence[Fault], place: Place, prices: PriceList, *, workers: int, watch: Watch
) -> tuple[GateSighting, ...]:
    """Run every fault on every set."""
    wanted = [job for fault in faults for job in jobs(gate_protocol(fault), place.images, prices)]
    found: dict[str, list[RunRecord]] = {fault.name: [] for fault in faults}

    def done(record: RunRecord) -> None:
        assert record.spec.fault is not None
        found[record.spec.fault].append(record)

    run_all(wanted, place.sandbox, workers=workers, watch=watch, keep=Keep(None), done=done)
    order = load_gate().kinds
    return tuple(
        GateSighting(name, tuple(sorted(runs, key=lambda run: order.index(run.spec.kind))))
        for name, runs in found.items()
    )


def gate_markdown(faults: Sequence[Fault], sightings: Sequence[GateSighting]) -> str:
    """The matrix as a part of a page: a row a fault, a column a set and check."""
    seen = {sighting.fault: sighting for sighting in sightings}
    sets = load_gate().sets
    columns = [(one.name, check) for one in sets for check in CHECKS]
    heads = [f"{_SHORT[name]} {check}" for name, check in columns]
    lines = [
        "## Update gate",
        "",
        "The same on the pairs of the update gate: a cross where the check broke under the",
        "production rule. Sets: development (`dev`), held-out (`held`), past values (`past`),",
        "past-value marker, held-out (`mark`). `bar` says whether three such samples of every set",
        "meet it; it forgives one missed update of a held-out set.",
        "",
        f"| fault | {' | '.join(heads)} | bar | other | caught |",
        f"|---|{':-:|' * len(heads)}---|---|---|",
    ]
    for fault in faults:
        sighting = seen[fault.name]
        cells = ["×" if column in sighting.broken else "·" for column in columns]
        lines.append(
            f"| [{fault.title}](#{_anchor(fault)}) | {' | '.join(cells)}"
            f" | {_BAR[sighting.verdict.bar_met]} | {_other(sighting)}"
            f" | {'yes' if sighting.caught else '**no**'} |"
        )
    lines += ["", *_missed(faults, seen), "### The faults of the update gate", ""]
    for fault in faults:
        lines += [f"#### {_anchor(fault)}", "", f"{fault.title}. {fault.about}", ""]
    return "\n".join(lines).rstrip() + "\n"


_SHORT = {
    "development": "dev",
    "held-out": "held",
    "past-values": "past",
    "past-marker-held-out": "mark",
}
_BAR = {True: "met", False: "not met", None: "not told"}


def _anchor(fault: Fault) -> str:
    """Some faults occur in both suites; a heading of a page may not."""
    return f"gate-{fault.name}"


def _other(sighting: GateSighting) -> str:
    kinds = {
        f"{run.ending.outcome.value}: {run.ending.kind}"
        for run in sighting.runs
        if run.ending.outcome not in (Outcome.PASSED, Outcome.FAILED)
    }
    return ", ".join(map(markdown_text, sorted(kinds))) or "·"


def _missed(faults: Sequence[Fault], seen: dict[str, GateSighting]) -> list[str]:
    blind = [fault for fault in faults if not seen[fault.name].caught]
    lines = ["### What no check of the update gate catches", ""]
    lines += [f"- **{fault.title}**. {fault.about}" for fault in blind]
    return [*lines, "" if blind else "Nothing: every fault is caught.", *([] if blind else [""])]
