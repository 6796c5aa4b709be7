"""Options that several commands share, and how their values are read."""

import enum
from collections.abc import Sequence
from typing import Annotated

import typer

from runner.errors import UsageError


class Output(enum.StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"


FormatOption = Annotated[
    Output, typer.Option("--format", help="A table for people, or the whole report as JSON.")
]


def pairs(values: Sequence[str], option: str) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options.

    Raises:
        UsageError: one is not of that form, or a name comes twice.
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise UsageError(f"{option} {value!r} is not of the form NAME=VALUE.")
        if name in found:
            raise UsageError(f"{option} names {name} twice.")
        found[name] = rest
    return found
