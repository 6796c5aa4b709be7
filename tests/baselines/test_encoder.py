from pathlib import Path

import numpy as np
import pytest
from baselines_driver import encoder
from baselines_driver.encoder import Encoder
from baselines_driver.errors import Degraded
from baselines_driver.pieces import Cutter
from baselines_driver.weights import Weights

from tests.baselines._model import WINDOW, Model

TEXTS = [
    "",
    "the dog runs",
    "Where is the office?",
    "办公室在浦",
    "the dog runs in pune, the dog is in the office, where is the dog " * 3,
    "Ａ strange \u200bword: ﬁ 🙂",
]


@pytest.mark.parametrize("side", ["query", "passage"])
def test_vectors_are_those_worked_out_at_length(
    model: Model, model_file: Path, side: encoder.Side
) -> None:
    cut = Cutter(Weights(model_file).vocabulary)
    vectors = Encoder(model_file).encode(TEXTS, side)
    for text, vector in zip(TEXTS, vectors, strict=True):
        wanted = model.vector(cut(f"{side}: {text}"))
        assert vector == pytest.approx(wanted, abs=2e-6), text
    assert len(cut(TEXTS[4])) > 3 * WINDOW


def test_the_order_of_texts_changes_nothing_at_all(
    model_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "TOKENS_AT_ONCE", 20)
    read = Encoder(model_file)
    texts = [f"{text} {number}" for number in range(5) for text in TEXTS]
    vectors = read.encode(texts, "passage")
    assert np.array_equal(read.encode(texts[::-1], "passage")[::-1], vectors)
    assert np.array_equal(read.encode(texts, "passage"), vectors)


def test_texts_do_not_see_each_other(model_file: Path) -> None:
    read = Encoder(model_file)
    alone = np.concatenate([read.encode([text], "passage") for text in TEXTS])
    assert np.abs(read.encode(TEXTS, "passage") - alone).max() < 1e-6
    assert np.linalg.norm(alone, axis=1) == pytest.approx(1, abs=1e-6)
    assert read.encode([], "query").shape == (0, alone.shape[1])


def test_a_question_is_not_read_as_a_passage_is(model_file: Path) -> None:
    read = Encoder(model_file)
    one, other = (read.encode(["the dog"], side)[0] for side in ("query", "passage"))
    assert np.abs(one - other).max() > 1e-3


def test_other_weights_give_other_vectors(model_file: Path, tmp_path: Path) -> None:
    other = Encoder(Model.made(2).write(tmp_path / "other.bin"))
    difference = other.encode(["the dog"], "query") - Encoder(model_file).encode(
        ["the dog"], "query"
    )
    assert np.abs(difference).max() > 1e-2


@pytest.mark.parametrize("kept", [0, 3, 4, 40, 64, 200, 600, 1000, -1])
def test_a_file_that_is_not_whole_is_no_encoder(
    model_file: Path, tmp_path: Path, kept: int
) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(model_file.read_bytes()[:kept] if kept >= 0 else b"not a model at all")
    with pytest.raises(Degraded, match="weights cannot be read"):
        Encoder(cut)
    with pytest.raises(Degraded, match="weights cannot be read"):
        Encoder(tmp_path / "none.bin")


def test_a_file_without_a_tensor_says_which(model_file: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.bin"
    renamed.write_bytes(model_file.read_bytes().replace(b"l1.fo.w", b"l1.xx.w"))
    with pytest.raises(Degraded, match=r"no l1\.fo\.w"):
        Encoder(renamed)


def test_the_bend_is_the_error_functions(model_file: Path) -> None:
    from math import erf, sqrt

    from baselines_driver._bert import _bend

    at = np.linspace(-9, 9, 5001, dtype=np.float32)
    bent = at.copy()
    _bend(bent)
    wanted = [float(x) * (1 + erf(float(x) / sqrt(2))) / 2 for x in at]
    assert np.abs(bent - np.array(wanted)).max() < 2e-6
