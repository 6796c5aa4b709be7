"""Their rows and events as claims and events of this bench."""

from collections.abc import Mapping, Sequence

from runner.model import ACTIVE, Claim, Event, OtherEvent, RestatementExamined, Store, Superseded
from runner.reports.upstream.schema import SavedEvent, SavedRow

_OUTCOMES: Mapping[object, str] = {
    "restated": "restated",
    "matched_existing": "restated",
    "unrestated": "kept_back",
    "dependency_rejected": "independent",
}
_CONTRADICTS = "the restatement contradicts"
"""How their event says why a restatement was kept back."""


def store(rows: Sequence[SavedRow], events: Sequence[SavedEvent]) -> Store:
    """What the store of a finished run held.

    What retired a claim is what the last event of its update says; what retired the anchor of a
    restatement likewise, so events are read as a whole. An event that lacks what the checks read
    is kept as it is, and breaks none of them, as with theirs.
    """
    winners = _winners(events)
    claims = tuple(
        Claim(
            id=row.id,
            text=row.content,
            status=row.status,
            reason=row.reason,
            sources=tuple(dict.fromkeys(_note(source) for source in row.sources)),
            restatement=row.restatement,
            retired_by=None if row.status == ACTIVE else winners.get(row.id),
            valid_from=None if row.valid_from is None else row.valid_from.date(),
            valid_until=row.ends,
        )
        for row in rows
    )
    return Store(claims=claims, events=tuple(_event(event, winners) for event in events))


def _winners(events: Sequence[SavedEvent]) -> dict[str, str]:
    winners = {}
    for event in events:
        loser, winner = event.payload.get("retired_id"), event.payload.get("winner_id")
        if event.event_type == "UPDATE_SUPERSESSION" and isinstance(loser, str) and loser:
            winners[loser] = winner
    return {loser: winner for loser, winner in winners.items() if isinstance(winner, str)}


def _event(event: SavedEvent, winners: Mapping[str, str]) -> Event:
    said = event.payload
    loser, winner = said.get("retired_id"), said.get("winner_id")
    if event.event_type == "UPDATE_SUPERSESSION":
        if isinstance(loser, str) and isinstance(winner, str):
            decided = said.get("decided_by")
            how = decided if isinstance(decided, str) else ""
            return Superseded(loser=loser, winner=winner, decided_by=how, payload=said)
    elif event.event_type == "DEPENDENT_CLAIM_EXAMINED":
        outcome, why, other = said.get("outcome"), said.get("why"), said.get("other_id")
        claim = said.get("particle_id")
        known = _OUTCOMES.get(outcome) if isinstance(outcome, str) else None
        if known is not None and isinstance(loser, str) and loser in winners:
            reason = why if isinstance(why, str) else ""
            against = other if isinstance(other, str) and reason.startswith(_CONTRADICTS) else None
            return RestatementExamined.model_validate(
                {
                    "claim": claim if isinstance(claim, str) else "",
                    "anchor": loser,
                    "retired_by": winners[loser],
                    "contradicts": against,
                    "outcome": known,
                    "reason": reason,
                    "restatement": other if outcome == "matched_existing" else None,
                    "payload": said,
                }
            )
    return OtherEvent(type=event.event_type, payload=said)


def _note(source: str) -> str:
    """The name of a note, where its whole address was saved."""
    return source.rpartition("/")[2] or source
