"""How often several systems are wrong when each answers only what it is surest of."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.reports.site.figures._drawing import SMALL, WIDTH, drawing, percents, spread
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import dash, marker, series
from runner.suites.memory_honesty import Curve, area, at_coverage

COVERAGES = tuple(tenth / 10 for tenth in range(1, 11))
"""Where marks are drawn and the table tells the rate."""
_HEIGHT, _LEFT, _BOTTOM, _TOP, _LABELS = 330.0, 46.0, 42.0, 12.0, 190.0


@dataclass(frozen=True, slots=True)
class Line:
    """One system's curve."""

    label: str
    curve: Curve
    number: int = 0
    """Of its series: the same in every figure of a page."""


def risk_coverage(
    name: str, title: str, description: str, lines: Sequence[Line], *, without: Sequence[str] = ()
) -> Figure:
    """Risk over coverage.

    Args:
        name: of the figure.
        title: the same in words.
        description: what is drawn, for who does not see it.
        lines: at least one that answered anything.
        without: systems that tell no scores, of which there is no curve; named beside the table.
    """
    drawn = [(line.number, line) for line in lines if line.curve.points]
    with drawing(_HEIGHT) as page:
        width, height = WIDTH - _LEFT - _LABELS, _HEIGHT - _BOTTOM - _TOP
        axis = page.axes(_LEFT, _BOTTOM, width, height)
        percents(axis)
        percents(axis, along="y")
        axis.set_xlabel("coverage: questions answered, the surest first")
        axis.set_ylabel("risk: wrong of answered")
        for number, line in drawn:
            points = line.curve.points
            axis.plot(
                [0.0, *(point.coverage for point in points)],
                [points[0].risk, *(point.risk for point in points)],
                drawstyle="steps-pre", color=series(number), linestyle=dash(number),
                linewidth=1.8, clip_on=False,
            )  # fmt: skip
            marks = [
                (share, point.risk)
                for share in COVERAGES
                if (point := at_coverage(line.curve, share)) is not None
            ]
            if marks:
                axis.plot(
                    *zip(*marks, strict=True), color=series(number), marker=marker(number),
                    markersize=5.5, linestyle="none", clip_on=False,
                )  # fmt: skip
        ends = [_BOTTOM + height * line.curve.points[-1].risk for _, line in drawn]
        for (number, line), end, y in zip(
            drawn, ends, spread(ends, 13, _BOTTOM, _HEIGHT - 8), strict=True
        ):
            x = _LEFT + width * line.curve.most
            page.lead([x, WIDTH - _LABELS + 4, WIDTH - _LABELS + 14], [end, y, y], series(number))
            page.mark(WIDTH - _LABELS + 19, y, series(number), marker(number))
            page.say(WIDTH - _LABELS + 28, y, page.theirs(line.label, 28), fontsize=SMALL)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, lines, without))


def _table(name: str, title: str, lines: Sequence[Line], without: Sequence[str]) -> Sheet:
    notes = [
        "How often each is wrong when it answers only that share of the questions, the surest"
        " first. Answers of one score stand or fall together, so a rate is that of the most it"
        " can answer without going beyond. Area: below the curve, as far as it reaches; two areas"
        " compare only where both reach the same coverage.",
    ]
    if without:
        notes.append(f"No scores, so no curve: {', '.join(without)}.")
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(
            Column("system"),
            *(Column(f"{share:.0%}", numeric=True, key=f"at_{share:.0%}"[:-1])
              for share in COVERAGES),
            Column("reaches", numeric=True),
            Column("area", numeric=True),
        ),
        rows=tuple(
            (
                Cell(line.label),
                *(_at(line.curve, share) for share in COVERAGES),
                Cell(f"{line.curve.most:.0%}", value=line.curve.most),
                Cell(f"{area(line.curve):.3f}", value=area(line.curve)),
            )
            for line in lines
        ),
        notes=tuple(notes),
    )  # fmt: skip


def _at(curve: Curve, share: float) -> Cell:
    point = at_coverage(curve, share)
    if point is None:
        return Cell("not told", Tone.FAINT)
    return Cell(f"{100 * point.risk:.1f}%", value=point.risk)
