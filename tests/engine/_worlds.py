"""Two small worlds of notes, with a model that reads them as they are meant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.engine._provider import Asked, Reply


@dataclass(frozen=True)
class World:
    """Notes by day, and what the model makes of them."""

    notes: tuple[tuple[str, str, str], ...]
    """Name, day, text."""
    extracted: Mapping[str, list[dict[str, Any]]]
    """Replies by note."""
    changed: frozenset[tuple[str, str]] = frozenset()
    """Pairs of older and newer text that are a change."""
    contradicting: frozenset[tuple[str, str]] = frozenset()
    leans: Mapping[str, str] = field(default_factory=dict)
    """Restatements by text of what leans."""
    override: Callable[[Asked], Reply | None] = lambda asked: None

    def script(self, asked: Asked) -> Reply:
        special = self.override(asked)
        if special is not None:
            return special
        document = asked.document
        if asked.task == "extraction":
            return self.extracted[document["note"]["name"]]
        if asked.task == "faithfulness":
            return {"depended": True, "faithful": True, "reason": "as it was"}
        if asked.task == "reanchor":
            return {"claims": [self._answer(each) for each in document["candidates"]]}
        pair = (document["older"]["text"], document["newer"]["text"])
        if asked.task == "contradiction":
            return {"reason": "x", "verdict": "YES" if pair in self.contradicting else "NO"}
        if pair in self.changed:
            return {"reason": "x", "slot": "CHANGES", "verdict": "YES"}
        return {"reason": "x", "slot": "NONE", "verdict": "NO"}

    def _answer(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        restatement = self.leans.get(candidate["text"])
        verdict = "STANDS" if restatement is None else "LEANS"
        anchor = None if restatement is None else 1
        return {
            "n": candidate["n"],
            "verdict": verdict,
            "anchor": anchor,
            "restatement": restatement,
            "reason": "x",
        }


def said(text: str, subject: str = "the user", until: str | None = None) -> dict[str, Any]:
    """One extracted statement."""
    return {"text": text, "subject": subject, "valid_until": until}


HOME = "The user lives in Porto."
WEEK = "The user is in Ghent for a week, as of 2026-09-01."
MOVED = "The user moved to Ghent."

READER = World(
    notes=(
        ("n1.md", "2026-09-01", "I live in Porto, but I'm in Ghent for a week."),
        ("n2.md", "2026-10-01", "I moved to Ghent."),
    ),
    extracted={
        "n1.md": [said(HOME), said(WEEK, until="2026-09-08")],
        "n2.md": [said(MOVED)],
    },
    changed=frozenset({(HOME, MOVED), (WEEK, MOVED)}),
)

FLAT = "The user lives in Cedofeita, Porto."
WALK = "Casa Lua is a five-minute walk from the user's flat in Cedofeita, Porto."
DIET = "The user does not eat meat."
STAY = "The user is staying at a hotel in Patershol, Ghent."
FLIGHT = "The user will fly back to Porto on 2026-10-15."
WALKED = (
    "Casa Lua was a five-minute walk from the user's flat in Cedofeita, Porto, as of 2026-09-04."
)
FLEW = "As of 2026-10-08, when the user was in Ghent, they were to fly to Porto on 2026-10-15."

MID_TRIP = World(
    notes=(
        ("a.md", "2026-09-04", "I live in Porto, in Cedofeita."),
        ("b.md", "2026-10-08", "I'm in Ghent for a week for work."),
        ("c.md", "2026-10-09", "I moved to Ghent."),
    ),
    extracted={
        "a.md": [said(FLAT), said(WALK, "Casa Lua"), said(DIET)],
        "b.md": [said("The user is in Ghent for a week."), said(STAY), said(FLIGHT)],
        "c.md": [said(MOVED)],
    },
    changed=frozenset({(FLAT, MOVED), (STAY, MOVED), ("The user is in Ghent for a week.", MOVED)}),
    leans={WALK: WALKED, FLIGHT: FLEW},
)

SMALL = World(
    notes=(MID_TRIP.notes[0], MID_TRIP.notes[2]),
    extracted={
        "a.md": [said(FLAT), said(WALK, "Casa Lua"), said(FLIGHT)],
        "c.md": [said(MOVED)],
    },
    changed=MID_TRIP.changed,
    leans=MID_TRIP.leans,
)


def on(day: str) -> Callable[[], datetime]:
    """A clock that stands at noon of a day."""
    time = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC)
    return lambda: time
