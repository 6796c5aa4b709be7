"""The page of one run: its steps, its store, its checks, its calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

import orjson
from jinja2 import Environment

from runner.model import Check, Observation, RunRecord, StepRecord
from runner.reports.cells import sheet, text, words
from runner.reports.sheet import Sheet, Tone
from runner.reports.site._calls import ROWS, call_sheet, exchanges, rest
from runner.reports.site._claims import Lives, Part, Told, evidence, lives
from runner.reports.site._env import anchor
from runner.reports.site._load import Evidence
from runner.reports.site._page import Entry
from runner.reports.site.figures import Figure, moments, store, timeline
from runner.suites.memory_honesty import Exam
from runner.suites.trip_vs_move import Case
from runner.suites.update_gate import Gate


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of the timeline."""

    step: StepRecord
    calls: int
    usd: Decimal
    total: Decimal
    result: str
    """What was answered, as JSON; empty where a page of its own tells it, or nothing was."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps of one verb on one day, one after another."""

    moments: tuple[Moment, ...]

    @property
    def calls(self) -> int:
        """Of all of them."""
        return sum(one.calls for one in self.moments)

    @property
    def errors(self) -> int:
        """How many of them ended in an error."""
        return sum(one.step.error is not None for one in self.moments)


@dataclass(frozen=True, slots=True)
class Judged:
    """One check under every version of the checks that has it."""

    check: Check
    held: tuple[bool | None, ...]
    """By version; none where a version has no such check."""
    rows: tuple[tuple[str, tuple[Told, ...]], ...]
    """What satisfied or broke it, under the versions that say the same."""


def run_page(entry: Entry, run: RunRecord, env: Environment, found: Evidence) -> str:
    """The page of a run.

    Args:
        entry: its report.
        run: as it may be shown: of a held-out set without its answers.
        env: with the site's templates.
        found: what there is beside the report.
    """
    told = lives(run)
    recorded = found.recorded.get(run.spec.id, ())
    return env.get_template("run.html").render(
        entry=entry,
        report=entry.public,
        run=run,
        timeline=_timeline(entry, run),
        figures=_figures(entry, run),
        told=told,
        statuses=_statuses(told),
        claim_links={n: f"#{life.anchor}" for n, life in enumerate(told.lives)},
        versions=tuple(result.version for result in run.checks),
        results=run.checks,
        judged=judged(run, told, _pairs(entry, run)),
        observations=[
            (_counted(one), orjson.dumps(one.value, option=orjson.OPT_INDENT_2).decode())
            for one in run.observations
        ],
        calls=call_sheet(run.calls) if run.calls else None,
        failed=[call for call in run.calls if call.outcome != "answered"],
        more=rest(run.calls),
        shown=min(ROWS, len(run.calls)),
        exchanges=tuple(exchanges(run.calls, recorded)),
        tape=found.tape,
        no_tape=found.told,
        log=found.logs.get(run.spec.id, ""),
        escapes=escape_sheet(run),
        limits=_limits(run),
        system=orjson.dumps(run.system, option=orjson.OPT_INDENT_2).decode() if run.system else "",
    )


def _timeline(entry: Entry, run: RunRecord) -> tuple[Stretch, ...]:
    # Answers of an exam stand on its report's page, question by question.
    brief = isinstance(entry.public.case, Exam)
    told = (
        Moment(
            step,
            one.calls,
            one.usd,
            one.total,
            ""
            if brief or not step.result
            else orjson.dumps(step.result, option=orjson.OPT_INDENT_2).decode(),
        )
        for step, one in zip(run.steps, moments(run), strict=True)
    )
    return tuple(Stretch(tuple(some)) for _, some in groupby(told, _together))


def _together(one: Moment) -> tuple[str, object]:
    """What steps share that are told of together: questions, one after another on one day."""
    step = one.step
    return step.verb, step.day if step.verb in _QUESTIONS else step.name


_QUESTIONS = ("ask", "recall", "probe")


def _figures(entry: Entry, run: RunRecord) -> tuple[Figure, ...]:
    """Pictures of what changes over a run's days; other suites have none."""
    if not isinstance(entry.public.case, Case) or not run.steps:
        return ()
    drawn = (timeline("timeline", run),)
    return (*drawn, store("store-size", run)) if len(run.snapshots) > 1 else drawn


def _statuses(told: Lives) -> Sheet | None:
    """Every claim's status at every snapshot; none where nothing was in the store."""
    if not told.lives:
        return None
    columns = [text("claim"), *(text(f"after {one.step}", one.step) for one in told.snapshots)]
    lines = [
        (
            words(life.claim.text),
            *(words(state or "·", Tone.PLAIN if state else Tone.FAINT) for state in life.states),
        )
        for life in told.lives
    ]
    return sheet("statuses", "Every claim at every snapshot", columns, lines)


def judged(
    run: RunRecord, told: Lives, pairs: Mapping[str, str] | None = None
) -> tuple[Judged, ...]:
    """The checks of all versions side by side.

    Args:
        run: the run.
        told: its claims, which evidence leads to.
        pairs: where pairs are told of, by their id, which is how evidence of a gate begins.
    """
    names = dict.fromkeys((check.id, check.title) for one in run.checks for check in one.checks)
    found = []
    for name in names:
        by_version = {
            one.version: check
            for one in run.checks
            for check in one.checks
            if (check.id, check.title) == name
        }
        alike: dict[tuple[str, ...], list[int]] = {}
        for version, check in by_version.items():
            alike.setdefault(check.evidence, []).append(version)
        rows = tuple(
            (
                f"v{', v'.join(map(str, some))}: {_how(by_version[some[0]])}",
                tuple(_leading(line, told, pairs or {}) for line in lines),
            )
            for lines, some in alike.items()
        )
        held = tuple(
            by_version[one.version].passed if one.version in by_version else None
            for one in run.checks
        )
        found.append(Judged(next(iter(by_version.values())), held, rows))
    return tuple(found)


def _leading(line: str, told: Lives, pairs: Mapping[str, str]) -> Told:
    id_, colon, _ = line.partition(": ")
    if colon and id_ in pairs:
        return (Part(line, pairs[id_]),)
    return evidence(line, told)


def _pairs(entry: Entry, run: RunRecord) -> dict[str, str]:
    """Where each pair of a run's set is told of."""
    case, kind = entry.public.case, run.spec.kind
    if not isinstance(case, Gate) or kind not in case.kinds:
        return {}
    return {
        pair.id: f"{entry.page}#{anchor(f'{kind} {pair.id}', 'pair')}"
        for pair in case.pair_set(kind).pairs
    }


def _counted(one: Observation) -> str:
    return f"{one.title} ({len(one.value)})" if isinstance(one.value, list) else one.title


def _how(check: Check) -> str:
    if check.evidence:
        return "satisfied by" if check.passed else "broken by"
    return "nothing speaks against it" if check.passed else "nothing satisfies it"


_RESULTS: Mapping[str, Tone] = {
    "blocked": Tone.GOOD,
    "escaped": Tone.INVALID,
    "inapplicable": Tone.FAINT,
}


def escape_sheet(run: RunRecord) -> Sheet:
    """Every way out of the sandbox that was tried from inside."""
    lines = [
        (words(one.probe), words(one.target), words(one.result, _RESULTS[one.result]),
         words(one.detail)) for one in run.escapes
    ]  # fmt: skip
    columns = list(map(text, ("way out", "target", "came to", "in words")))
    return sheet("escapes", "Ways out that were tried from inside", columns, lines)


def _limits(run: RunRecord) -> Sheet:
    lines = [
        (words(one.name), words(one.wanted), words(one.seen),
         words("enforced", Tone.GOOD) if one.enforced else words("not enforced", Tone.INVALID))
        for one in run.limits
    ]  # fmt: skip
    columns = list(map(text, ("limit", "wanted", "seen from inside", "so")))
    return sheet("limits", "Limits as seen from inside", columns, lines)


def tried(runs: Sequence[RunRecord]) -> Sheet:
    """Over all runs, how often each way out was tried, and what it came to."""
    counts: dict[str, dict[str, int]] = {}
    for run in runs:
        for one in run.escapes:
            of = counts.setdefault(one.probe, dict.fromkeys(_RESULTS, 0))
            of[one.result] += 1
    lines = [
        (
            words(probe),
            *(
                words(str(count), _RESULTS[name] if count else Tone.FAINT)
                for name, count in of.items()
            ),
        )
        for probe, of in counts.items()
    ]
    columns = list(map(text, ("way out", *_RESULTS)))
    return sheet("tried", "Ways out that were tried from inside, in all runs", columns, lines)
