"""What an update-gate report comes to, as tables that fit eighty columns."""

from collections.abc import Iterator

from runner.reports.cells import MET, figure, rate, sheet, text, whole, words
from runner.reports.sheet import Cell, Sheet
from runner.suites.update_gate import RULES, GateVerdict, Paired, RuleTally, SetScore

_HELD = {True: "holds", False: "broken", None: "not told"}


def gate_sheets(verdict: GateVerdict) -> tuple[Sheet, ...]:
    """Every set under every rule, the rows that are reported only, and rules against each other."""
    return (_sets(verdict), *_reported(verdict), *_tests(verdict))


def _sets(verdict: GateVerdict) -> Sheet:
    columns = [
        text("set"),
        text("rule"),
        text("updates retired", "updates"),
        text("control samples", "controls"),
        text("bar", "bar_met"),
    ]
    lines = []
    for one in verdict.sets:
        for tally in one.rules:
            first = tally.rule == RULES[0]
            lines.append(
                (
                    Cell(_named(one) if first else "", value=one.name),
                    words(tally.rule),
                    rate(tally.positives_retired, tally.positives),
                    _controls(tally),
                    MET[tally.met] if first else Cell("", value=tally.met),
                )
            )
    return sheet("sets", "Every set under every rule", columns, lines, tuple(_regressions(verdict)))


def _controls(tally: RuleTally) -> Cell:
    if tally.control_samples:
        return rate(tally.control_retirements, tally.control_samples)
    return Cell("none counted", value=rate(0, 0).value)


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


def _reported(verdict: GateVerdict) -> tuple[Sheet, ...]:
    """Rows that are never barred and that some rule retired; others are counted."""
    rows = [(one, id_, row) for one in verdict.sets for id_, row in one.reported.items()]
    if not rows:
        return ()
    lines = [
        (
            words(one.name),
            words(id_),
            Cell(
                f"{row.class_}, {row.expected}",
                value={"class": row.class_, "expected": row.expected},
            ),
            *(whole(row.retirements[rule]) for rule in RULES),
            whole(row.of),
        )
        for one, id_, row in rows
        if any(row.retirements.values())
    ]
    quiet = len(rows) - len(lines)
    columns = [
        text("never barred", "set"),
        text("row"),
        text("what", "pair"),
        *map(figure, RULES),
        figure("of"),
    ]
    title = "Never barred: samples that a rule retires"
    told = (
        f"{quiet} more that no rule retires." if lines else f"No rule retires any of the {quiet}."
    )
    notes = (told,) if quiet else ()
    return (sheet("never-barred", title, columns, lines, notes),)


def _tests(verdict: GateVerdict) -> tuple[Sheet, ...]:
    if not verdict.paired:
        return ()
    columns = [
        text("rule v another", "rules"),
        figure("right alone", "rule_right"),
        figure("other alone", "other_right"),
        figure("exact p", "p"),
    ]
    return (sheet("rules", "Rules against each other", columns, list(map(_test, verdict.paired))),)


def _test(test: Paired) -> tuple[Cell, ...]:
    return (
        words(f"{test.rule} v {test.other}"),
        whole(test.only_rule_right),
        whole(test.only_other_right),
        Cell(f"{test.p_value:.3g}", value=test.p_value),
    )
