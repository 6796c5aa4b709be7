"""A sheet for a spreadsheet and for a program."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence

import orjson
from pydantic import JsonValue

from runner.plain import plain
from runner.reports.sheet import Cell, Column, Sheet

NOTHING = "·"
"""The text of a cell for which there is no figure. A program is given null for it, and for no text
at all; a spreadsheet an empty cell."""
_CSV_COLUMNS = ("sheet", "row", "column", "value")


def key_of(column: Column) -> str:
    """What a program calls a column: small letters, digits and underscores where it is made from
    the name."""
    return column.key or re.sub(r"[^0-9a-z]+", "_", column.name.lower()).strip("_") or "value"


def keys_of(sheet: Sheet) -> tuple[str, ...]:
    """What a program calls the columns, each otherwise than the others."""
    found: list[str] = []
    for column in sheet.columns:
        key, number = key_of(column), 2
        while key in found:
            key = f"{key_of(column)}_{number}"
            number += 1
        found.append(key)
    return tuple(found)


def value_of(cell: Cell) -> JsonValue:
    """What a program is given: the value, else the text; null where there is nothing."""
    if cell.value is not None:
        return cell.value
    return None if cell.text in ("", NOTHING) else cell.text


def records(sheet: Sheet) -> list[dict[str, JsonValue]]:
    """A sheet's rows by the keys of its columns. Text is as it is: who shows it makes it safe."""
    keys = keys_of(sheet)
    return [dict(zip(keys, map(value_of, row), strict=True)) for row in sheet.rows]


def json_bytes(data: object) -> bytes:
    """JSON in which everything a terminal would obey, and every direction mark, is escaped."""
    return json_safe(orjson.dumps(data, option=orjson.OPT_INDENT_2)) + b"\n"


def json_safe(document: bytes) -> bytes:
    """The same JSON document with its hidden characters escaped: it is read as before."""
    text = document.decode()
    # Outside of strings JSON has no such character but the line break.
    hidden = {char for char in set(text) if char != "\n" and plain(char) != char}
    hidden |= {char for char in set(text) if unicodedata.category(char) in ("Zl", "Zp")}
    for char in hidden:
        units = char.encode("utf-16-be", "surrogatepass")
        pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
        text = text.replace(char, "".join(f"\\u{pair}" for pair in pairs))
    return text.encode()


# ------------------------------------------------------------ spreadsheets


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_cell(value: JsonValue) -> str:
    """A cell that no spreadsheet takes for a formula: what looks like one begins with ``'``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        value = " ".join(map(str, value))
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"
    return plain(text)


def csv_text(sheets: Sequence[Sheet]) -> str:
    """Sheets as comma-separated values (RFC 4180, but lines end in a line feed).

    One sheet is a table of its own, with the keys of its columns above it. Several are one table in
    long form: ``sheet``, ``row`` (from 1), ``column``, ``value``, a line a cell, and cells without
    a value left out. A value of several figures is told figure by figure (``rate.low``).
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if len(sheets) == 1:
        head, rows = _wide(sheets[0])
        writer.writerow(map(csv_cell, head))
        writer.writerows([csv_cell(row.get(key)) for key in head] for row in rows)
        return out.getvalue()
    writer.writerow(_CSV_COLUMNS)
    for sheet in sheets:
        for number, row in enumerate(_wide(sheet)[1], 1):
            writer.writerows(
                (csv_cell(sheet.name), number, csv_cell(key), csv_cell(value))
                for key, value in row.items()
                if value is not None
            )
    return out.getvalue()


def _wide(sheet: Sheet) -> tuple[list[str], list[dict[str, JsonValue]]]:
    """The columns of a sheet and its rows, a figure a column."""
    rows = [dict(_figures(record)) for record in records(sheet)]
    head: list[str] = []
    for key in keys_of(sheet):
        own = dict.fromkeys(
            name for row in rows for name in row if name == key or name.startswith(f"{key}.")
        )
        head += [name for name in own if name not in head] or ([key] if key not in head else [])
    return head, rows


def _figures(record: dict[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for key, value in record.items():
        if isinstance(value, dict):
            for name, one in value.items():
                yield f"{key}.{name}", one
        else:
            yield key, value
