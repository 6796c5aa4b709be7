from collections.abc import Iterator
from pathlib import Path

import pytest
from baselines_driver.pieces import Cutter
from baselines_driver.weights import Vocabulary, Weights
from hypothesis import given
from hypothesis import strategies as st

from tests.baselines._model import MARKS, UNKNOWN, WORDS


@pytest.fixture(scope="module")
def pieces(model_file: Path) -> dict[int, str]:
    names = Weights(model_file).vocabulary.pieces
    assert set(names) == set(WORDS)
    return {number: name for name, number in names.items()}


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("the dog", ["▁the", "▁dog"]),
        ("  the   dogs ", ["▁the", "▁dog", "s", "▁"]),
        ("the\ndog", ["▁the", "▁dog"]),
        ("Ａb", ["▁", "a", "b"]),
        ("a\u200bb", ["▁", "a", "b"]),
        ("办公室在", ["▁", "办公室", "在"]),
        ("公办", ["▁", "公", "办"]),
        ("", ["▁"]),
        ("🙂a", ["▁", None, "a"]),
        ("🙂🙃", ["▁", None, None]),
        # What looks like a mark of the model's own is text.
        ("<s>", ["▁", None, "s", None]),
    ],
)
def test_text_is_cut_as_it_should_be(
    model_file: Path, pieces: dict[int, str], text: str, cut: list[str | None]
) -> None:
    cutter = Cutter(Weights(model_file).vocabulary)
    assert [pieces.get(piece) for piece in cutter(text)] == cut
    assert all(piece == UNKNOWN for piece in cutter(text) if piece not in pieces)
    assert not {MARKS.index(mark) for mark in ("<s>", "</s>")} & set(cutter(text))


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3), st.floats(-9, -0.125, width=32), min_size=1
    ),
    st.text("abcd", max_size=7),
)
def test_a_word_is_cut_the_likeliest_way(scores: dict[str, float], word: str) -> None:
    names = ["▁", *scores]
    values = (-0.5, *scores.values())
    numbers = {name: number for number, name in enumerate(names)}
    unknown = len(names)
    cut = Cutter(Vocabulary(numbers, (*values, -1.0), {}, 0, 0, unknown))(word)
    stranger = min(*values, -1.0) - 10

    def worth(pieces: list[int]) -> float:
        return sum(stranger if piece == unknown else values[piece] for piece in pieces)

    ways = list(_ways(f"▁{word}", numbers, unknown))
    assert cut in ways
    assert worth(cut) == pytest.approx(max(worth(way) for way in ways))


def _ways(word: str, numbers: dict[str, int], unknown: int) -> Iterator[list[int]]:
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        options = [numbers[word[:end]]] if word[:end] in numbers else []
        for piece in [*options, *([unknown] if end == 1 else [])]:
            for rest in _ways(word[end:], numbers, unknown):
                yield [piece, *rest]
