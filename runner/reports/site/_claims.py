"""The lives of a store's claims: when each was first seen, what became of it, and through what."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from runner.model import (
    Claim,
    Event,
    OtherEvent,
    RestatementExamined,
    RunRecord,
    SnapshotRecord,
    Superseded,
)
from runner.plain import plain

NOT_YET = ""
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Part:
    """Words, and where they lead."""

    text: str
    href: str = ""
    """Empty where they lead nowhere."""


Told = tuple[Part, ...]
"""A line of words, some of which are links."""


@dataclass(slots=True)
class Life:
    """One claim from its first snapshot to its last."""

    anchor: str
    claim: Claim
    """As it was last seen."""
    states: tuple[str, ...]
    """Its status at every snapshot; empty before it was there, ``gone`` after."""
    history: list[Told] = field(default_factory=list)
    cited: list[Told] = field(default_factory=list)
    """The checks that rest on it."""

    @property
    def standing(self) -> bool:
        """Whether the store holds it as current at the end."""
        return self.claim.active and self.states[-1] != GONE


@dataclass(frozen=True, slots=True)
class Lives:
    """All claims of a run."""

    snapshots: tuple[SnapshotRecord, ...]
    lives: tuple[Life, ...]
    """In the order in which they were first seen."""
    events: tuple[str, ...]
    """Every event of the store, as JSON."""
    unmapped: tuple[str, ...]
    """What the reader could not map."""
    _anchors: Mapping[str, str]

    def link(self, id_: str) -> Part:
        """A claim by the first words of its text, leading to it; by its id where it is not
        there."""
        anchor = self._anchors.get(id_)
        if anchor is None:
            return Part(f"claim {id_}, which is not in the store")
        [life] = [one for one in self.lives if one.anchor == anchor]
        return Part(f"“{brief(life.claim.text)}”", f"#{anchor}")


def brief(text: str, longest: int = 90) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def lives(run: RunRecord) -> Lives:
    """What became of every claim of a run's store."""
    seen = [_keyed(snapshot.store.claims) for snapshot in run.snapshots]
    order = list(dict.fromkeys(key for one in seen for key in one))
    anchors: dict[str, str] = {}
    found = []
    for number, key in enumerate(order, 1):
        anchors.setdefault(key[0], f"c{number}")
        views = [one.get(key) for one in seen]
        last = next(view for view in reversed(views) if view is not None)
        found.append(Life(f"c{number}", last, tuple(_states(views))))
        found[-1].history += _changes(run.snapshots, views)
    events = list(dict.fromkeys(_all_events(run)))
    told = Lives(
        snapshots=run.snapshots,
        lives=tuple(found),
        events=tuple(one.json for one in events),
        unmapped=tuple(dict.fromkeys(u for one in run.snapshots for u in one.store.unmapped)),
        _anchors=anchors,
    )
    for one in events:
        if one.event is not None:
            _happened(told, one.event)
    _relate(told)
    for result in run.checks:
        for check in result.checks:
            for line in check.evidence:
                for id_ in _named(line, anchors):
                    life = next(one for one in found if one.anchor == anchors[id_])
                    how = "holds" if check.passed else "is broken"
                    life.cited.append(
                        (Part(f"checks v{result.version}: ({check.id}) {how}", "#checks"),)
                    )
    return told


_Key = tuple[str, int]


def _keyed(claims: Sequence[Claim]) -> dict[_Key, Claim]:
    """Claims by id; one that has another's id is another all the same."""
    found: dict[_Key, Claim] = {}
    for claim in claims:
        number = 0
        while (claim.id, number) in found:
            number += 1
        found[claim.id, number] = claim
    return found


def _states(views: Sequence[Claim | None]) -> Iterator[str]:
    was = False
    for view in views:
        was = was or view is not None
        yield view.status if view is not None else GONE if was else NOT_YET


_FOLLOWED = ("text", "status", "reason", "valid_from", "valid_until", "retired_by", "anchor")


def _changes(snapshots: Sequence[SnapshotRecord], views: Sequence[Claim | None]) -> Iterator[Told]:
    """What of a claim is otherwise than in the snapshot before, a line each."""
    before: Claim | None = None
    for snapshot, view in zip(snapshots, views, strict=True):
        if view is None:
            if before is not None:
                yield (Part(f"after {snapshot.step}: no longer in the store"),)
        elif before is None:
            yield (Part(f"after {snapshot.step}: first seen, {view.status}"),)
        else:
            told = [
                f"{name.replace('_', ' ')} {_word(was)} → {_word(now)}"
                for name in _FOLLOWED
                if name not in ("retired_by", "anchor")
                and (was := getattr(before, name)) != (now := getattr(view, name))
            ]
            if told:
                yield (Part(f"after {snapshot.step}: {'; '.join(told)}"),)
        before = view


def _word(value: object) -> str:
    return "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class _Seen:
    """An event, told apart by all it says."""

    json: str
    event: Superseded | RestatementExamined | None = field(compare=False)
    """None for one that no check reads."""


def _all_events(run: RunRecord) -> Iterator[_Seen]:
    for snapshot in run.snapshots:
        for event in snapshot.store.events:
            dumped = orjson.dumps(event.model_dump(mode="json")).decode()
            yield _Seen(dumped, None if isinstance(event, OtherEvent) else event)


_SUPERSEDED_BY = "superseded by "


def _relate(told: Lives) -> None:
    """What claims say of each other in their own fields."""
    by_anchor = {life.anchor: life for life in told.lives}
    for life in told.lives:
        claim = life.claim
        told_already = any(line[0].text == _SUPERSEDED_BY for line in life.history)
        if claim.retired_by is not None and not told_already:
            life.history.append((Part("retired by "), told.link(claim.retired_by)))
            winner = by_anchor.get(told._anchors.get(claim.retired_by, ""))
            if winner is not None:
                winner.history.append((Part("retired "), told.link(claim.id)))
        if claim.restatement:
            leans = () if claim.anchor is None else (
                Part("; what it restates leaned on "), told.link(claim.anchor),
            )  # fmt: skip
            life.history.append((Part("written by the store, as dated history"), *leans))


def _happened(told: Lives, event: Event) -> None:
    """An event, told at every claim it is about."""
    by_anchor = {life.anchor: life for life in told.lives}

    def at(id_: str | None, *line: Part) -> None:
        life = by_anchor.get(told._anchors.get(id_ or "", ""))
        if life is not None and line not in life.history:
            life.history.append(line)

    if isinstance(event, Superseded):
        at(event.loser, Part(_SUPERSEDED_BY), told.link(event.winner),
           Part(f", decided by {event.decided_by}"))  # fmt: skip
        at(event.winner, Part("superseded "), told.link(event.loser),
           Part(f", decided by {event.decided_by}"))  # fmt: skip
    elif isinstance(event, RestatementExamined):
        line = [
            Part("looked at when "), told.link(event.anchor), Part(" was retired by "),
            told.link(event.retired_by), Part(f": {event.outcome.replace('_', ' ')}"),
        ]  # fmt: skip
        if event.reason:
            line.append(Part(f" ({plain(event.reason)})"))
        if event.contradicts is not None:
            line += [Part(", as it contradicts "), told.link(event.contradicts)]
        if event.restatement is not None:
            line += [Part(", written anew as "), told.link(event.restatement)]
            at(event.restatement, Part("restates "), told.link(event.claim))
        at(event.claim, *line)
        at(event.anchor, Part("leaned on by "), told.link(event.claim),
           Part(f": {event.outcome.replace('_', ' ')}"))  # fmt: skip


_BY_ID = re.compile(r'^"(?P<text>.*)" \((?P<id>[^()]*)\)$', re.DOTALL)
_KEPT_BACK = re.compile(r"^kept back: (?P<id>.+), for contradicting (?P<other>.+)$", re.DOTALL)


def _named(line: str, anchors: Mapping[str, str]) -> list[str]:
    """The claims that a line of evidence is about, as far as they are in the store."""
    for form in (_BY_ID, _KEPT_BACK):
        if found := form.match(line):
            return [id_ for name, id_ in found.groupdict().items() if name != "text"
                    and id_ in anchors]  # fmt: skip
    return []


def evidence(line: str, told: Lives) -> Told:
    """A line of evidence with its claims as links; as it is where it names none."""
    if not _named(line, told._anchors):
        return (Part(line),)
    if found := _BY_ID.match(line):
        return (Part(f"“{found['text']}”", told.link(found["id"]).href),)
    found = _KEPT_BACK.match(line)
    assert found is not None
    return (
        Part("kept back: "), told.link(found["id"]), Part(", for contradicting "),
        told.link(found["other"]),
    )  # fmt: skip
