"""Exams of so many questions, and answers that come to given counts."""

from collections.abc import Mapping, Sequence
from datetime import date

from runner.suites.memory_honesty import Answer, Exam, Grade, Mark, PageStatus, Question, grades
from tests.suites.memory_honesty._kit import answer


def big(corrections: int, current: int, refuse: int, *, name: str = "heldout3") -> Exam:
    """An exam of so many questions about pages that have no text, in two languages by turns."""
    pages = [
        PageStatus(name=name, superseded=by is not None, superseded_by=by, lang="en")
        for name, by in (
            ("new.md", None),
            ("old.md", "new.md"),
            ("near.md", None),
            ("far.md", None),
        )
    ]
    kinds = ["correction"] * corrections + ["current"] * current + ["refuse"] * refuse
    asked = tuple(
        Question.model_validate(
            {
                "id": f"q{number:03}",
                "q": f"Question {number}?",
                "kind": kind,
                "lang": ("en", "zh")[number % 2],
                "gold": () if kind == "refuse" else ("new.md",),
                "old": "old.md" if kind == "correction" else None,
                "neighbour": "near.md" if kind == "refuse" else None,
            }
        )
        for number, kind in enumerate(kinds, start=1)
    )
    return Exam(
        set=name,
        held_out=name.startswith("heldout"),
        floors_from="dev3",
        registered=date(2026, 11, 30),
        set_sha256="1" * 64,
        vault="vault3",
        marker="front-matter",
        vault_sha256="2" * 64,
        pages=tuple(pages),
        counts={"correction": corrections, "current": current, "refuse": refuse},
        questions=asked,
    )


def made(asked: Exam, marks: Mapping[str, Sequence[tuple[Mark, int]]]) -> tuple[Answer, ...]:
    """Answers that have these marks so often, by kind, in the order of the questions."""
    page = {
        Mark.RIGHT: ("new.md",),
        Mark.STALE: ("old.md",),
        Mark.NEIGHBOUR: ("near.md",),
        Mark.UNRELATED: ("far.md",),
        Mark.REFUSED: None,
        Mark.FALSE_REFUSAL: None,
    }
    found = []
    for kind, wanted in marks.items():
        ids = [one.id for one in asked.questions if one.kind == kind]
        told = [mark for mark, count in wanted for _ in range(count)]
        assert len(ids) == len(told), kind
        found += [answer(id_, page[mark]) for id_, mark in zip(ids, told, strict=True)]
    return tuple(found)


def graded(asked: Exam, marks: Mapping[str, Sequence[tuple[Mark, int]]]) -> tuple[Grade, ...]:
    return grades(asked, made(asked, marks))
