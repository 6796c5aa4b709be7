"""What an update-gate report comes to, as tables that fit eighty columns."""

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runner.plain import plain
from runner.stats import rate
from runner.suites.update_gate import RULES, GateVerdict, Paired, SetScore

_SAID = {True: "met", False: "not met", None: "none"}
_STYLE = {True: "green", False: "red", None: "yellow"}
_HELD = {True: "holds", False: "broken", None: "not told"}


def sets(verdict: GateVerdict) -> tuple[RenderableType, ...]:
    """Every set under every rule, the rows that are reported only, and rules against each other."""
    parts: list[RenderableType] = [_rules(verdict)]
    for lines in (_regressions(verdict), _reported(verdict), _tests(verdict)):
        told = list(lines)
        if told:
            parts += [Text(), *(Text(plain(line)) for line in told)]
    return tuple(parts)


def _rules(verdict: GateVerdict) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("set", overflow="fold")
    table.add_column("rule", no_wrap=True)
    table.add_column("updates retired", no_wrap=True)
    table.add_column("control samples", no_wrap=True)
    table.add_column("bar", no_wrap=True)
    for one in verdict.sets:
        for tally in one.rules:
            first = tally.rule == RULES[0]
            table.add_row(
                Text(_named(one) if first else ""),
                tally.rule,
                rate(tally.positives_retired, tally.positives),
                rate(tally.control_retirements, tally.control_samples)
                if tally.control_samples
                else "none counted",
                Text(_SAID[tally.met], _STYLE[tally.met]) if first else "",
            )
    return table


def _named(one: SetScore) -> str:
    asked = "" if one.counted == one.planned else f", {one.counted} of {one.planned} samples"
    return f"{one.title}{asked}"


def _regressions(verdict: GateVerdict) -> Iterator[str]:
    told = [f"{one.name} {_HELD[one.regression]}" for one in verdict.sets]
    yield f"regression (no control retired that before-1.187 keeps): {', '.join(told)}"
    for one in verdict.sets:
        if one.added:
            yield f"  {one.name}: production alone retires {', '.join(one.added)}"
        for tally in one.rules[:1]:
            if tally.missed:
                yield f"  {one.name}: updates missed: {', '.join(tally.missed)}"
            if tally.control_rows:
                yield f"  {one.name}: controls retired: {', '.join(tally.control_rows)}"


def _reported(verdict: GateVerdict) -> Iterator[str]:
    """Rows that are never barred and that some rule retired; others are counted."""
    rows = [(one, id_, row) for one in verdict.sets for id_, row in one.reported.items()]
    if not rows:
        return
    yield f"never barred; samples that retire it under {', '.join(RULES)}:"
    for one, id_, row in rows:
        if any(row.retirements.values()):
            counts = ", ".join(str(row.retirements[rule]) for rule in RULES)
            yield f"  {one.name} {id_} ({row.class_}, {row.expected}): {counts} of {row.of}"
    quiet = sum(not any(row.retirements.values()) for _, _, row in rows)
    if quiet:
        yield f"  {quiet} more that no rule retires"


def _tests(verdict: GateVerdict) -> Iterator[str]:
    for test in verdict.paired:
        yield _paired(test)


def _paired(test: Paired) -> str:
    return (
        f"{test.rule} v {test.other}: right alone in {test.only_rule_right} and"
        f" {test.only_other_right} samples, exact p = {test.p_value:.3g}"
    )
