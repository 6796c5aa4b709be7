"""A small model in the encoder's file format, and what it makes of a text, worked out at length."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

WIDTH, WIDE, HEADS, LAYERS, WINDOW = 32, 64, 2, 2, 12
EPSILON = 1e-12
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = (
    *("▁", "▁query", "▁passage", ":", "▁the", "▁dog", "▁runs", "s", "a", "b", "c", "d", "e"),
    *("▁office", "▁in", "▁pune", "is", "▁where", "▁wh", "er", "办公室", "办", "公", "在", "浦"),
)
FOLDS = {ord("Ａ"): "a", ord("\n"): " ", 0x200B: "", ord("ﬁ"): "fi"}
START, END, UNKNOWN = 0, 2, 3


@dataclass
class Model:
    """Pieces with their scores, and every tensor as it is after the rounding to four bits."""

    pieces: list[str] = field(default_factory=lambda: [*MARKS, *WORDS])
    scores: list[float] = field(default_factory=list)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    _packed: dict[str, tuple[int, bytes, int]] = field(default_factory=dict)

    @classmethod
    def made(cls, seed: int = 1) -> "Model":
        """One of random weights."""
        model, random = cls(), np.random.default_rng(seed)
        count = len(model.pieces)
        model.scores = [0.0] * len(MARKS)
        model.scores += [-1.0 - 0.25 * place for place in range(count - len(MARKS))]
        model._matrix("emb.word", random, count, WIDTH)
        for name, rows in (("emb.pos", WINDOW), ("emb.type", 2)):
            model._vector(name, random.normal(0, 0.1, rows * WIDTH))
        model._norm("emb.ln", random)
        for layer in range(LAYERS):
            for part, rows, columns in (
                *(("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH), ("v", WIDTH, WIDTH)),
                *(("ao", WIDTH, WIDTH), ("fi", WIDE, WIDTH), ("fo", WIDTH, WIDE)),
            ):
                model._matrix(f"l{layer}.{part}.w", random, rows, columns)
                model._vector(f"l{layer}.{part}.b", random.normal(0, 0.1, rows))
            model._norm(f"l{layer}.aln", random)
            model._norm(f"l{layer}.oln", random)
        return model

    def write(self, file: Path) -> Path:
        """The file."""
        text = b"".join(piece.encode() for piece in self.pieces)
        ends = np.cumsum([0, *(len(piece.encode()) for piece in self.pieces)])
        folds = b"".join(
            struct.pack("<IB", code, len(to)) + struct.pack(f"<{len(to)}I", *map(ord, to))
            for code, to in FOLDS.items()
        )
        count = len(self.pieces)
        head = b"".join(
            (
                b"E5S1",
                struct.pack("<I7i", 1, WIDTH, LAYERS, HEADS, WIDE, count, WINDOW, 2),
                struct.pack("<fi", EPSILON, 32),
                struct.pack("<5i", count, START, END, 1, UNKNOWN),
                struct.pack("<Q", len(text)),
                struct.pack(f"<{count + 1}I", *ends),
                struct.pack(f"<{count}f", *self.scores),
                text,
                struct.pack("<iI", len(FOLDS), len(folds)),
                folds,
                struct.pack("<i", len(self._packed)),
            )
        )
        size = len(head) + sum(2 + len(name) + 21 for name in self._packed)
        at = (size + 63) // 64 * 64
        listing, body = b"", b"\0" * (at - size)
        for name, (kind, data, numbers) in self._packed.items():
            listing += struct.pack("<H", len(name)) + name.encode()
            listing += struct.pack("<BIQQ", kind, numbers, at, len(data))
            padded = data + b"\0" * (-len(data) % 64)
            body += padded
            at += len(padded)
        file.write_bytes(head + listing + body)
        return file

    def vector(self, ids: Sequence[int]) -> list[float]:
        """What the model makes of pieces, one number at a time: any length, a window each."""
        room = WINDOW - 2
        total = [0.0] * WIDTH
        for at in range(0, len(ids), room):
            window = ids[at : at + room]
            mean = self._mean([START, *window, END])
            total = [one + len(window) * other for one, other in zip(total, mean, strict=True)]
        size = math.sqrt(sum(number * number for number in total))
        return [number / size for number in total]

    def _mean(self, ids: Sequence[int]) -> list[float]:
        word, places = self.tensors["emb.word"], self.tensors["emb.pos"].reshape(-1, WIDTH)
        kind = self.tensors["emb.type"][:WIDTH]
        state = [
            self._normed("emb.ln", [float(x) for x in word[piece] + places[place] + kind])
            for place, piece in enumerate(ids)
        ]
        for layer in range(LAYERS):
            state = self._layer(f"l{layer}", state)
        return [sum(row[column] for row in state) / len(state) for column in range(WIDTH)]

    def _layer(self, name: str, state: list[list[float]]) -> list[list[float]]:
        query, key, value = ([self._dense(f"{name}.{p}", row) for row in state] for p in "qkv")
        size = WIDTH // HEADS
        after = []
        for place, row in enumerate(state):
            seen: list[float] = []
            for head in range(HEADS):
                part = slice(head * size, (head + 1) * size)
                scores = [_dot(query[place][part], each[part]) / math.sqrt(size) for each in key]
                most = max(scores)
                weights = [math.exp(score - most) for score in scores]
                for column in range(part.start, part.stop):
                    mixed = sum(w * v[column] for w, v in zip(weights, value, strict=True))
                    seen.append(mixed / sum(weights))
            attended = self._normed(f"{name}.aln", _sum(self._dense(f"{name}.ao", seen), row))
            wide = [
                x * (1 + math.erf(x / math.sqrt(2))) / 2
                for x in self._dense(f"{name}.fi", attended)
            ]
            after.append(
                self._normed(f"{name}.oln", _sum(self._dense(f"{name}.fo", wide), attended))
            )
        return after

    def _dense(self, name: str, row: Sequence[float]) -> list[float]:
        weights, bias = self.tensors[f"{name}.w"], self.tensors[f"{name}.b"]
        return [_dot(weights[out].tolist(), row) + float(bias[out]) for out in range(len(bias))]

    def _normed(self, name: str, row: Sequence[float]) -> list[float]:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + EPSILON)
        to = zip(row, self.tensors[f"{name}.w"], self.tensors[f"{name}.b"], strict=True)
        return [(x - mean) / spread * float(weight) + float(bias) for x, weight, bias in to]

    def _norm(self, name: str, random: np.random.Generator) -> None:
        self._vector(f"{name}.w", random.normal(1, 0.1, WIDTH))
        self._vector(f"{name}.b", random.normal(0, 0.1, WIDTH))

    def _vector(self, name: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
        self.tensors[name] = values.astype("<f4")
        self._packed[name] = (0, self.tensors[name].tobytes(), len(values))

    def _matrix(self, name: str, random: np.random.Generator, rows: int, columns: int) -> None:
        numbers = random.integers(0, 16, (rows, columns // 32, 32), dtype=np.uint8)
        scales = random.uniform(0.01, 0.05, (rows, columns // 32, 1)).astype("<f2")
        pairs = numbers[..., :16] | numbers[..., 16:] << 4
        blocks = np.concatenate((scales.view(np.uint8).reshape(rows, -1, 2), pairs), axis=-1)
        self.tensors[name] = ((numbers.astype("f4") - 8) * scales.astype("f4")).reshape(rows, -1)
        self._packed[name] = (1, blocks.tobytes(), rows * columns)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


def _sum(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [x + y for x, y in zip(one, other, strict=True)]
