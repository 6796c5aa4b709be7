"""The two ends of the scale: who answers nothing, and who is told what is right."""

from collections.abc import Mapping, Sequence
from typing import Any

from baselines_driver.asking import Answer, Question
from baselines_driver.errors import BadRequest
from baselines_driver.pages import Page


class AlwaysRefuse:
    """Takes the pages and answers nothing."""

    told = False
    encoder: str | None = None

    def index(self, pages: Sequence[Page]) -> int:
        """Count them."""
        return len(pages)

    def ask(self, question: Question) -> Answer:
        """A refusal."""
        return Answer(receipt={"why": "it refuses every question"})

    def settings(self) -> Mapping[str, Any]:
        """None."""
        return {}


class Oracle:
    """Answers with the pages it is told: what it gets wrong, the scorer gets wrong."""

    told = True
    encoder: str | None = None

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()

    def index(self, pages: Sequence[Page]) -> int:
        """Keep their names."""
        self._names = frozenset(page.name for page in pages)
        return len(pages)

    def ask(self, question: Question) -> Answer:
        """The right pages, or a refusal where there are none."""
        gold = question.gold or ()
        if strange := [name for name in gold if name not in self._names]:
            raise BadRequest(f"there is no page {strange[0]!r}")
        return Answer(
            tuple((name, 1.0) for name in gold[: question.top_k]),
            {"why": "it was told" if gold else "it was told that no page answers"},
        )

    def settings(self) -> Mapping[str, Any]:
        """None."""
        return {}
