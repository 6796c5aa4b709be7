"""What is asked and what is answered, whichever way a page is looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from baselines_driver.errors import BadRequest
from baselines_driver.pages import Page, unicode

MAX_CHARACTERS = 8192
"""Longest question."""
MAX_TOP_K = 100
"""Most pages one answer may cite."""


@dataclass(frozen=True)
class Question:
    """One question; ``gold`` are the right pages, where the asker tells them."""

    text: str
    top_k: int
    gold: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Answer:
    """Pages with their scores, the best first, or a refusal; and why."""

    pages: tuple[tuple[str, float | None], ...] = ()
    receipt: Mapping[str, Any] = field(default_factory=dict)

    def result(self) -> dict[str, Any]:
        """As the line protocol has it: who has nothing to cite has refused."""
        return {
            "pages": [{"name": name, "score": score} for name, score in self.pages],
            "refused": not self.pages,
            "receipt": dict(self.receipt),
        }


class Method(Protocol):
    """One way to look a page up. Its answers depend on the pages and the question alone."""

    told: bool
    """Whether it is told the right pages."""
    encoder: str | None
    """What turns text into vectors, where anything does."""

    def index(self, pages: Sequence[Page]) -> int:
        """Take all pages, by name; the number of those that can be found.

        Raises:
            Degraded: they cannot be looked up as they should be.
        """
        ...

    def ask(self, question: Question) -> Answer:
        """Answer one question, or refuse.

        Raises:
            BadRequest: the question is not of the form this method needs.
            Degraded: it cannot be looked up as it should be.
        """
        ...

    def settings(self) -> Mapping[str, Any]:
        """What decides its answers beside pages and question."""
        ...


def asked(request: Mapping[str, Any], told: bool) -> Question:
    """The question of an ``ask`` request.

    Args:
        request: the request.
        told: whether the right pages have to be in it; where not, they must not.

    Raises:
        BadRequest: it is no such request.
    """
    text, top_k, gold = (request.get(name) for name in ("question", "top_k", "gold"))
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_CHARACTERS:
        raise BadRequest(f"ask needs a question of 1 to {MAX_CHARACTERS} characters")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= MAX_TOP_K:
        raise BadRequest(f"ask needs a top_k from 1 to {MAX_TOP_K}")
    if not told:
        if "gold" in request:
            raise BadRequest("whoever looks pages up is not told the right ones")
        return Question(unicode("the question", text), top_k)
    if not isinstance(gold, list) or not all(isinstance(name, str) for name in gold):
        raise BadRequest("ask needs the right pages as gold, a list of names")
    return Question(unicode("the question", text), top_k, tuple(dict.fromkeys(gold)))
