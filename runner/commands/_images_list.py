"""Images as a table."""

from collections import Counter
from collections.abc import Sequence

from runner.images import Listed, State
from runner.reports.cells import figure, sheet, text, whole, words
from runner.reports.sheet import Cell, Sheet


def image_sheet(rows: Sequence[Listed], *, every: bool) -> Sheet:
    """The images, a line each.

    Args:
        rows: all that there are.
        every: each of them; else old ones are only counted, beside the first of their name.
    """
    columns = [text("image"), text("holds"), text("digest"), figure("size", "bytes")]
    columns += [text("state"), figure("old"), text("share", "redistributable")]
    old = Counter(row.name for row in rows if row.state is State.OLD)
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        count = 0 if every else old.pop(row.name, 0)
        counted = whole(count) if count else Cell("")
        if row.state is State.OLD and not every:
            if count:
                lines.append((words(row.name), *(Cell("") for _ in "1234"), counted, Cell("")))
        elif every or row.default or row.held is not None:
            lines.append((*_cells(row), counted, _share(row)))
    return sheet("images", "Images", columns, lines)


def _cells(row: Listed) -> tuple[Cell, ...]:
    held = row.held
    return (
        words(row.name),
        words(" + ".join(filter(None, (row.version, row.model)))),
        Cell(held.id[7:19], value=held.id) if held else Cell(""),
        Cell(f"{held.bytes / 1e6:,.0f} MB", value=held.bytes) if held else Cell(""),
        words(row.state),
    )


def _share(row: Listed) -> Cell:
    return Cell("no", value=False) if row.restriction else Cell("yes", value=True)
