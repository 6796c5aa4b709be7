"""Full text by SQLite's own BM25: plain words, and nothing of ours in the ranking."""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence

from baselines_driver.pages import Page

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_TERM = re.compile(rf"(?P<han>[{_HAN}]+)|[^\W_{_HAN}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
DIGITS = 6
"""Places of a score that are told."""


class FullText:
    """Titles and bodies in an FTS5 table, in memory."""

    name = "full text"
    encoder: str | None = None

    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None

    def index(self, pages: Sequence[Page]) -> None:
        """Take pages in the place of what was there; they have to come in the order of names."""
        # Where this is called the index is used: not in the thread that warmed up.
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE pages USING"
            " fts5(name UNINDEXED, title, body, tokenize = 'unicode61 remove_diacritics 0')"
        )
        rows = [
            (page.name, " ".join(terms(page.title)), " ".join(terms(page.body))) for page in pages
        ]
        self._db.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)

    def search(self, text: str, count: int) -> list[tuple[str, float]]:
        """Pages that hold any term of a text, with their scores, the best first.

        A page's score is BM25 with the sign turned, so that higher is better. Of pages with the
        same score the first by name is first.
        """
        assert self._db is not None
        words = dict.fromkeys(terms(text))
        if not words:
            return []
        found = self._db.execute(
            "SELECT name, bm25(pages) AS cost FROM pages WHERE pages MATCH ?"
            " ORDER BY cost, rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), count),
        )
        return [(str(name), round(-cost, DIGITS)) for name, cost in found]


def terms(text: str) -> list[str]:
    """What a text is found by: its words without case and accents, Chinese as pairs of characters.

    A Chinese character that stands alone is a term by itself.
    """
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    found: list[str] = []
    for term in _TERM.finditer(unicodedata.normalize("NFC", plain).casefold()):
        word = term.group()
        if term["han"] and len(word) > 1:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found
