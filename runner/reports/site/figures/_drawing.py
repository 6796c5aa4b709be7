"""What every figure is drawn on: matplotlib's objects, in units of the page, and no state.

matplotlib is imported when the first figure is made: it takes longer to load than most commands
take to run. Its settings are its defaults, whatever a user's own file of settings says, and are put
back afterwards; so figures are not to be drawn on two threads at once.
"""

import io
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from runner.reports.site.figures._inline import inline, place, shown
from runner.reports.site.figures._palette import GRID, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WIDTH = 760.0
"""Of a figure, in the units that a page scales."""
SMALL, PLAIN = 9.0, 10.0
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "figure",
    "text.parse_math": False,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": SMALL,
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "path.simplify": False,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelsize": SMALL,
    "ytick.color": MUTED,
    "ytick.labelsize": SMALL,
}
_METADATA: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}


class Drawing:
    """A canvas whose units are those of the finished figure, from its lower left corner."""

    def __init__(self, canvas: "Canvas", width: float, height: float) -> None:
        self._canvas = canvas
        self.width, self.height = width, height
        self._texts: list[str] = []

    def axes(self, left: float, bottom: float, width: float, height: float) -> "Axes":
        """A field of the canvas, with nothing in it: no frame, no ticks."""
        made = self._canvas.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )
        made.patch.set_visible(False)
        for spine in made.spines.values():
            spine.set_visible(False)
        made.set_xticks([])
        made.set_yticks([])
        return made

    def theirs(self, text: str, most: int = 40) -> str:
        """What to draw for a stranger's text, or any that may hold more than plain Latin; it is
        cut where it is wider than so many letters."""
        self._texts.append(cut(shown(text), most))
        return place(len(self._texts) - 1)

    def say(self, x: float, y: float, text: str, **how: Any) -> None:
        """Words anywhere on the canvas."""
        how = {"fontsize": PLAIN, "va": "center", **how}
        self._canvas.text(x / self.width, y / self.height, text, **how)

    def lead(self, x: Sequence[float], y: Sequence[float], color: str) -> None:
        """A thin line anywhere on the canvas, such as from a point to its label."""
        self._line(x, y, color=color, linewidth=0.7)

    def mark(self, x: float, y: float, color: str, marker: str) -> None:
        """A mark anywhere on the canvas, such as before a label."""
        self._line([x], [y], color=color, marker=marker, markersize=5.5, linestyle="none")

    def _line(self, x: Sequence[float], y: Sequence[float], **how: Any) -> None:
        from matplotlib.lines import Line2D

        self._canvas.add_artist(
            Line2D([one / self.width for one in x], [one / self.height for one in y], **how),
            clip=False,
        )

    def svg(self, name: str, title: str, description: str) -> Markup:
        """The finished figure."""
        written = io.BytesIO()
        self._canvas.savefig(written, format="svg", metadata=_METADATA)
        return inline(
            written.getvalue(), name=name, title=title, description=description, texts=self._texts
        )


@contextmanager
def drawing(height: float, width: float = WIDTH) -> Iterator[Drawing]:
    """Something to draw on.

    Args:
        height: in units of the page.
        width: the same.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        canvas = Canvas(figsize=(width / 72, height / 72))
        canvas.patch.set_visible(False)
        FigureCanvasSVG(canvas)
        yield Drawing(canvas, width, height)


def percents(
    axis: "Axes", *, along: str = "x", steps: Sequence[int] = (0, 25, 50, 75, 100)
) -> None:
    """A scale of shares, from none to all, with lines across."""
    ticks = [step / 100 for step in steps]
    labels = [f"{step}%" if step in (0, 50, 100) else "" for step in steps]
    if along == "x":
        axis.set_xlim(0, 1)
        axis.set_xticks(ticks, labels)
    else:
        axis.set_ylim(0, 1)
        axis.set_yticks(ticks, labels)
    ruled(axis, along)


def ruled(axis: "Axes", along: str) -> None:
    """Lines across a field at the ticks of one axis, which get no strokes of their own."""
    one: Literal["x", "y"] = "x" if along == "x" else "y"
    axis.tick_params(axis=one, length=0, pad=4)
    axis.grid(visible=True, axis=one, color=GRID, linewidth=0.6, clip_on=False)
    axis.set_axisbelow(True)


def wide(text: str) -> int:
    """How many Latin letters wide a text is, about."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, most: int) -> str:
    """A text that is no wider than so many letters."""
    if wide(text) <= most:
        return text
    while wide(text) >= most:
        text = text[:-1]
    return f"{text}…"


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels as near as may be to where they belong, none nearer to another than
    ``gap``, between two bounds as far as there is room."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    made = [0.0] * len(places)
    floor = low
    for index in order:
        made[index] = floor = max(places[index], floor)
        floor += gap
    ceiling = high
    for index in reversed(order):
        made[index] = ceiling = min(made[index], ceiling)
        ceiling -= gap
    return made
