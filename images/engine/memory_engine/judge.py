"""The questions the engine asks, each answered or failed: a prompt, a call, a strict reading.

A reply that does not parse is asked for once more; a second one fails the verb.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from memory_engine import prompts, replies
from memory_engine.errors import UnparseableReply
from memory_engine.model import Model
from memory_engine.rules import Reading
from memory_engine.store import Claim, Note

T = TypeVar("T")


class Told(Protocol):
    """What the model is told of a claim."""

    @property
    def text(self) -> str:
        """What it states."""

    @property
    def day(self) -> str | None:
        """ISO date it was told on; none where that is not known."""


class Judge:
    """Asks one model, by task."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def calls(self) -> dict[str, int]:
        """Answered calls so far, by purpose."""
        return dict(self._model.calls)

    def extract(self, note: Note) -> tuple[replies.Extracted, ...]:
        """What a note says, as statements."""
        document = prompts.extraction(note.name, note.text, note.day)
        return self._ask("extraction", "extraction", document, replies.extraction)

    def contradicts(self, older: Told, newer: Told) -> replies.Verdict:
        """Whether two claims cannot both be true."""
        document = prompts.contradiction(_told(older), _told(newer))
        return self._ask("contradiction", "contradiction", document, replies.contradiction)

    def update(self, older: Told, newer: Told, *, reading: int) -> Reading:
        """Whether the newer claim replaces the older one, read for the first or second time."""
        purpose = "update" if reading == 1 else "verification"
        document = prompts.update(reading, _told(older), _told(newer))
        return self._ask(purpose, "update", document, replies.update)

    def reanchor(
        self, winner: Claim, retired: Sequence[Claim], candidates: Sequence[Claim]
    ) -> tuple[replies.Leaning, ...]:
        """Which candidates leaned on a retired claim."""
        document = prompts.reanchor(
            _told(winner), [_told(c) for c in retired], [_told(c) for c in candidates]
        )

        def read(text: str) -> tuple[replies.Leaning, ...]:
            return replies.reanchor(text, candidates=len(candidates), retired=len(retired))

        return self._ask("reanchor", "reanchor", document, read)

    def faithful(
        self, original: Claim, retired: Claim, winner: Claim, restatement: str
    ) -> replies.Faithfulness:
        """A second look at a restatement."""
        document = prompts.faithfulness(_told(original), _told(retired), _told(winner), restatement)
        return self._ask("verification", "faithfulness", document, replies.faithfulness)

    def _ask(self, purpose: str, task: str, document: str, read: Callable[[str], T]) -> T:
        try:
            return read(self._model.ask(purpose, prompts.SYSTEM[task], document))
        except UnparseableReply as error:
            print(f"{task}: asking once more: {error}", file=sys.stderr, flush=True)
        try:
            return read(self._model.ask(purpose, prompts.SYSTEM[task], document))
        except UnparseableReply as error:
            raise UnparseableReply(f"{task}: unusable twice: {error}") from error


def _told(claim: Told) -> prompts.Statement:
    return {"text": claim.text, "day": claim.day}
