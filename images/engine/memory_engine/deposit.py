"""Taking in one note: its claims, and what they do to the standing ones, in one transaction."""

import uuid
from typing import Any

from memory_engine.errors import BadRequest
from memory_engine.judge import Judge
from memory_engine.replies import Extracted
from memory_engine.settings import Options
from memory_engine.store import Changes, Claim, Event, Note, Store
from memory_engine.update import Clock, Reconciliation


def deposit(
    store: Store, judge: Judge, options: Options, clock: Clock, note: Note
) -> dict[str, Any]:
    """Take in a note; returns what became of it, in counts.

    The note is kept as pending before the first model call. Everything it teaches is written
    together after the last one, so an interrupted deposit leaves nothing but the pending note, and
    the same deposit made again finishes it. One that is done already is left alone.

    Raises:
        BadRequest: a note of that name is done and has other bytes or another day.
        EngineError: a model call failed; the note stays pending.
    """
    known = store.note(note.name)
    if known is not None and known.done:
        if (known.sha256, known.day) != (note.sha256, note.day):
            raise BadRequest(
                f"the note {note.name} is in the store with other bytes or another day"
            )
        return {"note": note.name, "already": True, "claims": 0, "retired": 0, "probes": 0}
    store.receive(note, clock())
    changes = Changes()
    standing = store.claims(active=True)
    for extracted in judge.extract(note):
        changes.claims.append(_claim(note, extracted, clock, changes))
    work = Reconciliation(judge, options, clock, changes)
    work.run(changes.claims, standing)
    store.finish(note, changes, clock())
    return {
        "note": note.name,
        "already": False,
        "claims": len(changes.claims),
        "retired": len(changes.retirements),
        "probes": work.probes,
    }


def _claim(note: Note, extracted: Extracted, clock: Clock, changes: Changes) -> Claim:
    """The claim of one extracted statement; an end date that has passed is dropped, and said so."""
    now = clock()
    until = extracted.valid_until
    claim_id = str(uuid.uuid4())
    if until is not None and until <= now.date():
        changes.events.append(
            Event(
                "END_DATE_DROPPED",
                now.isoformat(),
                {
                    "claim": claim_id,
                    "valid_until": until.isoformat(),
                    "today": now.date().isoformat(),
                },
            )
        )
        until = None
    return Claim(
        id=claim_id,
        text=extracted.text,
        subject=extracted.subject,
        day=note.day,
        sources=(note.name,),
        asserted_at=now.isoformat(),
        valid_until=None if until is None else until.isoformat(),
    )
