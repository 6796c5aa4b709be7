"""Pages ranked one way or two, with the two rules where they are asked for.

The rules: pages that their front matter calls replaced are left out before anything is indexed,
and a first score below the floor is a refusal.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from baselines_driver.asking import Answer, Question
from baselines_driver.pages import Page


class Search(Protocol):
    """One way to rank pages."""

    name: str
    encoder: str | None

    def index(self, pages: Sequence[Page]) -> None:
        """Take pages, which come in the order of their names."""
        ...

    def search(self, text: str, count: int) -> list[tuple[str, float]]:
        """The best pages with their scores; none where nothing is found."""
        ...


class Ranked:
    """Answers by one ranking."""

    told = False

    def __init__(self, search: Search, floor: float | None, *, leave_out: bool) -> None:
        """``floor``: the least first score that is answered; none answers whatever is found."""
        self._search = search
        self._floor = floor
        self._leave_out = leave_out
        self.encoder = search.encoder

    def index(self, pages: Sequence[Page]) -> int:
        """Index the pages that are to be found."""
        return _indexed(pages, self._leave_out, self._search)

    def ask(self, question: Question) -> Answer:
        """What is ranked first, and what follows it."""
        found = self._search.search(question.text, question.top_k)
        if not found:
            return Answer(receipt={"why": "no page holds a word of the question"})
        name, score = found[0]
        if self._floor is not None and score < self._floor:
            best = {"name": name, "score": score}
            return Answer(receipt={"why": "below the floor", "floor": self._floor, "best": best})
        return Answer(tuple(found), {"why": "ranked first", "floor": self._floor})

    def settings(self) -> Mapping[str, Any]:
        """The rules in force."""
        return {"floor": self._floor, "leaves_out_replaced": self._leave_out}


class Agree:
    """Answers where two rankings put the same page first, each at its own floor or above.

    It cites that page alone, with the first ranking's score. Replaced pages are left out.
    """

    told = False

    def __init__(self, one: Search, other: Search, floors: tuple[float, float]) -> None:
        self._both = (one, other)
        self._floors = floors
        self.encoder = one.encoder or other.encoder

    def index(self, pages: Sequence[Page]) -> int:
        """Index the pages that are to be found, both ways."""
        return _indexed(pages, True, *self._both)

    def ask(self, question: Question) -> Answer:
        """The page both put first."""
        receipt: dict[str, Any] = {"why": "both put it first"}
        firsts = []
        for search, floor in zip(self._both, self._floors, strict=True):
            found = search.search(question.text, 1)
            if not found:
                return Answer(receipt={"why": "no page holds a word of the question"})
            firsts.append(found[0])
            name, score = found[0]
            receipt[search.name] = {"name": name, "score": score, "floor": floor}
        (name, score), (other, _) = firsts
        if name != other:
            receipt["why"] = "they put different pages first"
        elif any(first[1] < floor for first, floor in zip(firsts, self._floors, strict=True)):
            receipt["why"] = "below a floor"
        else:
            return Answer(((name, score),), receipt)
        return Answer(receipt=receipt)

    def settings(self) -> Mapping[str, Any]:
        """The rules in force."""
        floor, floor_dense = self._floors
        return {"floor": floor, "floor_dense": floor_dense, "leaves_out_replaced": True}


def _indexed(pages: Sequence[Page], leave_out: bool, *searches: Search) -> int:
    kept = [page for page in pages if not (leave_out and page.superseded)]
    if kept:
        for search in searches:
            search.index(kept)
    return len(kept)
