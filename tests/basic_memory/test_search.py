from typing import Any

import pytest
from basic_memory_driver.errors import Degraded
from basic_memory_driver.search import MOST_CALLS, found


def result(file: str, score: Any = 0.5, **more: Any) -> dict[str, Any]:
    return {"file_path": file, "score": score, "content": f"text of {file}", **more}


class Tool:
    """Pages of results, as the tool gives them."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self.pages, self.asked = pages, list[tuple[str, int, int]]()

    def __call__(self, question: str, page: int, size: int) -> dict[str, Any]:
        self.asked.append((question, page, size))
        return {"results": self.pages[page - 1], "has_more": page < len(self.pages)}


def test_a_page_counts_once_at_its_best_place() -> None:
    tool = Tool([result("a.md", 0.9), result("b.md", 0.8), result("a.md", 0.7), result("c.md")])
    answer = found(tool, "q", 2)
    assert [(hit.file, hit.score) for hit in answer.hits] == [("a.md", 0.9), ("b.md", 0.8)]
    assert (answer.calls, answer.results) == (1, 4)
    assert tool.asked == [("q", 1, 10)]  # as many as the tool gives unless told otherwise


def test_more_is_asked_for_only_where_pages_are_wanting() -> None:
    tool = Tool([result("a.md")] * 10, [result("b.md")] * 10, [result("c.md")])
    assert [hit.file for hit in found(tool, "q", 2).hits] == ["a.md", "b.md"]
    assert len(tool.asked) == 2
    assert len(found(tool, "q", 50).hits) == 3
    assert tool.asked[-1] == ("q", 3, 50)


def test_it_comes_to_an_end() -> None:
    tool = Tool(*[[result("a.md")]] * 1000)
    assert found(tool, "q", 5).calls == MOST_CALLS


def test_scores_are_turned_only_where_they_count_downwards() -> None:
    text = found(Tool([result("a.md", -3.5), result("b.md", -1)]), "q", 5)
    assert [hit.score for hit in text.hits] == [3.5, 1]
    assert "turned" in text.scores
    other = found(Tool([result("a.md", 1.2), result("b.md", None), result("c.md", "x")]), "q", 5)
    assert [hit.score for hit in other.hits] == [1.2, None, None]
    assert "turned" not in other.scores


def test_what_matched_comes_before_what_is_shown() -> None:
    tool = Tool([result("a.md", matched_chunk="the part"), result("b.md", matched_chunk=None)])
    assert [hit.text for hit in found(tool, "q", 5).hits] == ["the part", "text of b.md"]


def test_nothing_found_is_nothing_found() -> None:
    assert found(Tool([]), "q", 5).hits == ()


@pytest.mark.parametrize("answer", [{}, {"results": None}, {"results": [{}]}, {"results": ["a"]}])
def test_what_is_no_list_of_results_is_no_refusal(answer: dict[str, Any]) -> None:
    with pytest.raises(Degraded):
        found(lambda question, page, size: answer, "q", 5)
