"""Text cut into the pieces of a vocabulary, as SentencePiece's unigram model cuts it."""

import re
from functools import lru_cache

from baselines_driver.weights import Vocabulary

SPACE = "\u2581"
"""What a space is written as in a piece. Only ever its first character, so that words are cut one
by one."""
_SPACES = re.compile(" +")


class Cutter:
    """Cuts texts by one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary.pieces))
        # What no piece begins with is far less likely than any piece.
        self._stranger = min(vocabulary.scores) - 10.0
        self._word = lru_cache(maxsize=100_000)(self._cut)

    def __call__(self, text: str) -> list[int]:
        """Ids of the pieces of a text, without those of its start and end."""
        folded = _SPACES.sub(" ", text.translate(self._vocabulary.folds))
        words = (folded if folded.startswith(" ") else f" {folded}").split(" ")
        return [piece for word in words[1:] for piece in self._word(SPACE + word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """The likeliest cutting of a word; of two as likely, the one found first."""
        pieces, scores, unknown = (
            self._vocabulary.pieces,
            self._vocabulary.scores,
            self._vocabulary.unknown,
        )
        best = [0.0] + [-1e30] * len(word)
        came = [(0, unknown)] * (len(word) + 1)
        for start in range(len(word)):
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                piece = pieces.get(word[start:end])
                if piece is not None and best[start] + scores[piece] > best[end]:
                    best[end], came[end] = best[start] + scores[piece], (start, piece)
            if best[start] + self._stranger > best[start + 1]:
                best[start + 1], came[start + 1] = best[start] + self._stranger, (start, unknown)
        cut, end = [], len(word)
        while end:
            end, piece = came[end]
            cut.append(piece)
        return tuple(reversed(cut))
