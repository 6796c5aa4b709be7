"""The tool's own search: what it found, taken as it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from basic_memory_driver.errors import Degraded

PAGE_SIZE = 10
"""Results that the tool gives at once unless told otherwise."""
MOST_CALLS = 20

Search = Callable[[str, int, int], Mapping[str, Any]]
"""Asks the tool: the question, the page of results, and how many are on one."""


@dataclass(frozen=True)
class Hit:
    """One result."""

    file: str
    """The page it is of, or in."""
    text: str
    """The part of it that matched, where the tool says; else what it shows of it."""
    score: float | None
    """The tool's own, so that higher is better."""
    turned: bool
    """Whether it was full text's, which counts downwards from nought."""


@dataclass(frozen=True)
class Found:
    """What came of one question."""

    hits: tuple[Hit, ...]
    """The best of each page, in the tool's order."""
    calls: int
    """How often the tool was asked for more."""
    results: int
    """Results that were looked at, pages that came again included."""

    @property
    def scores(self) -> str:
        """How the scores came to be, in words."""
        turned = any(hit.turned for hit in self.hits)
        return "full text's BM25, turned: higher is better" if turned else "as the tool gives them"


def found(search: Search, question: str, wanted: int) -> Found:
    """Ask until as many pages as wanted have come, or no more do.

    Raises:
        Degraded: the tool answered something that is no list of results.
    """
    size = max(PAGE_SIZE, wanted)
    best: dict[str, Hit] = {}
    results = calls = 0
    more = True
    while more and len(best) < wanted and calls < MOST_CALLS:
        calls += 1
        answer = search(question, calls, size)
        for hit in _hits(answer):
            results += 1
            best.setdefault(hit.file, hit)
        more = answer.get("has_more") is True
    return Found(tuple(best.values())[:wanted], calls, results)


def _hits(answer: Mapping[str, Any]) -> Iterator[Hit]:
    results = answer.get("results")
    if not isinstance(results, list):
        raise Degraded(f"the search answered without results: {str(answer)[:300]}")
    for result in results:
        file = result.get("file_path") if isinstance(result, dict) else None
        if not isinstance(file, str):
            raise Degraded(f"a result names no file: {str(result)[:300]}")
        score = result.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool):
            score = None
        turned = score is not None and score < 0
        yield Hit(
            file=file,
            text=str(result.get("matched_chunk") or result.get("content") or ""),
            score=-score if score is not None and turned else score,
            turned=turned,
        )
