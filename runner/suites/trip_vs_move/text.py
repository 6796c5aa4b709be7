"""What a checked sentence says, decided by its words alone.

Words and places match whole and without regard to case. A name of several words matches across
any run of blanks, and accents match however they are encoded.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from runner.model import Claim

_AS_OF = re.compile(r"\bas\s+of\s+(\d{4}-\d{2}-\d{2})\b", re.IGNORECASE)
_ISO_DAY = re.compile(r"(?<![\w-])(\d{4}-\d{2}-\d{2})(?![\w-])")
_PAST = ("was", "were")


def says(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text as whole words."""
    return _pattern(unicodedata.normalize("NFC", phrase)).search(_plain(text)) is not None


def says_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether any of the phrases stands in the text as whole words."""
    return any(says(text, phrase) for phrase in phrases)


def past_tense(text: str) -> bool:
    """Whether it has a ``was`` or a ``were``."""
    return says_any(text, _PAST)


def dated(text: str) -> bool:
    """Whether it says ``as of`` some ISO day."""
    return any(_is_day(found) for found in _AS_OF.findall(text))


def names_a_day(text: str) -> bool:
    """Whether an ISO day stands in it."""
    return any(_is_day(found) for found in _ISO_DAY.findall(text))


def dated_restatement(claim: Claim) -> bool:
    """Whether the store rewrote the claim as history: ``as of`` a day, and in the past tense."""
    return claim.restatement and dated(claim.text) and past_tense(claim.text)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@lru_cache(maxsize=512)
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
