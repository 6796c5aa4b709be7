"""Cells of tables that fit eighty columns."""

from rich import box
from rich.table import Table
from rich.text import Text

from runner.plain import plain
from runner.suites.memory_honesty import Estimate


def table(first: str, *others: str) -> Table:
    """A table whose first column is words and folds, and whose others are figures."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    made.add_column(Text(plain(first)), overflow="fold")
    for name in others:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def words(text: str) -> Text:
    """Text of a stranger."""
    return Text(plain(text))


def percent(rate: float | None) -> str:
    """A share in whole percent; a word for none."""
    return "none" if rate is None else f"{100 * rate:.0f}%"


def rate(estimate: Estimate) -> str:
    """A share with its interval."""
    return f"{percent(estimate.value)} {interval(estimate)}"


def interval(estimate: Estimate) -> str:
    """Where it may well lie, in percent."""
    if estimate.low is None or estimate.high is None:
        return "[·]"
    return f"[{100 * estimate.low:.0f}–{100 * estimate.high:.0f}]"


def points(estimate: Estimate) -> str:
    """A difference of two shares, with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def signed(value: float | None) -> str:
    """A figure that may be below nothing."""
    return "·" if value is None else f"{value:+.2f}"
