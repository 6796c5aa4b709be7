"""A sheet for a terminal, a page of Markdown, a spreadsheet, and a program.

A cell may be a stranger's words. No format lets through a character that steers what shows it
(escape sequences, direction marks): they are written as their code points, and as ``\\u`` escapes
in JSON, where they are data.
"""

import re
from collections.abc import Iterator, Mapping

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from runner.plain import plain
from runner.reports._programs import (
    NOTHING,
    csv_cell,
    csv_text,
    json_bytes,
    json_safe,
    key_of,
    keys_of,
    records,
    value_of,
)
from runner.reports.sheet import Cell, Sheet, Tone

__all__ = [
    "NOTHING",
    "STYLES",
    "Shown",
    "cell_text",
    "csv_cell",
    "csv_text",
    "json_bytes",
    "json_safe",
    "key_of",
    "keys_of",
    "line",
    "markdown",
    "markdown_rows",
    "markdown_text",
    "records",
    "rich_table",
    "value_of",
]

STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.UNSURE: "yellow",
    Tone.INVALID: "magenta",
    Tone.ERRORED: "bright_red",
    Tone.FAINT: "dim",
}


# ------------------------------------------------------------ terminal


def line(text: str) -> str:
    """A stranger's text in one line, safe for a terminal: of line breaks and tabs a space is
    left."""
    return plain(re.sub(r"[\r\n\t\v\f\x85\u2028\u2029]+", " ", text))


def cell_text(cell: Cell) -> Text:
    """A cell for a terminal: never markup, whatever it holds."""
    return Text(line(cell.text), STYLES[cell.tone])


def rich_table(
    sheet: Sheet,
    *,
    head: bool = True,
    under: Mapping[str, str] | None = None,
    tight: bool = False,
) -> Table:
    """A sheet as a table of Rich.

    Args:
        sheet: what to show; its title and notes are left to the caller.
        head: whether column names stand above the columns.
        under: keys of columns that have no column of their own but stand below another's cell, by
            the key of that.
        tight: whether columns stand closer.
    """
    below = dict(under or {})
    keys = keys_of(sheet)
    table = Table(
        box=box.SIMPLE_HEAD if head else None,
        show_header=head,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0) if tight else (0, 1),
    )
    for key, column in zip(keys, sheet.columns, strict=True):
        if key not in below:
            table.add_column(
                Text(line(column.name)),
                justify="right" if column.numeric else "left",
                no_wrap=column.numeric,
                overflow="ellipsis" if column.numeric else "fold",
            )
    for row in sheet.rows:
        cells = {key: cell_text(cell) for key, cell in zip(keys, row, strict=True)}
        for key, above in below.items():
            if cells[key].plain:
                cells[above] = Text("\n").join([cells[above], cells[key]])
        table.add_row(*(cells[key] for key in keys if key not in below))
    return table


class Shown:
    """A sheet as it is printed: a table where there is room for its figures, else a line a cell.

    Attributes:
        sheet: what is shown.
        head: as ``rich_table``.
        under: as ``rich_table``.
        notes: whether the sheet's notes follow.
    """

    def __init__(
        self,
        sheet: Sheet,
        *,
        head: bool = True,
        under: Mapping[str, str] | None = None,
        notes: bool = True,
    ) -> None:
        self.sheet = sheet
        self.head = head
        self.under = under
        self.notes = notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = _widths(self.sheet, self.under or {})
        natural, least = (sum(each) for each in zip(*widths, strict=True))
        gaps = len(widths) - 1
        if self.head and least + 2 * gaps > options.max_width:
            yield from _stacked(self.sheet)
        else:
            tight = self.head and natural + 3 * gaps > options.max_width
            yield rich_table(self.sheet, head=self.head, under=self.under, tight=tight)
        for note in self.sheet.notes if self.notes else ():
            yield Text(line(note))


_WORD = 8
"""Cells below which a column of words is not to be narrowed."""


def _widths(sheet: Sheet, under: Mapping[str, str]) -> list[tuple[int, int]]:
    """Of every column: how wide it is, and the least at which no figure is cut and words can still
    be read."""
    widths = []
    for place, (key, column) in enumerate(zip(keys_of(sheet), sheet.columns, strict=True)):
        if key not in under:
            texts = [line(column.name), *(line(row[place].text) for row in sheet.rows)]
            widest = max(map(cell_len, texts))
            widths.append((widest, widest if column.numeric else min(widest, _WORD)))
    return widths


def _stacked(sheet: Sheet) -> Iterator[Text]:
    """Row by row, with the name of its column before every cell but the first."""
    for row in sheet.rows:
        first, *rest = zip(sheet.columns, row, strict=True)
        yield Text.assemble((f"{line(first[0].name)} ", "dim"), cell_text(first[1]))
        for column, cell in rest:
            if cell.text:
                name = line(column.name) or "state"
                yield Text.assemble(f"  {name}: ", cell_text(cell), overflow="fold")


# ------------------------------------------------------------ Markdown


_MARKS = re.compile(
    r"[\\`*<>&|~]"  # code, emphasis, HTML, entities, cells
    r"|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])"  # emphasis, which a word's own underscore is not
    r"|\](?=[(\[:])"  # what would make a link
    r"|^(?:[-+=#](?=.)|\d+(?=[.)]))"  # a list, a heading
)


def markdown_text(text: str) -> str:
    """A stranger's words in a line of Markdown: no markup, no link, no HTML, no new cell."""
    escaped = _MARKS.sub(_escaped, line(text).strip())
    # What would be made a link of without any markup.
    return escaped.replace("://", ":\\//").replace("www.", "www\\.")


def _escaped(found: re.Match[str]) -> str:
    """Before a letter or digit a backslash would stand for itself: it goes behind a number."""
    text = found.group()
    return f"{text}\\" if text.isdigit() else f"\\{text}"


def markdown(sheet: Sheet) -> str:
    """A sheet as a part of a page: a heading, a table, its notes."""
    notes = [part for note in sheet.notes for part in ("", markdown_text(note))]
    return "\n".join([f"### {markdown_text(sheet.title)}", "", *markdown_rows(sheet), *notes, ""])


def markdown_rows(sheet: Sheet) -> list[str]:
    """A sheet's table alone, as lines of Markdown."""
    heads = [markdown_text(column.name) or " " for column in sheet.columns]
    rule = ["---:" if column.numeric else "---" for column in sheet.columns]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join(rule)} |"]
    lines += [
        f"| {' | '.join(markdown_text(cell.text) or ' ' for cell in row)} |" for row in sheet.rows
    ]
    return lines
