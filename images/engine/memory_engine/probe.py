"""A pair of claims from outside, judged as the engine judges its own; no store has a part in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_engine.days import parse_day
from memory_engine.errors import BadRequest
from memory_engine.judge import Judge
from memory_engine.pair import sample


@dataclass(frozen=True, slots=True)
class Stated:
    """One side of a pair."""

    text: str
    day: str | None
    """ISO date it was told on, where that is known."""


def probe(judge: Judge, older: Stated, newer: Stated) -> dict[str, Any]:
    """What the engine's two probes and its past-value rule say of a pair.

    Raises:
        EngineError: a probe got no usable verdict.
    """
    found = sample(judge, older, newer)
    return {
        "contradiction": found.contradiction.yes,
        "update": "changes" if found.changes else "not_changes",
        "past_value_marker": found.past_value,
        "detail": found.evidence(),
    }


def stated(request: Mapping[str, Any], side: str) -> Stated:
    """The older or the newer claim of a request.

    Raises:
        BadRequest: it is no claim.
    """
    claim = request.get(side)
    if not isinstance(claim, dict) or not isinstance(claim.get("text"), str):
        raise BadRequest(f"probe needs the text of the {side} claim")
    text = claim["text"]
    if not text.strip():
        raise BadRequest(f"the {side} claim is empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"the {side} claim is not Unicode text: {error}") from error
    # A day left out is a slip; one that nobody knows is said to be null.
    if "day" not in claim:
        raise BadRequest(f"probe needs the day of the {side} claim, or null")
    day = claim["day"]
    if day is None:
        return Stated(text, None)
    if not isinstance(day, str):
        raise BadRequest(f"the day of the {side} claim is neither YYYY-MM-DD nor null")
    try:
        parse_day(day)
    except ValueError as error:
        raise BadRequest(f"the day of the {side} claim: {error}") from error
    return Stated(text, day)
