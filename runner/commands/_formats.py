"""Tables on standard output, in the form that was asked for; whatever else is said goes to standard
error."""

import sys
from collections.abc import Sequence

from runner.commands._options import Output
from runner.reports.formats import csv_text, json_bytes, markdown, records
from runner.reports.sheet import Sheet


def write(data: bytes) -> None:
    """Write to standard output, at once."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(document: object) -> None:
    """Write JSON that no terminal can be steered by."""
    write(json_bytes(document))


def write_sheets(sheets: Sequence[Sheet], format_: Output) -> None:
    """Write tables for a page, a spreadsheet or a program.

    Args:
        sheets: the tables. JSON is a list of the rows of one; of several an object with such a
            list a sheet.
        format_: any but ``table``, which has other words around it.
    """
    match format_:
        case Output.CSV:
            write(csv_text(sheets).encode())
        case Output.MARKDOWN:
            write("\n".join(map(markdown, sheets)).encode())
        case _:
            told = {one.name: records(one) for one in sheets}
            write_json(told if len(sheets) != 1 else told[sheets[0].name])
