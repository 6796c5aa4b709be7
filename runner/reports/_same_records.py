"""Records of two runs that are in no order: which is which, by what they say and what they lead to.

Ids are drawn anew in every run, and rows often stand in their order. So a record is known by its
own words, and where those are not enough, by the records that its ids are in, and by theirs.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from runner.reports._same_told import Difference, shown
from runner.reports._same_values import Days, Pairing, Reader

_ROUNDS = 12
"""As far as a chain of records is followed: no claim is retired by one that is retired, and so
on, more often."""


class Colours:
    """What tells the ids of one run apart, whatever they are: the same for the same place in the
    same run.

    Args:
        records: every record of the run that is in no order, each with what list it is in.
        reader: reads its texts.
        days: how days count.
    """

    def __init__(self, records: Iterable[tuple[str, Any]], reader: Reader, days: Days) -> None:
        self._reader, self._days = reader, days
        self._of: Mapping[str, str] = {}
        rows = [
            (f"{of}\n{reader.masked(one, {}, days)}", tuple(reader.within(one)))
            for of, one in records
        ]
        told = 0
        for _ in range(_ROUNDS):
            places: dict[str, list[str]] = defaultdict(list)
            for plain, ids in rows:
                whole = _digest([plain, *(self._of.get(one, "") for one in ids)])
                for place, one in enumerate(ids):
                    places[one].append(f"{whole} {place}")
            self._of = {one: _digest(sorted(at)) for one, at in places.items()}
            if (apart := len(set(self._of.values()))) == told:
                break
            told = apart

    def plain(self, record: Any) -> str:
        """What a record says, its ids left out."""
        return self._reader.masked(record, {}, self._days)

    def key(self, record: Any) -> str:
        """What a record says, its ids told apart."""
        return self._reader.masked(record, self._of, self._days)


def matched(
    one: Sequence[Any],
    other: Sequence[Any],
    path: str,
    pairing: Pairing,
    colours: tuple[Colours, Colours],
) -> Difference | None:
    """The first difference between two lists of records that are in no order."""
    mine, theirs = colours
    left, rest = list(range(len(one))), list(range(len(other)))
    # First what says and leads to the same, then what says the same: so that what is told is what
    # was changed, and not what hangs on it.
    for key, against in ((mine.key, theirs.key), (mine.plain, theirs.plain)):
        for here, there in _pairs(
            {at: key(one[at]) for at in left}, {at: against(other[at]) for at in rest},
            lambda here, there: pairing.fits(one[here], other[there]),
        ):  # fmt: skip
            if found := pairing.values(one[here], other[there], f"{path}[{here}]"):
                return found
            left.remove(here)
            rest.remove(there)
    for here, there in _most_alike(
        {at: orjson.loads(mine.plain(one[at])) for at in left},
        {at: orjson.loads(theirs.plain(other[at])) for at in rest},
    ):
        if found := pairing.values(one[here], other[there], f"{path}[{here}]"):
            return found
        left.remove(here)
        rest.remove(there)
    if left:
        return Difference(f"{path}[{left[0]}]", shown(one[left[0]]), "not there")
    if rest:
        return Difference(f"{path}[{rest[0]}]", "not there", shown(other[rest[0]]))
    return None


def _pairs(
    one: Mapping[int, str], other: Mapping[int, str], fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Places of records of the same key; of several, of those whose ids were paired before."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, key in other.items():
        waiting[key].append(place)
    for here, key in one.items():
        there = next((place for place in waiting[key] if fits(here, place)), None)
        if there is not None:
            waiting[key].remove(there)
            yield here, there


def _most_alike(one: Mapping[int, Any], other: Mapping[int, Any]) -> Iterator[tuple[int, int]]:
    """Places of records, each in one pair at most, those with the most in common first."""
    scored = sorted(
        (-_likeness(mine, theirs), here, there)
        for here, mine in one.items()
        for there, theirs in other.items()
    )
    used: tuple[set[int], set[int]] = set(), set()
    for _, here, there in scored:
        if here not in used[0] and there not in used[1]:
            used[0].add(here)
            used[1].add(there)
            yield here, there


def _likeness(one: Any, other: Any) -> float:
    if isinstance(one, dict) and isinstance(other, dict):
        names = one.keys() | other.keys()
        same = sum(bool(one.get(name) == other.get(name)) for name in names)
        return same / max(len(names), 1)
    return float(bool(one == other))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
