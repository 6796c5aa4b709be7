"""One BERT layer over many texts laid end to end, in numpy."""

from collections.abc import Sequence

import numpy as np

from baselines_driver.weights import Array, Weights

_ROWS = 64
"""Rows of the widest state that are bent at a time: what fits a processor's own memory."""
_HALF, _ONE, _ROOT = np.float32(0.5), np.float32(1), np.float32(2**-0.5)
_STEP = np.float32(0.3275911)
_SERIES = tuple(
    np.float32(each) for each in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)
"""The error function by Abramowitz and Stegun, 7.1.26: right to 1.5e-7."""


class Layer:
    """Attention and what follows it, with the weights of one layer."""

    def __init__(self, weights: Weights, number: int) -> None:
        width = weights.sizes.width
        name = f"l{number}."
        self._heads = weights.sizes.heads
        self._epsilon = np.float32(weights.sizes.epsilon)
        # Queries already carry what the scores would be scaled by.
        scale = np.float32((width // self._heads) ** -0.5)
        parts = [weights.matrix(f"{name}{part}.w", width) for part in "qkv"]
        biases = [weights.vector(f"{name}{part}.b") for part in "qkv"]
        self._asked = (
            _turned(np.concatenate([parts[0] * scale, *parts[1:]])),
            np.concatenate([biases[0] * scale, *biases[1:]]),
        )
        wide = weights.vector(f"{name}fi.b")
        self._attended = (
            _turned(weights.matrix(f"{name}ao.w", width)),
            weights.vector(f"{name}ao.b"),
        )
        self._widened = _turned(weights.matrix(f"{name}fi.w", width)), wide
        self._narrowed = (
            _turned(weights.matrix(f"{name}fo.w", len(wide))),
            weights.vector(f"{name}fo.b"),
        )
        self._norms = [
            (weights.vector(f"{name}{part}.w"), weights.vector(f"{name}{part}.b"))
            for part in ("aln", "oln")
        ]

    def __call__(self, state: Array, spans: Sequence[slice]) -> Array:
        """The next state; a row a token, a span a text, which attends to itself alone."""
        asked = _dense(state, self._asked)
        seen = np.empty_like(state)
        for span in spans:
            seen[span] = self._attention(asked[span])
        state = norm(_dense(seen, self._attended) + state, self._norms[0], self._epsilon)
        wide = _dense(state, self._widened)
        for start in range(0, len(wide), _ROWS):
            _bend(wide[start : start + _ROWS])
        return norm(_dense(wide, self._narrowed) + state, self._norms[1], self._epsilon)

    def _attention(self, asked: Array) -> Array:
        length, width = len(asked), asked.shape[1] // 3
        query, key, value = asked.reshape(length, 3, self._heads, -1).transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=-1, keepdims=True)
        seen: Array = ((scores @ value) / sums).transpose(1, 0, 2).reshape(length, width)
        return seen


def norm(state: Array, to: tuple[Array, Array], epsilon: np.float32) -> Array:
    """Each row about nought and of one spread, then scaled and moved; in the place of ``state``."""
    state -= state.mean(axis=-1, keepdims=True)
    spread = np.einsum("ij,ij->i", state, state) / np.float32(state.shape[1])
    state /= np.sqrt(spread + epsilon)[:, None]
    state *= to[0]
    state += to[1]
    return state


def _turned(matrix: Array) -> Array:
    # Laid out anew: for the few tokens of a question that is half again as fast.
    return np.ascontiguousarray(matrix.T)


def _dense(state: Array, to: tuple[Array, Array]) -> Array:
    out: Array = state @ to[0]
    out += to[1]
    return out


def _bend(state: Array) -> None:
    """GELU, in place: each number times how much of a normal distribution lies below it."""
    at = state * _ROOT
    away = np.abs(at)
    step = _ONE / (_ONE + _STEP * away)
    series = step * _SERIES[0]
    for term in _SERIES[1:]:
        series += term
        series *= step
    away *= away
    np.negative(away, out=away)
    np.exp(away, out=away)
    series *= away
    # What is left of one is the error function of the distance; its sign is the number's.
    np.subtract(_ONE, series, out=series)
    np.copysign(series, at, out=series)
    series += _ONE
    state *= _HALF
    state *= series
