"""What a run asks of a system: take all pages, then answer every question of the set."""

import hashlib
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from runner.errors import UsageError
from runner.model import Step
from runner.suites.memory_honesty.exam import Exam
from runner.suites.memory_honesty.pages import Page
from runner.suites.memory_honesty.questions import Question
from runner.suites.memory_honesty.vault import Vault, load_vault

INDEX: Final = "index"
ASK: Final = "ask"

T = TypeVar("T")


def steps(exam: Exam, kind: str, index: int, vault: Vault | None = None) -> tuple[Step, ...]:
    """One step that hands over all pages, then one a question.

    Neither order tells anything, and both are the same on every machine: pages by the digest of
    seed, vault and name, the same in every run; questions by the digest of set, seed, run and id,
    so that a run asked again asks in another order. A system is given a question's words and how
    many pages are wanted, and no id; the pages that are right only where the exam says so.

    Args:
        exam: what is asked, with its questions.
        kind: the name of its set.
        index: which run of it, from 1.
        vault: the pages; read from the project's own when left out.

    Raises:
        UsageError: no such kind or run, an exam without its questions, or another vault than the
            exam's.
    """
    exam.one_of(kind)
    if index < 1:
        raise UsageError(f"There is no run {index}: they count from 1.")
    questions = exam.asked()
    pages = load_vault(exam.vault, exam.marker) if vault is None else vault
    if pages.sha256 != exam.vault_sha256:
        raise UsageError(f"The vault {pages.name} is not the one that {exam.set} is asked about.")
    ordered = _shuffled(((page.name, page) for page in pages.pages), exam.seed, exam.vault)
    asked = _shuffled(((one.id, one) for one in questions), exam.set, exam.seed, index)
    return (
        Step(name=INDEX, verb=INDEX, payload={"pages": [_told(page) for page in ordered]}),
        *(
            Step(name=step_name(question.id), verb=ASK, payload=_question(exam, question))
            for question in asked
        ),
    )


def step_name(question: str) -> str:
    """The name of the step that asks that question."""
    return f"{ASK} {question}"


def _told(page: Page) -> dict[str, str]:
    return {"name": page.name, "text": page.text}


def _question(exam: Exam, question: Question) -> dict[str, Any]:
    payload: dict[str, Any] = {"question": question.q, "top_k": exam.wanted}
    return {**payload, "gold": list(question.gold)} if exam.told else payload


def _shuffled(items: Iterable[tuple[str, T]], *salt: object) -> list[T]:
    prefix = "\n".join(map(str, salt))

    def place(item: tuple[str, T]) -> bytes:
        return hashlib.sha256(f"{prefix}\n{item[0]}".encode()).digest()

    return [thing for _, thing in sorted(items, key=place)]
