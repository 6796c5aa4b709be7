"""Cells of sheets: words, counts, rates with their exact interval, money."""

from collections.abc import Sequence
from decimal import Decimal

from pydantic import JsonValue

from runner.model import Outcome
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.stats import exact_interval
from runner.stats import rate as told

NOTHING = Cell("·")
"""Where there is no figure."""
TONES = {
    Outcome.PASSED: Tone.GOOD,
    Outcome.FAILED: Tone.BAD,
    Outcome.INCOMPLETE: Tone.UNSURE,
    Outcome.INVALID: Tone.INVALID,
    Outcome.ERRORED: Tone.ERRORED,
}
MET = {
    True: Cell("met", Tone.GOOD, True),
    False: Cell("not met", Tone.BAD, False),
    None: Cell("none", Tone.UNSURE),
}
"""Whether a bar is met."""


def words(text: str, tone: Tone = Tone.PLAIN) -> Cell:
    """Text, which may be a stranger's."""
    return Cell(text, tone)


def outcome(one: Outcome) -> Cell:
    """How a run ended."""
    return Cell(one.value, TONES[one])


def whole(number: int) -> Cell:
    """A count."""
    return Cell(str(number), value=number)


def number(value: float | None, form: str) -> Cell:
    """A figure in a form of Python's, such as ``.1f``; nothing where there is none."""
    return NOTHING if value is None else Cell(format(value, form), value=value)


def dollars(amount: Decimal) -> str:
    """US dollars with four digits: a call costs less than a cent."""
    return f"{amount:.4f}"


def money(amount: Decimal) -> Cell:
    """US dollars."""
    return Cell(dollars(amount), value=float(amount))


def figures(hits: int, of: int) -> dict[str, JsonValue]:
    """A rate for programs, with its exact 95% interval; null where it is of nothing."""
    if of == 0:
        return {"hits": hits, "of": of, "rate": None, "low": None, "high": None}
    low, high = exact_interval(hits, of)
    return {"hits": hits, "of": of, "rate": hits / of, "low": low, "high": high}


def rate(hits: int, of: int) -> Cell:
    """A rate with its exact interval: ``3 of 3 [29–100%]``."""
    return Cell(told(hits, of), value=figures(hits, of))


def count(hits: int, of: int) -> Cell:
    """So many of so many, as short as can be; a program is given the interval too."""
    return Cell(f"{hits}/{of}", value=figures(hits, of))


def short_rate(hits: int, of: int) -> Cell:
    """A count with its exact interval in percent: ``46/80 [46–69]``."""
    if of == 0:
        return count(hits, of)
    return Cell(f"{hits}/{of} {interval(hits, of)}", value=figures(hits, of))


def percent_rate(hits: int, of: int) -> Cell:
    """A share with its exact interval, all in percent: ``58 [46–69]``."""
    if of == 0:
        return Cell("none", value=figures(hits, of))
    return Cell(f"{100 * hits / of:.0f} {interval(hits, of)}", value=figures(hits, of))


def interval(hits: int, of: int) -> str:
    """The exact interval of a rate, in percent."""
    low, high = exact_interval(hits, of)
    return f"[{100 * low:.0f}–{100 * high:.0f}]"


def sheet(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    notes: Sequence[str] = (),
) -> Sheet:
    """A sheet of whatever sequences."""
    return Sheet(name, title, tuple(columns), tuple(map(tuple, rows)), tuple(notes))


def text(name: str, key: str = "") -> Column:
    """A column of words."""
    return Column(name, key=key)


def figure(name: str, key: str = "") -> Column:
    """A column of figures."""
    return Column(name, numeric=True, key=key)
