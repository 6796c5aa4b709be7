"""Every table of a whole report of every suite, on terminals of eighty columns and of forty."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from runner.reports.files import load
from runner.reports.formats import Shown
from runner.reports.schema import Report
from runner.reports.sheet import Sheet
from runner.reports.sheets import sheets_of
from runner.reports.terminal import render
from tests.archive import _made
from tests.reports._printed import printed
from tests.reports.conftest import produced

pytestmark = pytest.mark.slow

MADE: dict[str, Callable[[Path], Report]] = {
    "trip": lambda folder: produced(folder / "boxes", folder / "trip.json"),
    "mid-trip": lambda folder: produced(folder / "boxes", folder / "trip.json", "mid-trip"),
    "update-gate": lambda folder: load(_made.gate(folder).path),
    "dev": lambda folder: load(_made.honesty(folder).path),
    "dev, three times": lambda folder: load(_made.honesty(folder, runs=3).path),
    "held out": lambda folder: load(_made.honesty(folder, "heldout").path),
    "learning": lambda folder: load(_made.learning(folder).path),
}
"""What a user may have made, but for the containers."""


def figures(sheet: Sheet) -> Iterator[str]:
    """What must stand in one piece: cells of figures, and each figure in what rounds a value."""
    for row in sheet.rows:
        for column, cell in zip(sheet.columns, row, strict=True):
            if column.numeric and cell.text:
                yield cell.text
            elif cell.value is not None:
                yield from (word for word in cell.text.split() if any(map(str.isdigit, word)))


@pytest.mark.parametrize("what", MADE)
def test_tables_fit_and_no_figure_is_cut(what: str, tmp_path: Path) -> None:
    report = MADE[what](tmp_path)
    sheets = sheets_of(report)
    assert {"runs", "outcomes", "summary"} < {one.name for one in sheets}
    for width in (40, 80):
        for sheet in sheets:
            lines = printed(Shown(sheet), width=width)
            assert max(map(cell_len, lines)) <= width, sheet.name
            assert not any("…" in line for line in lines), sheet.name
            # A line a cell goes on below where it has no room, which a column of a table does not.
            whole = (*lines, " ".join(" ".join(lines).split()))
            for figure in figures(sheet):
                assert any(figure in line for line in whole), (sheet.name, figure, lines)
        assert max(map(cell_len, printed(render(report), width=width))) <= width
