"""Colours that are names until a page gives them a value.

A figure is drawn in colours that nobody would choose, a number each; they are replaced by the
page's own properties when it is written, so that dark and light are a matter of the style sheet. A
colour that is none of these is a mistake and stops the drawing.

The series are those of Okabe and Ito, which people with any kind of colour blindness tell apart, in
an order in which neighbours differ in lightness too. Nothing is told by colour alone: series differ
in dash and marker, and are named where they end.
"""

from collections.abc import Mapping

INK = "#000001"
MUTED = "#000002"
GRID = "#000003"
PAPER = "#000004"

SERIES_COUNT = 8
_FALLBACKS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8a8a8a",
    "#b8a900",
)
_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2), (3, 1.5))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def series(number: int) -> str:
    """The colour of the series of that number, from 0; the ninth is the first again."""
    return f"#0001{number % SERIES_COUNT:02x}"


def dash(number: int) -> tuple[float, tuple[float, ...]] | str:
    """How the line of a series is broken."""
    pattern = _DASHES[number % len(_DASHES)]
    return (0, pattern) if pattern else "-"


def marker(number: int) -> str:
    """What stands at the points of a series."""
    return _MARKERS[number % len(_MARKERS)]


PAINTS: Mapping[str, str] = {
    INK: "currentColor",
    MUTED: "var(--figure-muted, #6b6b6b)",
    GRID: "var(--figure-grid, #c8c8c8)",
    PAPER: "var(--figure-paper, Canvas)",
    **{series(n): f"var(--series-{n + 1}, {colour})" for n, colour in enumerate(_FALLBACKS)},
}
"""What a page is told for each colour: a property of its style sheet, with a value for where the
style sheet gives none."""
