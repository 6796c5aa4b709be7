"""Cells of a stranger's rows, as the type they should have: for readers of snapshots."""

import json
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from runner.systems._sqlite import Row

_SHOWN = 300
"""How many characters of an error are repeated."""


class Unmappable(Exception):
    """A row holds something that no noun has a place for."""


def text(row: Row, name: str) -> str:
    """A cell that must hold text."""
    value = row[name]
    if not isinstance(value, str):
        raise Unmappable(f"{name} is no text")
    return value


def text_or_none(row: Row, name: str) -> str | None:
    """A cell that may hold text."""
    return None if row[name] is None else text(row, name)


def time_or_none(row: Row, name: str) -> datetime | None:
    """A cell that may hold a time, in ISO 8601 and with or without a zone."""
    written = text_or_none(row, name)
    if written is None:
        return None
    try:
        return datetime.fromisoformat(written)
    except ValueError as error:
        raise Unmappable(f"{name} is no time: {written[:50]!r}") from error


def record(row: Row, name: str) -> dict[str, Any]:
    """A cell that holds a JSON object, or nothing: an empty one."""
    found = _json(row, name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unmappable(f"{name} is no JSON object")
    return found


def records(row: Row, name: str) -> list[dict[str, Any]]:
    """A cell that holds a list of JSON objects, or nothing: an empty one."""
    found = _json(row, name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Unmappable(f"{name} is no list of JSON objects")
    return found


def short(error: Exception) -> str:
    """What an error says, within bounds."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )[:_SHOWN]
    return str(error)[:_SHOWN]


def _json(row: Row, name: str) -> Any:
    written = text_or_none(row, name)
    if written is None:
        return None

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        found = json.loads(written, parse_constant=refuse)
        # Numbers beyond any double and halves of a character are read without a word.
        json.dumps(found, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Unmappable(f"{name} is not JSON: {short(error)}") from error
    return found
