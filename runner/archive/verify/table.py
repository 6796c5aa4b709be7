"""What came of looking, as a table that fits eighty columns."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from runner.archive.verify.sheet import Sheet, State
from runner.plain import plain

_STYLE = {State.HOLDS: "green", State.WRONG: "bold red", State.UNCHECKED: "yellow"}


def render(sheet: Sheet) -> RenderableType:
    """The whole of a sheet. Everything shown is plain text, never markup."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("what was looked at", overflow="fold")
    table.add_column("of", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for line in sheet.lines:
        what = Text(line.what)
        if line.first:
            what.append(f"\n{plain(line.first)}", _STYLE[line.state])
        if line.wrong > 1:
            what.append(f"\nand {line.wrong - 1} more", _STYLE[line.state])
        count = str(line.looked_at) if line.looked_at else "-"
        table.add_row(line.id, what, count, Text(line.state.value, _STYLE[line.state]))
    return Group(Text(plain(f"{sheet.file}: {sheet.about}")), Text(), table, Text(), _sum(sheet))


def _sum(sheet: Sheet) -> Text:
    wrong, unchecked = sheet.of(State.WRONG), sheet.of(State.UNCHECKED)
    if wrong:
        what = ", ".join(dict.fromkeys(line.id for line in wrong))
        told = Text(f"{len(wrong)} of {len(sheet.lines)} checks do not hold: {what}.", "bold red")
    elif not sheet.of(State.HOLDS):
        told = Text("Nothing could be checked.", "bold red")
    else:
        told = Text(f"All {len(sheet.of(State.HOLDS))} checks that could be made hold.", "green")
    if unchecked:
        what = ", ".join(dict.fromkeys(line.id for line in unchecked))
        told.append(f"\nNot checked, and so not proved: {what}.", "yellow")
    return told
