"""One of their reports, scored again, as tables that fit eighty columns. All of it plain text."""

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runner.model import CheckResult, Outcome
from runner.plain import plain
from runner.reports.upstream.result import Difference, GateResult, TripResult, TripRun
from runner.stats import rate
from runner.suites.update_gate.rules import RULES

_STYLE = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.INCOMPLETE: "yellow",
    Outcome.INVALID: "magenta",
    Outcome.ERRORED: "bright_red",
}
_SAVED = {True: "passed", False: "failed", None: "neither"}
_MET = {True: "met", False: "not met", None: "none"}
MAX_SHOWN = 50
"""Differences shown; the result holds all of them."""
MAX_CHARACTERS = 200
"""Of either side of a difference."""


def render(result: TripResult | GateResult) -> RenderableType:
    """The whole of it: what was saved beside what comes out, then every difference."""
    parts: list[RenderableType] = [_title(result), Text()]
    parts += _trip(result) if isinstance(result, TripResult) else _gate(result)
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


def _trip(result: TripResult) -> list[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("run", "saved", "again"):
        table.add_column(name, no_wrap=True)
    table.add_column("checks", overflow="fold")
    for run in result.runs:
        outcome = run.record.ending.outcome
        table.add_row(
            _shown(f"{run.record.spec.kind} {run.record.spec.index}"),
            _shown(_SAVED[run.saved]),
            _shown(outcome.value, _STYLE[outcome]),
            _checks(run, result.checks_version),
        )
    tallies = _pairs()
    for tally in result.verdict.tallies:
        rest = tally.planned - tally.counted
        without = f", {rest} without a verdict" if rest else ""
        if tally.planned:
            tallies.add_row(
                tally.kind, _shown(f"passed {rate(tally.passed, tally.counted)}{without}")
            )
    saved = f"saved: {_MET[result.saved.bar_met]}"
    met = f"{_MET[result.verdict.bar_met]}. {result.verdict.bar_note}"
    tallies.add_row("bar", _shown(f"{saved}; here: {met}"))
    return [table, Text(), tallies]


def _checks(run: TripRun, version: int) -> Text:
    result = next(one for one in run.record.checks if one.version == version)
    if run.record.ending.outcome not in (Outcome.PASSED, Outcome.FAILED):
        return _shown(f"{run.record.ending.kind}: {run.record.ending.detail}")
    return _shown(_sorted(result))


def _sorted(result: CheckResult) -> str:
    broken = [check.id for check in result.checks if not check.passed]
    holding = [check.id for check in result.checks if check.passed]
    told = [f"broken: {', '.join(broken)}"] if broken else []
    return "; ".join(told + ([f"hold: {', '.join(holding)}"] if holding else []))


def _gate(result: GateResult) -> list[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("set", overflow="fold")
    table.add_column("rule", no_wrap=True)
    for name in ("saved", "again"):
        table.add_column(name, no_wrap=True)
    for one in result.sets:
        for rule in RULES:
            saved = one.saved.gates.get(rule)
            again = one.computed.gates[rule]
            table.add_row(
                _shown(one.name if rule == RULES[0] else ""),
                rule,
                _shown(_tally(saved) if saved else "nothing"),
                _shown(_tally(again)),
            )
    told = _pairs()
    for one in result.sets:
        regression = "" if one.computed.regression else "; adds controls to the rule before 1.187"
        here = ""
        if result.verdict is not None:
            score = result.verdict.set_score(one.name)
            here = f"; here: {_MET[score.bar_met]}. {score.bar_note}"
        bar = f"saved: {_MET[one.saved.bar]}{here}{regression}"
        told.add_row(_shown(one.name), _shown(bar))
    for one in result.sets:
        for id_, counts in one.computed.reported.items():
            hits = ", ".join(f"{rule} {counts[rule]}" for rule in RULES)
            told.add_row("never barred", _shown(f"{id_}: {hits} of {counts['of']}"))
    return [table, Text(), told]


def _tally(tally: object) -> str:
    fields = ("positives_retired", "positives", "control_retirements", "control_samples")
    retired, of, wrong, samples = (getattr(tally, name) for name in fields)
    return f"{retired} of {of}, {wrong} of {samples}"


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


def _pairs() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _bullet(text: str) -> Padding:
    return Padding(_shown(text), (0, 0, 0, 0))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _shown(text: str, style: str = "") -> Text:
    return Text(plain(text), style=style)
