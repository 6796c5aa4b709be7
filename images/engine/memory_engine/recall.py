"""What the store puts before an agent's model for a question. No model is asked, nothing written.

Standing claims alone: one that was replaced never comes. They are ranked by how many of the
question's words they hold, in whatever English form; of as many, the newer comes first. A store
of so few claims is never silent: one that shares no word still comes after those that do.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from memory_engine.errors import BadRequest
from memory_engine.store import Claim, Store
from memory_engine.words import content_words

LONGEST_QUESTION = 8192
"""In characters."""
MOST = 200
"""Statements that one question may ask for."""


def recall(store: Store, question: str, top_k: int) -> dict[str, Any]:
    """At most ``top_k`` statements, best first, each with the share of the question's words that
    it holds as its score, from 0 to 1.
    """
    claims = store.claims(active=True)
    words = sorted(content_words(question))
    held = _held([claim.text for claim in claims], words)

    def rank(place: int) -> tuple[int, str, int]:
        # What is told as history was written last, and is as old as what it tells.
        return held[place], claims[place].day, claims[place].seq

    best = sorted(range(len(claims)), key=rank, reverse=True)[:top_k]
    return {
        "statements": [
            _statement(claims[place], held[place] / len(words) if words else 0.0) for place in best
        ]
    }


def asked(request: Mapping[str, Any]) -> tuple[str, int]:
    """The question of a request, and how many statements it may bring up.

    Raises:
        BadRequest: it holds no question, or no such number.
    """
    question, top_k = request.get("question"), request.get("top_k")
    if not isinstance(question, str) or not 0 < len(question.strip()) <= LONGEST_QUESTION:
        raise BadRequest(f"recall needs a question of 1 to {LONGEST_QUESTION} characters")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= MOST:
        raise BadRequest(f"recall needs a top_k from 1 to {MOST}")
    return question, top_k


def _held(texts: Sequence[str], words: Sequence[str]) -> list[int]:
    """How many of the words each text holds, by their stems."""
    held = [0] * len(texts)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')")
        db.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", enumerate(texts))
        for word in words:
            for (place,) in db.execute("SELECT rowid FROM said WHERE said MATCH ?", (f'"{word}"',)):
                held[place] += 1
    return held


def _statement(claim: Claim, score: float) -> dict[str, Any]:
    return {
        "text": claim.text,
        "day": claim.asserted_at[:10],
        "score": round(score, 3),
        "source": ", ".join(claim.sources) or None,
    }
