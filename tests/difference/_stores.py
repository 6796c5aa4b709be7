"""Stores as a hostile writer would fill them, in the form in which their reports save them.

Every one is made from its number alone, so that a test that fails names what it failed on.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

CASES: dict[str, tuple[str, str, str]] = {
    "reader": ("reader-01.md", "reader-01.md", "reader-02-moved.md"),
    "mid-trip": ("session-04.md", "session-11.md", "session-12-moved.md"),
}
"""Notes of the home, the trip and the move."""
MOVES = {"reader": date(2026, 10, 1), "mid-trip": date(2026, 10, 9)}

PLACES = ("Delhi", "Mumbai")
PLAIN = (
    *PLACES * 4,
    *("DELHI", "delhi", "mUMBAI", "New Delhi", "Delhi's", "Navi Mumbai", "Bandra", "Lajpat Nagar"),
    *("live", "lives", "living", "home", "flat", "reside", "resides", "residence", "Home", "LIVES"),
    *("fly", "flies", "flying", "flight", "back to", "Back To"),
    *("for a week", "week-long", "work trip", "trip", "visit", "visiting", "temporary"),
    *("temporarily", "Trip", "FOR A WEEK", "was", "were", "WAS", "is", "are", "moved", "moves"),
    *("as of 2026-09-04", "As of 2026-10-08", "AS OF 2026-09-01", "as of 2028-02-29"),
    *("the user", "The user", "a hotel", "vegetarian", "for work", "by train", "not", "and"),
)
BORDERS = (
    *("(Delhi)", "Delhi-based", "Delhi/NCR", "“Delhi”", "Delhi.", "Mumbai,", "Delhi—home"),
    *(
        "alive",
        "relive",
        "lively",
        "homely",
        "flatmate",
        "inflight",
        "butterfly",
        "flights",
        "flat-",
    ),
    *("home-office", "back-to", "backs to", "back too", "flown", "trips", "visits", "revisit"),
    *(
        "visitor",
        "for a weekend",
        "for a week's",
        "for a-week",
        "for weeks",
        "weeklong",
        "week long",
    ),
    *(
        "wash",
        "wasn't",
        "weren't",
        "was-",
        "were.",
        "contemporary",
        "strip",
        "living-room",
        "lives'",
    ),
    *("as of 2026-9-4", "as of 20260904", "as of 2026-09-041", "as of 2026-09-04T10:00", "asof"),
    *("has of 2026-09-04", "as of-2026-09-04", "as of 2026-09-04.", "as of (2026-09-04)", "as of"),
    *(
        "2026-09-04",
        "as of September 2026",
        "ａｓ ｏｆ 2026-09-04",
        "Ｄｅｌｈｉ",
        "D elhi",
        "Del\u200bhi",
    ),
    *(
        "live\u200d",
        "wa\u017f",
        "live\u017f",
        "wee\u212a",
        "for a wee\u212a",
        "vi\u017fit",
    ),
    *("Delhi\u0327", "ho\u00adme", "back\u200bto", "week\u2011long", "دلهي", "दिल्ली", "德里", "🏠"),
)
PART = ("Delhiites", "_Delhi_", "Delhi2", "NewDelhi", "Mumbaikar", "delhi_home", "Mumbai\u0967")
BLANKS = (
    *("back  to", "back\nto", "back\u00a0to", "back\tto", "back\x1cto", "for a  week"),
    *("for\u2003a week", "work\ttrip", "as  of 2026-09-04", "as of\n2026-09-04"),
    *("as\u00a0of 2026-09-04",),
)
ACCENTS = (
    "flat\u0308",
    "Delhi\u0301",
    "Mumbai\u0308",
    "home\u0301",
    "live\u0301",
    "trip\u0301",
    "was\u0301",
)
LETTERS = ("Delh\u0131", "Mumba\u0131")
NO_DAY = ("as of 2026-13-40", "as of 2026-02-30", "as of 0000-01-01", "as of ٢٠٢٦-٠٩-٠٤")
NOTES_LIKE = ("an-older-{}", "x{}", "-{}")
NOTES_OTHER = ("{}.bak", "{} ", "README.md", "file:///notes/{}", "notes/{}", "{}?page=2", "{}/")

ODD = (PART, BLANKS, ACCENTS, LETTERS, NO_DAY)
GLUE = (
    *(" ",) * 12,
    "  ",
    ", ",
    ". ",
    "; ",
    " - ",
    "-",
    "",
    "_",
    "\n",
    "'",
    "\u2019",
    "\u00a0",
    "/",
)
STATUSES = (
    *("ACTIVE",) * 7,
    "SUPERSEDED",
    "PROVENANCE_STALE",
    "INCONSISTENCY",
    "active",
    "ACTIVE ",
)
OFFSETS = ("", "Z", "+00:00", "+05:30", "-11:00", "+14:00")


@dataclass(frozen=True)
class Made:
    """One store, and what it is to be checked as."""

    case: str
    version: int
    trip_alone: bool
    rows: list[dict[str, Any]]
    events: list[dict[str, Any]]

    @property
    def kind(self) -> Literal["move", "trip-alone"]:
        return "trip-alone" if self.trip_alone else "move"

    def asked(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "version": self.version,
            "trip_alone": self.trip_alone,
            "rows": self.rows,
            "events": self.events,
        }


def store(number: int, *, odd: bool | None = None, of: tuple[str, int] | None = None) -> Made:
    """The store of that number: every case, version and kind in turn.

    Args:
        number: what it is made from.
        odd: whether words are in it that the two are known to read differently; in every other
            store when left out.
        of: the case and the version of the checks, where it is to be of these.
    """
    rng = random.Random(number)
    case, version = of or (("reader", 2), ("mid-trip", 1), ("mid-trip", 2))[number % 3]
    odd = rng.random() < 0.5 if odd is None else odd
    notes = CASES[case]
    rows = [_row(rng, case, place, odd) for place in range(rng.choice((0, 1, 2, 3, 4, 6, 9)))]
    ids = [row["id"] for row in rows] + ["elsewhere", ""]
    events = [_event(rng, ids) for _ in range(rng.choice((0, 0, 1, 2, 4, 8)))]
    # Without a claim of the move no move run passes, and without both halves no trip alone.
    if rng.random() < 0.6:
        rows.append(_sound(rng, "s1", f"The user moved to {PLACES[1]}.", notes[2]))
        rows.append(_sound(rng, "s2", f"The user lives in {PLACES[0]}.", notes[0]))
        rows.append(_sound(rng, "s3", f"The user is in {PLACES[1]} for a week.", notes[1]))
    rng.shuffle(rows)
    return Made(case, version, rng.random() < 0.4, rows, events)


def text(rng: random.Random, odd: bool) -> str:
    """A claim's words."""
    words = []
    for _ in range(rng.choice((1, 2, 3, 3, 4, 5, 7))):
        pool: Sequence[str] = PLAIN if rng.random() < 0.75 else BORDERS
        if odd and rng.random() < 0.15:
            pool = rng.choice(ODD)
        words.append(rng.choice(pool))
    glue = " " if not odd or rng.random() < 0.4 else None
    return "".join(
        word + (glue or rng.choice(GLUE) if place < len(words) - 1 else "")
        for place, word in enumerate(words)
    )


def _row(rng: random.Random, case: str, place: int, odd: bool) -> dict[str, Any]:
    restatement = rng.random() < 0.3
    return {
        "id": f"c{place}",
        "content": text(rng, odd),
        "status": rng.choice(STATUSES),
        "reason": rng.choice((None, "SUPERSEDED_BY_UPDATE")),
        "sources": [_source(rng, case, odd) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3)))],
        "restatement": restatement,
        "valid_from": None,
        "valid_until": _end(rng, MOVES[case]),
        "valid_kind": None,
    }


def _sound(rng: random.Random, id_: str, content: str, note: str) -> dict[str, Any]:
    gone = rng.random() < 0.5
    return {
        "id": id_,
        "content": content,
        "status": "SUPERSEDED" if gone else "ACTIVE",
        "sources": [note],
        "restatement": False,
        "valid_until": None,
    }


def _source(rng: random.Random, case: str, odd: bool) -> str:
    note = rng.choice(CASES[case])
    if rng.random() < 0.8:
        return note
    return rng.choice((*NOTES_OTHER, *NOTES_LIKE) if odd else NOTES_OTHER).format(note)


def _end(rng: random.Random, move: date) -> str | None:
    if rng.random() < 0.6:
        return None
    midnight = datetime.combine(move, datetime.min.time())
    apart = rng.choice((timedelta(0), timedelta(days=-1), timedelta(days=1), timedelta(days=-23)))
    small = rng.choice((timedelta(0), timedelta(microseconds=-1), timedelta(hours=12)))
    return (midnight + apart + small).isoformat() + rng.choice(OFFSETS)


def _event(rng: random.Random, ids: list[str]) -> dict[str, Any]:
    said: dict[str, Any] = {"retired_id": rng.choice(ids), "winner_id": rng.choice(ids)}
    kind = rng.choice(("UPDATE_SUPERSESSION", "DEPENDENT_CLAIM_EXAMINED", "CONSOLIDATION_RUN"))
    if kind == "DEPENDENT_CLAIM_EXAMINED":
        why = ("the restatement contradicts a claim", "The restatement contradicts a claim")
        said = {
            "particle_id": rng.choice(ids),
            "retired_id": rng.choice(ids),
            "other_id": rng.choice((*ids, None)),
            "outcome": rng.choice(
                (*("unrestated",) * 4, "restated", "matched_existing", "dependency_rejected", "odd")
            ),
            "why": rng.choice((why[0], why[0], why[0], why[1], "unfaithful", "", None)),
            "restatement": "The user lived there, as of 2026-09-04.",
        }
    for name in list(said):
        if rng.random() < 0.05:
            del said[name]
    return {"event_type": kind, "payload": said}
