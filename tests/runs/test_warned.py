from typing import Any

import pytest

from runner.runs.warned import CHARACTERS, MOST, warned


def test_each_is_told_with_its_step() -> None:
    assert warned("index", {"pages": 2, "warnings": ["A.", "B."]}) == ["index: A.", "index: B."]


def test_a_great_many_are_counted_and_long_ones_cut() -> None:
    said = warned("index", {"warnings": ["x" * 10_000] * (MOST + 3)})
    assert said[0] == f"index: {'x' * CHARACTERS}"
    assert said[MOST:] == ["index: and 3 more of the kind"]


@pytest.mark.parametrize("given", [None, "A.", 7, {}, [], [7, None, ["A."]]])
def test_what_is_no_sentence_is_none(given: Any) -> None:
    assert warned("index", {"warnings": given}) == []
    assert warned("index", {}) == []
