"""Two values of JSON beside each other, the same but for ids and times.

An id is whatever a run declares as one, and every UUID: which it is does not count, but that it
stands everywhere for the same other id does. Of a moment its day counts, and of a measured
duration nothing.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import orjson

from runner.reports._same_told import Difference, different, shown

TOLERANCE = 1e-9
"""By how much two scores may differ."""
DURATIONS = frozenset(
    {"seconds", "ms", "duration_seconds", "duration_ms", "elapsed_seconds", "elapsed_ms"}
)
"""Fields of free form that hold a measured duration, where they hold a number."""
MONEY = "_usd"
"""How the names of fields end that hold US dollars."""
SHORTEST_ID = 6
"""Characters of an id that is looked for within texts; a shorter one may be any word."""

_DAY = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_HOUR = r"[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_EDGE = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"

Kind = Literal["text", "id", "time", "date"]


@dataclass(frozen=True, slots=True)
class Days:
    """How the days of two runs are held to each other.

    Attributes:
        apart: by how many days the second may have happened later, where the runs had the wall
            clock's day and none of their own: by several only where one of them passed midnight.
            None where days have to be the same.
    """

    apart: frozenset[int] | None = None

    @property
    def own(self) -> bool:
        """Whether the runs had a day of their own."""
        return self.apart is None

    def same(self, one: str, other: str) -> bool:
        """Whether two days are the same, or equally far from the day of their run."""
        if one == other:
            return True
        return self.apart is not None and (_day(other) - _day(one)).days in self.apart


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text."""

    kind: Kind
    text: str


class Reader:
    """Splits the texts of one run into what has to be the same and what has not.

    Args:
        ids: what the run declares as ids.
        days: how days count.
    """

    def __init__(self, ids: Collection[str], days: Days) -> None:
        self._ids = frozenset(ids)
        before, after = _EDGE
        own = (one for one in self._ids if len(one) >= SHORTEST_ID and not re.fullmatch(_UUID, one))
        longest = sorted(own, key=lambda one: (-len(one), one))
        names = "|".join([*map(re.escape, longest), _UUID])
        parts = [f"(?P<time>{before}{_DAY}{_HOUR}{after})", f"(?P<id>{before}(?:{names}){after})"]
        if not days.own:
            parts.append(f"(?P<date>{before}{_DAY}{after})")
        self._pattern = re.compile("|".join(parts))

    def tokens(self, text: str) -> Iterator[Token]:
        """The pieces of a text, in their order."""
        if text in self._ids:
            yield Token("id", text)
            return
        end = 0
        for found in self._pattern.finditer(text):
            if found.start() > end:
                yield Token("text", text[end : found.start()])
            kind: Any = found.lastgroup
            yield Token(kind, found[0])
            end = found.end()
        if end < len(text):
            yield Token("text", text[end:])

    def masked(self, value: Any, ids: Mapping[str, str], days: Days) -> str:
        """A value without ids, seconds and durations, in one form.

        Args:
            value: of JSON.
            ids: what is written in the place of an id; nothing where it is not in there.
            days: how days count.
        """
        return orjson.dumps(self._mask(value, ids, days), option=orjson.OPT_SORT_KEYS).decode()

    def _mask(self, value: Any, ids: Mapping[str, str], days: Days) -> Any:
        if isinstance(value, str):
            return "".join(_masked(token, ids, days) for token in self.tokens(value))
        if isinstance(value, dict):
            return {
                self._mask(key, ids, days): self._mask(inner, ids, days)
                for key, inner in value.items()
                if not is_duration(key, inner)
            }
        if isinstance(value, list):
            return [self._mask(inner, ids, days) for inner in value]
        return round(value, 9) if isinstance(value, float) else value

    def within(self, value: Any) -> Iterator[str]:
        """Every id in a value, in the order of their appearance."""
        if isinstance(value, str):
            yield from (token.text for token in self.tokens(value) if token.kind == "id")
        elif isinstance(value, dict):
            for key in sorted(value):
                yield from self.within(key)
                yield from self.within(value[key])
        elif isinstance(value, list):
            for inner in value:
                yield from self.within(inner)


class Pairing:
    """Values of two runs beside each other, and which id of the one is which of the other.

    Args:
        one: reads the first.
        other: reads the second.
        days: how days count.
    """

    def __init__(self, one: Reader, other: Reader, days: Days) -> None:
        self.readers = one, other
        self.days = days
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def fits(self, one: Any, other: Any) -> bool:
        """Whether the ids of two values may be each other's."""
        left, right = (list(r.within(v)) for r, v in zip(self.readers, (one, other), strict=True))
        return len(left) == len(right) and all(map(self._may, left, right))

    def values(self, one: Any, other: Any, path: str) -> Difference | None:
        """The first difference between two values."""
        if isinstance(one, dict) and isinstance(other, dict):
            return self._fields(one, other, path)
        if isinstance(one, list) and isinstance(other, list):
            return self._items(one, other, path)
        if isinstance(one, str) and isinstance(other, str):
            return self._texts(one, other, path)
        return None if same_number(one, other) else different(path, one, other)

    def _fields(
        self, one: Mapping[str, Any], other: Mapping[str, Any], path: str
    ) -> Difference | None:
        names = {key: key for key in one}
        if one.keys() != other.keys():
            # Fields may be named by ids: those are paired by what they came to be elsewhere.
            names = {key: self._there.get(key, key) for key in one}
        for key, named in names.items():
            where = f"{path}.{key}"
            if named not in other:
                return Difference(where, shown(one[key]), "not there")
            inner, beside = one[key], other[named]
            if is_duration(key, inner) and is_duration(key, beside):
                continue
            if key.endswith(MONEY) and _same_money(inner, beside):
                continue
            if found := self.values(inner, beside, where):
                return found
        for key in other:
            if key not in names.values():
                return Difference(f"{path}.{key}", "not there", shown(other[key]))
        return None

    def _items(self, one: list[Any], other: list[Any], path: str) -> Difference | None:
        for place, (inner, beside) in enumerate(zip(one, other, strict=False)):
            if found := self.values(inner, beside, f"{path}[{place}]"):
                return found
        if len(one) != len(other):
            place = min(len(one), len(other))
            was, now = (shown(v[place]) if place < len(v) else "not there" for v in (one, other))
            return Difference(f"{path}[{place}]", was, now)
        return None

    def _texts(self, one: str, other: str, path: str) -> Difference | None:
        left, right = (list(r.tokens(t)) for r, t in zip(self.readers, (one, other), strict=True))
        if [token.kind for token in left] != [token.kind for token in right]:
            return different(path, one, other)
        for mine, theirs in zip(left, right, strict=True):
            if mine.kind == "id":
                if not self._may(mine.text, theirs.text):
                    return self._mixed(path, mine.text, theirs.text)
                self._there[mine.text], self._back[theirs.text] = theirs.text, mine.text
            elif mine.kind == "text":
                if mine.text != theirs.text:
                    return different(path, one, other)
            elif not (mine.kind == "time" and not self.days.own) and not self.days.same(
                mine.text[:10], theirs.text[:10]
            ):
                return different(path, one, other)
        return None

    def _may(self, one: str, other: str) -> bool:
        return self._there.get(one, other) == other and self._back.get(other, one) == one

    def _mixed(self, path: str, one: str, other: str) -> Difference:
        """An id that stands for another one elsewhere."""
        known, owner = self._there.get(one), self._back.get(other)
        was = shown(one) + (f" (elsewhere {shown(known)})" if known not in (None, other) else "")
        now = shown(other) + (f" (elsewhere {shown(owner)})" if owner not in (None, one) else "")
        return Difference(path, was, now)


def is_duration(name: str, value: Any) -> bool:
    """Whether a field of free form holds a measured duration."""
    return name in DURATIONS and isinstance(value, int | float) and not isinstance(value, bool)


def same_number(one: Any, other: Any) -> bool:
    """Whether two values that are neither texts nor made of others are the same."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        if isinstance(one, float) or isinstance(other, float):
            return math.isclose(one, other, rel_tol=0, abs_tol=TOLERANCE)
        return one == other
    return False


def _masked(token: Token, ids: Mapping[str, str], days: Days) -> str:
    if token.kind == "id":
        return f"<{ids.get(token.text, '')}>"
    if token.kind == "text":
        return token.text
    return f"<{token.text[:10]}>" if days.own else "<day>"


def _same_money(one: Any, other: Any) -> bool:
    try:
        return isinstance(one, str) and isinstance(other, str) and Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:  # such as the 31st of June
        return date.min
