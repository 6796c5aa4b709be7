"""Where the two checks read the same words differently: every way that is known, by its name.

Their checks look for places anywhere in a claim and for phrases as they are typed; ours look for
whole words, across any blanks, in one form of Unicode. ``docs/differences.md`` tells each apart.
"""

import re
import unicodedata
from collections.abc import Iterable

from runner.model import Claim
from runner.suites.trip_vs_move import Case
from runner.suites.trip_vs_move.checks import V1_RESIDENCE_OR_FLIGHT, V1_TRIP
from runner.suites.trip_vs_move.text import dated, says

PART_OF_A_WORD = "a place as a part of a longer word"
BLANKS = "words of a phrase apart by something else than one space"
ACCENTS = "an accent written as a character of its own"
LETTERS = "a letter that equals another only in some ways of comparing"
NO_DAY = "no day of the calendar after as of"
ANOTHER_NOTE = "a note whose name merely ends like the one meant"

KNOWN = (PART_OF_A_WORD, BLANKS, ACCENTS, LETTERS, NO_DAY, ANOTHER_NOTE)

_PAST = ("was", "were")


def apart(case: Case, claim: Claim) -> tuple[str, ...]:
    """In which known ways the two read a claim differently; empty where they do not.

    Any of them may, or may not, make a check come out otherwise.
    """
    text = claim.text
    found = [_place(place, text) for place in (case.home, case.away) if _names_apart(place, text)]
    found += [_phrase(words, text) for words in _phrases(case) if _says_apart(words, text)]
    if _dated(text) != dated(text):
        found.append(_as_of(text))
    notes = (case.home_note, case.trip_note, case.move_note)
    if any(_ends_like(claim, note) != (note in claim.sources) for note in notes):
        found.append(ANOTHER_NOTE)
    return tuple(one for one in KNOWN if one in found)


def _phrases(case: Case) -> Iterable[str]:
    words = case.words
    return dict.fromkeys(
        (*words.residence, *words.flight, *words.trip, *_PAST, *V1_RESIDENCE_OR_FLIGHT, *V1_TRIP)
    )


# ---------------------------------------------------------------- as theirs reads


def _names(place: str, text: str) -> bool:
    return place.lower() in text.lower()


def _says(phrase: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE) is not None


def _dated(text: str) -> bool:
    return re.search(r"\bas of \d{4}-\d{2}-\d{2}\b", text, re.IGNORECASE) is not None


def _ends_like(claim: Claim, note: str) -> bool:
    return any(source.endswith(note) for source in claim.sources)


# ---------------------------------------------------------------- told apart


def _names_apart(place: str, text: str) -> bool:
    return _names(place, text) != says(text, place)


def _says_apart(phrase: str, text: str) -> bool:
    return _says(phrase, text) != says(text, phrase)


def _place(place: str, text: str) -> str:
    whole = _composed(text)
    if not _names_apart(place, whole):
        return ACCENTS
    return PART_OF_A_WORD if _names(place, whole) else LETTERS


def _phrase(phrase: str, text: str) -> str:
    whole = _composed(text)
    if not _says_apart(phrase, whole):
        return ACCENTS
    return BLANKS if not _says_apart(phrase, _spaced(whole)) else LETTERS


def _as_of(text: str) -> str:
    return NO_DAY if _dated(text) else BLANKS


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)
