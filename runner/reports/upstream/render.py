"""One of their reports, scored again, as tables that fit eighty columns. All of it plain text."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from runner.model import CheckResult, Outcome
from runner.plain import plain
from runner.reports.cells import outcome, sheet, text, words
from runner.reports.formats import Shown
from runner.reports.sheet import Cell, Sheet
from runner.reports.upstream.result import Difference, GateResult, TripResult, TripRun
from runner.stats import rate
from runner.suites.update_gate.rules import RULES

_SAVED = {True: "passed", False: "failed", None: "neither"}
_MET = {True: "met", False: "not met", None: "none"}
MAX_SHOWN = 50
"""Differences shown; the result holds all of them."""
MAX_CHARACTERS = 200
"""Of either side of a difference."""


def render(result: TripResult | GateResult) -> RenderableType:
    """The whole of it: what was saved beside what comes out, then every difference."""
    parts: list[RenderableType] = [_title(result), Text()]
    table, told = _trip(result) if isinstance(result, TripResult) else _gate(result)
    parts += [Shown(table), Text(), Shown(told, head=False)]
    parts += [Text(), _reproduced(result)]
    parts += [_difference(one) for one in result.differences[:MAX_SHOWN]]
    if (more := len(result.differences) - MAX_SHOWN) > 0:
        parts.append(_bullet(f"and {more} more"))
    if result.notes:
        parts.append(Text())
        parts += [_bullet(note) for note in result.notes]
    return Group(*parts)


def _title(result: TripResult | GateResult) -> Text:
    written = f"written by linkedparticles {result.sdk_version} on {result.run_at.date()}"
    if isinstance(result, GateResult):
        return _shown(f"Update gate: {written}\nmodel {result.model}, {result.samples} samples")
    rule = "" if result.same_slot_admits else ", --no-same-slot-admits"
    return _shown(
        f"Trip versus move, {result.case}: {written}\n"
        f"model {result.model} ({result.arm}), checks version {result.checks_version}{rule}"
    )


def sheets(result: TripResult | GateResult) -> tuple[Sheet, ...]:
    """What was saved beside what comes out, what it comes to, and every difference."""
    both = _trip(result) if isinstance(result, TripResult) else _gate(result)
    columns = [text("where"), text("what"), text("saved"), text("again"), text("why")]
    rows = [
        tuple(map(words, (one.where, one.what, one.saved, one.computed, one.why)))
        for one in result.differences
    ]
    return (*both, sheet("differences", "Differences", columns, rows, result.notes))


def _trip(result: TripResult) -> tuple[Sheet, Sheet]:
    columns = [text("run"), text("saved"), text("again"), text("checks")]
    runs = [
        (
            words(f"{run.record.spec.kind} {run.record.spec.index}"),
            words(_SAVED[run.saved]),
            outcome(run.record.ending.outcome),
            words(_checks(run, result.checks_version)),
        )
        for run in result.runs
    ]
    told = []
    for tally in result.verdict.tallies:
        rest = tally.planned - tally.counted
        without = f", {rest} without a verdict" if rest else ""
        if tally.planned:
            told.append((tally.kind, f"passed {rate(tally.passed, tally.counted)}{without}"))
    saved = f"saved: {_MET[result.saved.bar_met]}"
    met = f"{_MET[result.verdict.bar_met]}. {result.verdict.bar_note}"
    told.append(("bar", f"{saved}; here: {met}"))
    return sheet("runs", "Runs", columns, runs), _pairs(told)


def _checks(run: TripRun, version: int) -> str:
    result = next(one for one in run.record.checks if one.version == version)
    if run.record.ending.outcome not in (Outcome.PASSED, Outcome.FAILED):
        return f"{run.record.ending.kind}: {run.record.ending.detail}"
    return _sorted(result)


def _sorted(result: CheckResult) -> str:
    broken = [check.id for check in result.checks if not check.passed]
    holding = [check.id for check in result.checks if check.passed]
    told = [f"broken: {', '.join(broken)}"] if broken else []
    return "; ".join(told + ([f"hold: {', '.join(holding)}"] if holding else []))


def _gate(result: GateResult) -> tuple[Sheet, Sheet]:
    columns = [text("set"), text("rule"), text("saved"), text("again")]
    rows = []
    for one in result.sets:
        for rule in RULES:
            saved = one.saved.gates.get(rule)
            again = one.computed.gates[rule]
            rows.append(
                (
                    Cell(one.name if rule == RULES[0] else "", value=one.name),
                    words(rule),
                    words(_tally(saved) if saved else "nothing"),
                    words(_tally(again)),
                )
            )
    told = []
    for one in result.sets:
        regression = "" if one.computed.regression else "; adds controls to the rule before 1.187"
        here = ""
        if result.verdict is not None:
            score = result.verdict.set_score(one.name)
            here = f"; here: {_MET[score.bar_met]}. {score.bar_note}"
        told.append((one.name, f"saved: {_MET[one.saved.bar]}{here}{regression}"))
    for one in result.sets:
        for id_, counts in one.computed.reported.items():
            hits = ", ".join(f"{rule} {counts[rule]}" for rule in RULES)
            told.append(("never barred", f"{id_}: {hits} of {counts['of']}"))
    title = "Updates retired, and control samples retired"
    return sheet("sets", title, columns, rows), _pairs(told)


def _tally(tally: object) -> str:
    fields = ("positives_retired", "positives", "control_retirements", "control_samples")
    retired, of, wrong, samples = (getattr(tally, name) for name in fields)
    return f"{retired} of {of}, {wrong} of {samples}"


def _pairs(told: Sequence[tuple[str, str]]) -> Sheet:
    rows = [(words(name), words(result)) for name, result in told]
    return sheet("summary", "Result", [text("figure"), text("result")], rows)


def _reproduced(result: TripResult | GateResult) -> Text:
    if result.altered:
        return _shown("What it says is not what its rows come to:", "red")
    if result.differences:
        return _shown("What it says comes out again, but for what is known to differ:")
    return _shown("Everything it says comes out again.", "green")


def _difference(one: Difference) -> Padding:
    why = f" ({one.why})" if one.why else ""
    text = f"{one.where}, {one.what}: saved {_short(one.saved)}; again {_short(one.computed)}{why}"
    return Padding(_shown(f"· {text}", "" if one.why else "red"), (0, 0, 0, 2))


def _bullet(text: str) -> Padding:
    return Padding(_shown(text), (0, 0, 0, 0))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _shown(text: str, style: str = "") -> Text:
    return Text(plain(text), style=style)
