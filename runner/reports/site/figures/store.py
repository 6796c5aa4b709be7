"""What a store held after each step it was read at: standing, retired, restated."""

from collections.abc import Sequence

from runner.model import RunRecord, SnapshotRecord
from runner.reports.sheet import Cell, Column, Sheet
from runner.reports.site.figures._drawing import (
    PLAIN,
    SMALL,
    WIDTH,
    drawing,
    ruled,
    spread,
)
from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures._palette import dash, marker, series

_HEIGHT, _LEFT, _BOTTOM, _TOP, _LABELS = 200.0, 46.0, 44.0, 14.0, 130.0
_LINES = (("active", 2), ("retired", 1), ("restated", 0))
_FEW = 7


def counted(snapshot: SnapshotRecord) -> dict[str, int]:
    """Its claims, by line of the picture; a restatement is also active or retired."""
    claims = snapshot.store.claims
    return {
        "active": sum(claim.active for claim in claims),
        "retired": sum(not claim.active for claim in claims),
        "restated": sum(claim.restatement for claim in claims),
    }


def store(name: str, run: RunRecord) -> Figure:
    """The claims of a run's store over its steps.

    Args:
        name: of the figure.
        run: with its snapshots; of one without any the picture is empty.
    """
    title = f"The store of {run.spec.id}"
    description = (
        "For every step after which the store was read: how many claims stand, how many are"
        " retired, and how many of either the store wrote itself as dated history."
    )
    days = {step.name: step.day for step in run.steps}
    counts = [counted(snapshot) for snapshot in run.snapshots]
    most = max((max(one.values()) for one in counts), default=0) or 1
    with drawing(_HEIGHT) as page:
        width, height = WIDTH - _LEFT - _LABELS, _HEIGHT - _BOTTOM - _TOP
        axis = page.axes(_LEFT, _BOTTOM, width, height)
        axis.set_xlim(-0.5, max(1, len(counts)) - 0.5)
        axis.set_ylim(0, most)
        axis.set_yticks(sorted({0, most // 2, most}))
        axis.set_ylabel("claims")
        ruled(axis, "y")
        for line, number in _LINES:
            axis.plot(
                range(len(counts)), [one[line] for one in counts], color=series(number),
                drawstyle="steps-post", linestyle=dash(number), marker=marker(number),
                linewidth=1.8, markersize=5.5, clip_on=False,
            )  # fmt: skip
        if counts:
            ends = [_BOTTOM + height * counts[-1][line] / most for line, _ in _LINES]
            x = _LEFT + width * (len(counts) - 0.5) / len(counts)
            for (line, number), end, y in zip(
                _LINES, ends, spread(ends, 14, _BOTTOM, _HEIGHT - 8), strict=True
            ):
                page.lead([x, WIDTH - _LABELS + 4, WIDTH - _LABELS + 14], [end, y, y],
                          series(number))  # fmt: skip
                page.mark(WIDTH - _LABELS + 19, y, series(number), marker(number))
                told = f"{line}, {counts[-1][line]}"
                page.say(WIDTH - _LABELS + 28, y, told, fontsize=PLAIN)
        every = -(-len(counts) // 24) or 1
        for number, snapshot in enumerate(run.snapshots):
            x = _LEFT + width * (number + 0.5) / len(counts)
            if len(counts) <= _FEW:
                most_letters = max(5, int(width / len(counts) / 5.4))
                label = page.theirs(snapshot.step, most_letters)
                page.say(x, _BOTTOM - 14, label, ha="center", fontsize=SMALL)
                if (day := days.get(snapshot.step)) is not None:
                    page.say(x, _BOTTOM - 28, day.isoformat(), ha="center", fontsize=SMALL)
            elif number % every == 0:
                page.say(x, _BOTTOM - 14, str(number + 1), ha="center", fontsize=SMALL)
        svg = page.svg(name, title, description)
    return Figure(name, title, description, svg, _table(name, title, run.snapshots, counts))


def _table(
    name: str, title: str, snapshots: Sequence[SnapshotRecord], counts: Sequence[dict[str, int]]
) -> Sheet:
    return Sheet(
        name=f"{name}-numbers",
        title=f"{title}: the numbers",
        columns=(
            Column("#", numeric=True, key="number"),
            Column("after the step", key="step"),
            *(Column(line, numeric=True) for line, _ in _LINES),
        ),
        rows=tuple(
            (
                Cell(str(number), value=number),
                Cell(snapshot.step),
                *(Cell(str(count[line]), value=count[line]) for line, _ in _LINES),
            )
            for number, (snapshot, count) in enumerate(zip(snapshots, counts, strict=True), 1)
        ),
        notes=("A restated claim is counted as active or retired too.",),
    )
