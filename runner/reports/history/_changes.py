"""What changed between two readings of a store, a sentence each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from runner.model import Claim, Event, RestatementExamined, Store, Superseded
from runner.reports.history._claims import Names
from runner.reports.history._words import line, quoted

MOST = 60
"""Sentences in a message; the rest is a number, and stands in the diff."""
REASON_CHARS = 160


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed.

    Attributes:
        summary: in a few words, such as ``1 new, 2 retired``.
        sentences: one a change.
    """

    summary: str
    sentences: tuple[str, ...]


def changes(before: Store, after: Store, names: Names) -> Changes:
    """What a store holds that it did not, and what it thinks otherwise of."""
    told = _Told(before, after, names)
    kinds = {
        "new": tuple(told.new()),
        "retired": tuple(told.retired()),
        "restated": tuple(told.restated()),
        "gone": tuple(told.gone()),
        "changed": tuple(told.changed()),
    }
    counts = [f"{len(found)} {kind}" for kind, found in kinds.items() if found]
    sentences = [
        *(each for found in kinds.values() for each in found),
        *told.examined(),
        *told.unmapped(),
    ]
    if len(sentences) > MOST:
        more = len(sentences) - MOST
        sentences = [*sentences[:MOST], f"And {more} more, which the diff shows."]
    return Changes(", ".join(counts) or "nothing changed", tuple(sentences))


class _Told:
    def __init__(self, before: Store, after: Store, names: Names) -> None:
        self._names = names
        self._before = {claim.id: claim for claim in before.claims}
        self._after = {claim.id: claim for claim in after.claims}
        self._events = _new_events(before, after)
        known = set(before.unmapped)
        self._missing = tuple(each for each in after.unmapped if each not in known)
        self._restatements = {
            event.restatement
            for event in self._events
            if isinstance(event, RestatementExamined) and event.outcome == "restated"
        }

    def _in_order(self, claims: Iterator[Claim]) -> list[Claim]:
        return sorted(claims, key=lambda claim: self._names.number(claim.id))

    def new(self) -> Iterator[str]:
        found = (claim for id_, claim in self._after.items() if id_ not in self._before)
        for claim in self._in_order(found):
            if claim.id in self._restatements:
                continue  # told by the event
            kind = "became known, as a restatement" if claim.restatement else "became known"
            yield f"{self._names.number(claim.id)} {kind}: {quoted(claim.text)}"

    def retired(self) -> Iterator[str]:
        """Also what came and went since the last reading."""
        decided = {
            event.loser: event.decided_by for event in self._events if isinstance(event, Superseded)
        }
        for claim in self._in_order(iter(self._after.values())):
            was = self._before.get(claim.id)
            if claim.active or (was is not None and not was.active):
                continue
            by = f" by {self._names.number(claim.retired_by)}" if claim.retired_by else ""
            why = [line(claim.reason or claim.status, REASON_CHARS)]
            if claim.id in decided:
                why.append(f"decided by {line(decided[claim.id], REASON_CHARS)}")
            number = self._names.number(claim.id)
            yield f"{number} was retired{by} ({', '.join(why)}): {quoted(claim.text)}"

    def restated(self) -> Iterator[str]:
        for event in self._events:
            if not isinstance(event, RestatementExamined) or event.outcome != "restated":
                continue
            new = self._after.get(event.restatement or "")
            said = f": {quoted(new.text)}" if new else "."
            number = self._names.number
            yield (
                f"{number(event.restatement or 'nothing')} restates {number(event.claim)} as"
                f" history, as {number(event.anchor)} was retired by"
                f" {number(event.retired_by)}{said}"
            )

    def gone(self) -> Iterator[str]:
        found = (claim for id_, claim in self._before.items() if id_ not in self._after)
        for claim in self._in_order(found):
            number = self._names.number(claim.id)
            yield f"{number} is not in the store any more: {quoted(claim.text)}"

    def changed(self) -> Iterator[str]:
        for claim in self._in_order(iter(self._after.values())):
            was, number = self._before.get(claim.id), self._names.number(claim.id)
            if was is None or was == claim:
                continue
            if claim.active and not was.active:
                yield f"{number} is held as current again: {quoted(claim.text)}"
            elif claim.text != was.text:
                yield f"{number} was reworded: {quoted(claim.text)}"
            elif claim.active == was.active:
                yield f"{number} is otherwise described: {quoted(claim.text)}"

    def examined(self) -> Iterator[str]:
        number = self._names.number
        for event in self._events:
            if not isinstance(event, RestatementExamined):
                continue
            leaned = f"{number(event.claim)} was looked at, as {number(event.anchor)} was retired"
            if event.outcome == "independent":
                yield f"{leaned}, and does not lean on it."
            if event.outcome == "kept_back":
                against = event.contradicts and f", for contradicting {number(event.contradicts)}"
                reason = f": {line(event.reason, REASON_CHARS)}" if event.reason else "."
                yield f"{leaned}; its restatement was kept back{against or ''}{reason}"

    def unmapped(self) -> Iterator[str]:
        for sentence in self._missing[:5]:
            yield f"The reader could not place this: {line(sentence, REASON_CHARS)}"
        if len(self._missing) > 5:
            yield f"Nor {len(self._missing) - 5} things more."


def _new_events(before: Store, after: Store) -> tuple[Event, ...]:
    """Events that were not there, in their order; the same one may happen twice."""
    known = Counter(event.model_dump_json() for event in before.events)
    found: list[Event] = []
    for event in after.events:
        told = event.model_dump_json()
        if known[told]:
            known[told] -= 1
        else:
            found.append(event)
    return tuple(found)
