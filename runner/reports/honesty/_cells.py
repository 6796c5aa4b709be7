"""Cells and columns of the honesty suite's sheets, which fit eighty columns."""

from collections.abc import Sequence

from pydantic import JsonValue

from runner.reports.cells import NOTHING, figure, sheet, text
from runner.reports.sheet import Cell, Sheet
from runner.suites.memory_honesty import Estimate


def table(
    name: str,
    title: str,
    first: tuple[str, str],
    others: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Cell]],
    notes: Sequence[str] = (),
) -> Sheet:
    """A sheet whose first column is words and whose others are figures.

    Args:
        name: as ``Sheet``.
        title: as ``Sheet``.
        first: name and key of the first column.
        others: names and keys of the others.
        rows: as ``Sheet``.
        notes: as ``Sheet``.
    """
    columns = [text(*first), *(figure(*other) for other in others)]
    return sheet(name, title, columns, rows, notes)


def percent(rate: float | None) -> str:
    """A share in whole percent; a word for none."""
    return "none" if rate is None else f"{100 * rate:.0f}%"


def share(rate: float | None) -> Cell:
    """A share in whole percent."""
    return NOTHING if rate is None else Cell(percent(rate), value=rate)


def rate(estimate: Estimate) -> Cell:
    """A share with its interval."""
    return Cell(f"{percent(estimate.value)} {interval(estimate)}", value=figures(estimate))


def figures(estimate: Estimate) -> dict[str, JsonValue]:
    """An estimate for programs."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def interval(estimate: Estimate) -> str:
    """Where it may well lie, in percent."""
    if estimate.low is None or estimate.high is None:
        return "[·]"
    return f"[{100 * estimate.low:.0f}–{100 * estimate.high:.0f}]"


def points(estimate: Estimate) -> Cell:
    """A difference of two shares in points, with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return Cell("undefined", value=figures(estimate))
    told = f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"
    return Cell(told, value=figures(estimate))


def alone(first: int, second: int) -> Cell:
    """On how many cases each of two is right where the other is not."""
    return Cell(f"{first} v {second}", value={"first": first, "second": second})


def p_value(value: float) -> Cell:
    """Of an exact test."""
    return Cell(f"{value:.3g}", value=value)


def signed(value: float | None) -> Cell:
    """A figure that may be below nothing."""
    return NOTHING if value is None else Cell(f"{value:+.2f}", value=value)
