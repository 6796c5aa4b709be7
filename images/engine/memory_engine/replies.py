"""What a model wrote, read strictly.

A Markdown fence or prose around the JSON is forgiven, because models add them; nothing else is.
A field that is missing, of another type or out of its set makes the whole reply unparseable: there
is no default answer.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from memory_engine.days import parse_day
from memory_engine.errors import UnparseableReply
from memory_engine.rules import Reading

MAX_STARTS = 200
"""Places in a reply where JSON is looked for; a reply with more brackets than this is not JSON."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """One statement taken out of a note."""

    text: str
    subject: str
    valid_until: date | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A yes or no, with the model's reason."""

    yes: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Leaning:
    """Whether one candidate leaned on a retired claim, by its number and the claim's."""

    n: int
    leans: bool
    anchor: int | None
    """Number of the retired claim, from 1. Always there for one that leans."""
    restatement: str
    """Empty for one that stands."""
    reason: str


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """A second look at a restatement."""

    depended: bool
    faithful: bool
    reason: str


def extraction(text: str) -> tuple[Extracted, ...]:
    """The statements of an extraction reply, the same statement only once."""
    found: dict[tuple[str, str], Extracted] = {}
    for number, item in enumerate(_the(text, list), start=1):
        where = f"item {number}"
        record = _record(item, where)
        until = _field(record, "valid_until", where)
        claim = Extracted(
            text=_words(record, "text", where),
            subject=_words(record, "subject", where),
            valid_until=None if until is None else _day(until, where),
        )
        found.setdefault((claim.text.casefold(), claim.subject.casefold()), claim)
    return tuple(found.values())


def contradiction(text: str) -> Verdict:
    """The verdict of a contradiction probe."""
    record = _the(text, dict)
    reason = _string(record, "reason", "the reply")
    return Verdict(_choice(record, "verdict", ("YES", "NO")) == "YES", reason)


def update(text: str) -> Reading:
    """One reading of the update probe."""
    record = _the(text, dict)
    slot: Literal["CHANGES", "FIXED", "NONE"] = _choice(
        record, "slot", ("CHANGES", "FIXED", "NONE")
    )
    verdict: Literal["YES", "NO"] = _choice(record, "verdict", ("YES", "NO"))
    return Reading(slot, verdict, _string(record, "reason", "the reply"))


def reanchor(text: str, *, candidates: int, retired: int) -> tuple[Leaning, ...]:
    """One answer a candidate, in the order of the candidates; none missing, none made up."""
    items = _field(_the(text, dict), "claims", "the reply")
    if not isinstance(items, list):
        raise UnparseableReply("claims is not a list")
    found: dict[int, Leaning] = {}
    for position, item in enumerate(items, start=1):
        where = f"claim {position}"
        record = _record(item, where)
        n = _number(record, "n", where, candidates)
        if n in found:
            raise UnparseableReply(f"candidate {n} is answered twice")
        leans = _choice(record, "verdict", ("LEANS", "STANDS")) == "LEANS"
        found[n] = Leaning(
            n=n,
            leans=leans,
            anchor=_number(record, "anchor", where, retired) if leans else None,
            restatement=_words(record, "restatement", where) if leans else "",
            reason=_string(record, "reason", where),
        )
    missing = sorted(set(range(1, candidates + 1)) - set(found))
    if missing:
        raise UnparseableReply(f"candidates left unanswered: {missing}")
    return tuple(found[n] for n in sorted(found))


def faithfulness(text: str) -> Faithfulness:
    """The reading of a restatement."""
    record = _the(text, dict)
    return Faithfulness(
        depended=_bool(record, "depended"),
        faithful=_bool(record, "faithful"),
        reason=_string(record, "reason", "the reply"),
    )


# ---------------------------------------------------------------- JSON inside a reply


def _the(text: str, kind: type) -> Any:
    """The one JSON value of that kind in a reply.

    The whole reply is tried first. Otherwise outermost arrays and objects are looked for in the
    prose; when there are two of the kind, nobody knows which was meant, and neither is taken.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    stripped = text.strip()
    try:
        whole = decoder.decode(stripped)
    except RecursionError as error:
        raise UnparseableReply("the reply is nested too deeply") from error
    except ValueError:
        found = [value for value in _embedded(stripped, decoder) if isinstance(value, kind)]
        if len(found) == 1:
            return found[0]
        what = "no" if not found else "more than one"
        raise UnparseableReply(f"{what} JSON {_NAMES[kind]} in the reply: {_quote(text)}") from None
    if not isinstance(whole, kind):
        raise UnparseableReply(f"the reply is no JSON {_NAMES[kind]}: {_quote(text)}")
    return whole


_NAMES: Mapping[type, str] = {list: "array", dict: "object"}


def _embedded(text: str, decoder: json.JSONDecoder) -> list[Any]:
    values: list[Any] = []
    position = 0
    for _ in range(MAX_STARTS):
        starts = [at for at in (text.find("[", position), text.find("{", position)) if at >= 0]
        if not starts:
            return values
        start = min(starts)
        try:
            value, position = decoder.raw_decode(text, start)
            values.append(value)
        except RecursionError as error:
            raise UnparseableReply("the reply is nested too deeply") from error
        except ValueError:
            position = start + 1
    raise UnparseableReply(f"too many brackets in the reply: {_quote(text)}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key is given twice")
    return record


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# ---------------------------------------------------------------- fields


def _record(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnparseableReply(f"{where} is not an object")
    return value


def _field(record: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in record:
        raise UnparseableReply(f"{where} has no {name}")
    return record[name]


def _string(record: Mapping[str, Any], name: str, where: str) -> str:
    value = _field(record, name, where)
    if not isinstance(value, str):
        raise UnparseableReply(f"{name} of {where} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UnparseableReply(f"{name} of {where} is not Unicode text") from error
    return value


def _words(record: Mapping[str, Any], name: str, where: str) -> str:
    value = " ".join(_string(record, name, where).split())
    if not value:
        raise UnparseableReply(f"{name} of {where} is empty")
    return value


def _choice(record: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> Any:
    value = _field(record, name, "the reply")
    if value not in allowed:
        raise UnparseableReply(f"{name} is {value!r}, not one of {', '.join(allowed)}")
    return value


def _bool(record: Mapping[str, Any], name: str) -> bool:
    value = _field(record, name, "the reply")
    if not isinstance(value, bool):
        raise UnparseableReply(f"{name} is {value!r}, not true or false")
    return value


def _number(record: Mapping[str, Any], name: str, where: str, most: int) -> int:
    value = _field(record, name, where)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise UnparseableReply(f"{name} of {where} is {value!r}, not a number from 1 to {most}")
    return value


def _day(value: Any, where: str) -> date:
    if isinstance(value, str):
        try:
            return parse_day(value)
        except ValueError:
            pass
    raise UnparseableReply(f"valid_until of {where} is {value!r}, not a date or null")


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 200 else flat[:200] + "…")
