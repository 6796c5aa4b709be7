"""Scripted tables: what a scripted model answers, as data.

A table is a list of answers, each with what it matches. Tables are consulted in the order given
and the first match wins, so a table of faults laid before the good one makes the model wrong in
just those ways. `{name}` stands for a word of the case (`{{` and `}}` for braces), and in a
pattern `*` for any text.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from runner.model import Usage
from runner.placeholders import PlaceholderError, compiled, fill, filled


class TableError(ValueError):
    """A table that cannot be used: which one, which answer, and why."""


class Failure(BaseModel):
    """A provider failure, played by a table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int = Field(ge=400, le=599)
    type: str = "api_error"
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class Entry:
    """One scripted answer, its placeholders filled."""

    id: str
    table: str
    purpose: str | None
    wanted: Mapping[str, Any]
    """Dotted path to what was wanted there, as the table wrote it."""
    patterns: Mapping[str, "re.Pattern[str] | Any"]
    answer: Any
    """What the system's wire turns into text; none for ``text`` and failures."""
    text: str | None
    usage: Usage | None
    stop_reason: str
    failure: Failure | None

    @property
    def source(self) -> str:
        """How the ledger names it."""
        return f"{self.table}:{self.id}"

    def matches(self, purpose: str, fields: Mapping[str, Any]) -> bool:
        """Whether it answers a call of ``purpose`` that asks ``fields``."""
        return self.purpose in (None, purpose) and all(
            _holds(pattern, _at(fields, path)) for path, pattern in self.patterns.items()
        )


@dataclass(frozen=True, slots=True)
class Near:
    """The entry that came closest to a call nothing answers, and what differs."""

    entry: Entry
    differences: tuple[str, ...]

    def __str__(self) -> str:
        return f"nearest is {self.entry.source}: {'; '.join(self.differences)}"


class Tables:
    """All tables of one run, in the order they are consulted."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)

    @classmethod
    def load(cls, tables: Iterable[tuple[str, str]], names: Mapping[str, str]) -> Self:
        """Read ``(name, TOML text)`` pairs and fill their placeholders from ``names``.

        Raises:
            TableError: saying the table, the answer and the trouble.
        """
        return cls(entry for name, text in tables for entry in _load(name, text, names))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every answer there is, in the order they are consulted."""
        return self._entries

    def find(self, purpose: str, fields: Mapping[str, Any]) -> Entry | None:
        """The first entry that answers the call."""
        return next((entry for entry in self._entries if entry.matches(purpose, fields)), None)

    def nearest(self, purpose: str, fields: Mapping[str, Any]) -> Near | None:
        """Of the entries, the one most like a call that nothing answers."""
        scored = ((_likeness(entry, purpose, fields), entry) for entry in self._entries)
        best = max(scored, key=lambda pair: pair[0], default=None)
        if best is None:
            return None
        return Near(best[1], tuple(_differences(best[1], purpose, fields)))


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    about: str = ""
    purpose: str | None = None
    match: dict[str, Any] = Field(default_factory=dict)
    reply: Any = None
    text: str | None = None
    fail: Failure | None = None
    usage: Usage | None = None
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "refusal"] = "end_turn"

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        said = [name for name in ("reply", "text", "fail") if getattr(self, name) is not None]
        if len(said) != 1:
            raise ValueError(f"needs exactly one of reply, text and fail, has {said or 'none'}")
        return self


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(alias="schema")
    about: str = ""
    answer: tuple[dict[str, Any], ...] = ()


def _load(table: str, text: str, names: Mapping[str, str]) -> Iterable[Entry]:
    try:
        document = _Table.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        raise TableError(f"table {table}: {problem}") from problem
    except ValidationError as problem:
        raise TableError(f"table {table}: {_said(problem)}") from problem
    seen: set[str] = set()
    for number, row in enumerate(document.answer, 1):
        where = f"table {table}, answer {number} ({row.get('id', 'no id')})"
        try:
            answer = _Answer.model_validate(row)
            if answer.id in seen:
                raise TableError(f"{where}: another answer has the same id")
            seen.add(answer.id)
            yield _entry(table, answer, names)
        except ValidationError as problem:
            raise TableError(f"{where}: {_said(problem)}") from problem
        except PlaceholderError as problem:
            raise TableError(f"{where}: {problem}") from problem


def _entry(table: str, answer: _Answer, names: Mapping[str, str]) -> Entry:
    wanted = dict(_flat(answer.match))
    return Entry(
        id=answer.id,
        table=table,
        purpose=answer.purpose,
        wanted={path: filled(value, names) for path, value in wanted.items()},
        patterns={
            path: compiled(value, names) if isinstance(value, str) else value
            for path, value in wanted.items()
        },
        answer=filled(answer.reply, names),
        text=None if answer.text is None else fill(answer.text, names),
        usage=answer.usage,
        stop_reason=answer.stop_reason,
        failure=answer.fail,
    )


# ---------------------------------------------------------------- matching

_NOTHING = object()
_COMPARED = 400
"""How many characters of a long value are compared and shown."""


def _flat(match: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Nested tables and dotted keys mean the same."""
    for key, value in match.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flat(value, f"{path}.")
        else:
            yield path, value


def _at(fields: Any, path: str) -> Any:
    """What lies at a dotted path; a number indexes a list."""
    for part in path.split("."):
        if isinstance(fields, Mapping) and part in fields:
            fields = fields[part]
        elif isinstance(fields, list) and part.isdecimal() and int(part) < len(fields):
            fields = fields[int(part)]
        else:
            return _NOTHING
    return fields


def _holds(pattern: Any, value: Any) -> bool:
    if value is _NOTHING:
        return False
    if isinstance(pattern, re.Pattern):
        return pattern.fullmatch(_written(value)) is not None
    return type(pattern) is type(value) and bool(pattern == value)


def _written(value: Any) -> str:
    """A value as a pattern sees it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _likeness(entry: Entry, purpose: str, fields: Mapping[str, Any]) -> float:
    score = 1.0 if entry.purpose in (None, purpose) else 0.0
    for path, pattern in entry.patterns.items():
        value = _at(fields, path)
        if _holds(pattern, value):
            score += 1
        elif value is not _NOTHING:
            wanted, asked = _written(entry.wanted[path]), _written(value)
            score += SequenceMatcher(None, wanted[:_COMPARED], asked[:_COMPARED]).ratio()
    return score / (1 + len(entry.patterns))


def _differences(entry: Entry, purpose: str, fields: Mapping[str, Any]) -> Iterable[str]:
    if entry.purpose not in (None, purpose):
        yield f"purpose is {purpose!r}, wanted {entry.purpose!r}"
    for path, pattern in entry.patterns.items():
        value = _at(fields, path)
        if value is _NOTHING:
            yield f"{path} is missing, wanted {entry.wanted[path]!r}"
        elif not _holds(pattern, value):
            yield f"{path} is {_short(value)}, wanted {entry.wanted[path]!r}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _COMPARED else f"{shown[:_COMPARED]}..."


def _said(problem: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, error['loc'])) or 'it'}: {error['msg']}" for error in problem.errors()
    )
