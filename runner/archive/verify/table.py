"""What came of looking, as a table that fits eighty columns."""

from rich.console import Group, RenderableType
from rich.text import Text

from runner.archive.verify.sheet import Sheet, State
from runner.plain import plain
from runner.reports import sheet as data
from runner.reports.cells import figure, sheet, text, words
from runner.reports.formats import Shown
from runner.reports.sheet import Cell, Tone

_TONES = {State.HOLDS: Tone.GOOD, State.WRONG: Tone.BAD, State.UNCHECKED: Tone.UNSURE}


def render(found: Sheet) -> RenderableType:
    """The whole of a sheet. Everything shown is plain text, never markup."""
    table = Shown(check_sheet(found), under={"found": "what", "more": "what"})
    return Group(Text(plain(f"{found.file}: {found.about}")), Text(), table, Text(), _sum(found))


def check_sheet(found: Sheet) -> data.Sheet:
    """Every check, a line each."""
    columns = [text("check"), text("what was looked at", "what"), text("found"), text("more")]
    columns += [figure("of", "looked_at"), text("", "state")]
    rows = [
        (
            words(line.id),
            words(line.what),
            words(line.first, _TONES[line.state]),
            Cell(
                f"and {line.wrong - 1} more" if line.wrong > 1 else "",
                _TONES[line.state],
                line.wrong - 1 if line.wrong > 1 else None,
            ),
            Cell(str(line.looked_at) if line.looked_at else "-", value=line.looked_at),
            words(line.state.value, _TONES[line.state]),
        )
        for line in found.lines
    ]
    return sheet("checks", f"{found.file}: {found.about}", columns, rows)


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
