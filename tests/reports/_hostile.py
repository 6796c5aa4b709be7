"""Reports of which every word that has no form of its own is hostile, found by their schema."""

import dataclasses
import re
import typing
from collections.abc import Callable, Iterator, Set
from typing import Any

import orjson
from pydantic import AfterValidator, BaseModel, JsonValue

from runner.reports.schema import Report

HOSTILE = (
    "<script>alert(1)</script> [red]x[/red] [link=http://evil.example]y[/link]"
    " \x1b[31m\x1b]8;;http://evil.example\x07 \x9b2J \u202egnp.exe\u2066 \u200f"
    " | `a` \\| 孟买\r\n=1+1"
)
"""What a page, a terminal and a spreadsheet would obey, each in its own way."""

Place = str
"""A field: ``Model.field``; the keys of one that is a mapping: ``Model.field keys``."""
Change = Callable[[Place, str], str]


def places(report: Report) -> tuple[Place, ...]:
    """Every field of a report that holds words without a form of their own, or may hold some."""
    found: dict[Place, None] = {}

    def note(place: Place, text: str) -> str:
        found[place] = None
        return text

    _record(report, report.model_dump(mode="json"), note)
    return tuple(found)


def hostile(report: Report, but: Set[Place], words: str = HOSTILE) -> Report:
    """The same report with hostile words before all words, and where there were none.

    Args:
        report: of any suite.
        but: places where the words are a key into something else, and stay.
        words: the hostile ones.

    Raises:
        ValueError: it is no report any more.
    """

    def change(place: Place, text: str) -> str:
        return text if place in but else f"{words} {text}"

    document = _record(report, report.model_dump(mode="json"), change)
    return Report.model_validate_json(orjson.dumps(document))


def _record(value: Any, told: dict[str, Any], change: Change) -> dict[str, Any]:
    """What is told of a model or a dataclass, field by field."""
    changed = dict(told)
    for name, key, annotation, formed in _fields(value):
        if key not in told:
            continue  # of those that are left out where they are empty
        place, free = f"{type(value).__name__}.{name}", not formed and _free(annotation)
        changed[key] = _any(getattr(value, name), told[key], place, change, free=free)
        words = change(place, "") if free and told[key] in (None, []) else ""
        if words and str in typing.get_args(annotation):
            changed[key] = words if told[key] is None else [words]
    return changed


def _fields(value: Any) -> Iterator[tuple[str, str, Any, bool]]:
    """Each field's name, its name in a document, its type, and whether that has a form."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            aliased = value.model_config.get("serialize_by_alias") and field.alias
            yield name, aliased or name, field.annotation, _formed(field.metadata)
    else:
        for name, annotation in typing.get_type_hints(type(value), include_extras=True).items():
            yield name, name, annotation, False


def _any(value: Any, told: Any, place: Place, change: Change, *, free: bool) -> Any:
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return _record(value, told, change)
    if isinstance(value, dict):
        # What is told of it has the same order.
        return {
            change(f"{place} keys", key) if free else key: _any(one, two, place, change, free=free)
            for one, (key, two) in zip(value.values(), told.items(), strict=True)
        }
    if isinstance(value, list | tuple):
        each = zip(value, told, strict=True)
        return [_any(one, two, place, change, free=free) for one, two in each]
    return change(place, told) if type(value) is str and free else told


def _free(annotation: Any) -> bool:
    """Whether any words may stand there: it is no enumeration, no literal, and has no form."""
    atoms = set(_atoms(annotation))
    return bool(atoms & {str, JsonValue}) and typing.Literal not in atoms


def _atoms(annotation: Any) -> Iterator[Any]:
    origin, within = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal or (origin is typing.Annotated and _formed(within[1:])):
        yield typing.Literal
    elif origin is typing.Annotated:
        yield from _atoms(within[0])
    elif origin is None or annotation is JsonValue:
        yield annotation
    else:
        for one in within:
            yield from _atoms(one)


def _formed(metadata: typing.Iterable[Any]) -> bool:
    """Whether words have to have a form that hostile ones have not, or are names that are known."""
    known = [*metadata]
    patterns = [getattr(one, "pattern", None) for one in known]
    return any(isinstance(one, AfterValidator) for one in known) or any(
        one is not None and not re.search(one, HOSTILE) for one in patterns
    )
