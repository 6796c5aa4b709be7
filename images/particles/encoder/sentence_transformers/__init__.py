"""The all-MiniLM-L6-v2 sentence encoder in numpy, under the name its users import.

Only what is needed to turn text into its vector: no torch, no download, no other model. The real
weights are read from a hub cache laid out under ``HF_HOME``; with the original they agree to
1e-5 (see ``scripts/encoder_agreement.py``).
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer

Array = np.ndarray[Any, np.dtype[np.float32]]

_TOKENS_AT_ONCE = 4096
"""How many tokens are worked on at a time; bounds memory to some tens of megabytes."""


class SentenceTransformer:
    """Texts to vectors of unit length: BERT of six layers, mean of its tokens, normalised."""

    def __init__(self, model_name_or_path: str, **_unused: object) -> None:
        """Load a model from a folder, or by name from the hub cache.

        Raises:
            OSError: it is not there; nothing is ever fetched.
            ValueError: it is another kind of model.
        """
        folder = _folder(model_name_or_path)
        config = json.loads((folder / "config.json").read_text())
        if (config["model_type"], config["hidden_act"]) != ("bert", "gelu"):
            raise ValueError(f"{folder} holds no BERT with gelu")
        self.max_seq_length = int(
            json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
        )
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config["layer_norm_eps"])
        self._weights = _safetensors(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.max_seq_length)

    def get_sentence_embedding_dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._weights["embeddings.word_embeddings.weight"].shape[1])

    def encode(self, sentences: str | Sequence[str], **_unused: object) -> Any:
        """Vectors of float32: one for one text, a row a text for several.

        Texts of equal length in tokens go together, so that none is ever padded. Whether
        vectors are to be normalised is not asked: this model always does.
        """
        if isinstance(sentences, str):
            return self.encode([sentences])[0]
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(sentences))]
        vectors = np.zeros((len(ids), self.get_sentence_embedding_dimension()), np.float32)
        by_length: dict[int, list[int]] = {}
        for row, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(row)
        for length, rows in by_length.items():
            at_once = max(1, _TOKENS_AT_ONCE // length)
            for start in range(0, len(rows), at_once):
                some = rows[start : start + at_once]
                vectors[some] = self._mean(np.array([ids[row] for row in some]))
        return vectors

    def _mean(self, ids: np.ndarray[Any, Any]) -> Array:
        state = self._weights["embeddings.word_embeddings.weight"][ids]
        state = state + self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        state = state + self._weights["embeddings.token_type_embeddings.weight"][0]
        state = self._norm("embeddings.LayerNorm", state)
        for number in range(self._layers):
            state = self._layer(f"encoder.layer.{number}", state)
        mean = state.mean(axis=1)
        unit: Array = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return unit

    def _layer(self, name: str, state: Array) -> Array:
        attended = self._dense(f"{name}.attention.output.dense", self._attention(name, state))
        state = self._norm(f"{name}.attention.output.LayerNorm", attended + state)
        wide = self._dense(f"{name}.intermediate.dense", state)
        wide = wide * np.float32(0.5) * (1 + erf(wide * np.float32(2**-0.5)))
        narrow = self._dense(f"{name}.output.dense", wide)
        return self._norm(f"{name}.output.LayerNorm", narrow + state)

    def _attention(self, name: str, state: Array) -> Array:
        texts, length, size = state.shape
        per_head = size // self._heads

        def split(part: str) -> Array:
            flat = self._dense(f"{name}.attention.self.{part}", state)
            return flat.reshape(texts, length, self._heads, per_head).transpose(0, 2, 1, 3)

        query, key, value = split("query"), split("key"), split("value")
        scores = query @ key.transpose(0, 1, 3, 2) * np.float32(per_head**-0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        together: Array = seen.transpose(0, 2, 1, 3).reshape(texts, length, size)
        return together

    def _dense(self, name: str, state: Array) -> Array:
        # One product of two matrices: a stack of them is multiplied one by one, five times slower.
        flat = state.reshape(-1, state.shape[-1]) @ self._weights[f"{name}.weight"].T
        out: Array = (flat + self._weights[f"{name}.bias"]).reshape(*state.shape[:-1], -1)
        return out

    def _norm(self, name: str, state: Array) -> Array:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        scaled: Array = centred / spread.astype(np.float32)
        out: Array = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return out


def _folder(name: str) -> Path:
    """A folder as it is, or the snapshot that the hub cache calls main."""
    if Path(name).is_dir():
        return Path(name)
    repository = name if "/" in name else f"sentence-transformers/{name}"
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = home / "hub" / f"models--{repository.replace('/', '--')}"
    return cache / "snapshots" / (cache / "refs" / "main").read_text().strip()


def _safetensors(file: Path) -> dict[str, Array]:
    """All tensors of a file, mapped rather than read: processes share one copy."""
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(size))
    data = np.asarray(np.memmap(file, np.uint8, "r", 8 + size))
    tensors: dict[str, Array] = {}
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        start, end = about["data_offsets"]
        tensors[name] = data[start:end].view(np.float32).reshape(about["shape"])
    return tensors
