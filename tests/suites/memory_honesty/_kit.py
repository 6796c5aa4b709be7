"""A small company, questions about it, and runs over them, for the tests of this folder."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from runner.model import Ending, Outcome, RunRecord, RunSpec, StepRecord
from runner.suites.memory_honesty import (
    SETS,
    Answer,
    Exam,
    Question,
    QuestionSet,
    Vault,
    listing,
    make_exam,
    make_vault,
    steps,
)

BACKUPS, OLD_BACKUPS = "Ops/Backups.md", "Ops/Backups (2024).md"
ON_CALL, LEAVE = "Ops/On-call.md", "Leave.md"
RELEASE, OLD_RELEASE = "产品/发布流程.md", "产品/旧版 发布流程.md"

FILES = {
    BACKUPS: """---
title: Backups
date: 2026-02-03
status: current
---

# Backups

Databases are copied every six hours. This replaces the daily copy of 2024.
""",
    OLD_BACKUPS: f"""---
title: "Backups [2024]"
date: 2024-05-01
status: superseded
superseded_by: {BACKUPS}
---

# Backups

Databases are copied once a day.
""",
    ON_CALL: """---
title: On-call
date: 2025-11-30
status: current
---

# On-call

Whoever is on call answers within fifteen minutes. We trust them.
""",
    LEAVE: """---
title: Leave
date: 2025-01-15
status: current
---

# Leave

Thirty days a year.
""",
    RELEASE: """---
title: 发布流程
date: 2026-03-09
status: current
---

# 发布流程

每周三下午发布，由值班经理批准。取代旧版的周五发布。
""",
    OLD_RELEASE: f"""---
title: 旧版发布流程
date: 2024-03-09
status: superseded
superseded_by: {RELEASE}
---

# 旧版发布流程

每周五发布。
""",
}

ROWS: tuple[dict[str, Any], ...] = (
    {
        "id": "q001",
        "q": "How often are databases copied?",
        "kind": "correction",
        "lang": "en",
        "gold": [BACKUPS],
        "old": OLD_BACKUPS,
    },
    {"id": "q002", "q": "什么时候发布？", "kind": "correction", "lang": "zh", "gold": [RELEASE],
     "old": OLD_RELEASE},
    {"id": "q003", "q": "How fast must a page be answered?", "kind": "current", "lang": "en",
     "gold": [ON_CALL]},
    {"id": "q004", "q": "How many days off?", "kind": "current", "lang": "en",
     "gold": [LEAVE, ON_CALL]},
    {"id": "q005", "q": "How often are Rust crates copied?", "kind": "refuse", "lang": "en",
     "gold": [], "neighbour": BACKUPS, "term": "Rust"},
    {"id": "q006", "q": "飞船什么时候发射？", "kind": "refuse", "lang": "zh", "gold": [],
     "neighbour": RELEASE, "term": "飞船"},
)  # fmt: skip

Said = Sequence[str] | None
"""Pages that are cited; none for a refusal."""


def lines(rows: Sequence[Mapping[str, Any]] = ROWS) -> bytes:
    """A file of questions."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def questions(*rows: Mapping[str, Any]) -> tuple[Question, ...]:
    return tuple(Question.model_validate(row) for row in rows or ROWS)


def question_set(name: str = "dev", *rows: Mapping[str, Any], **more: Any) -> QuestionSet:
    held_out = name.startswith("heldout")
    known: dict[str, Any] = {
        "name": name,
        "vault": "vault1",
        "held_out": held_out,
        "floors_from": "dev" if held_out else name,
        "registered": date(2026, 11, 30),
        "sha256": "0" * 64,
        "questions": questions(*rows),
    }
    return QuestionSet(**{**known, **more})


def vault(marker: Any = "front-matter") -> Vault:
    return make_vault("vault1", FILES, marker)


def exam(name: str = "dev", *rows: Mapping[str, Any], **more: Any) -> Exam:
    return make_exam(question_set(name, *rows), vault(), **more)


def write(folder: Path, rows: Sequence[Mapping[str, Any]] = ROWS) -> Path:
    """Vault and sets as files."""
    for name, text in FILES.items():
        path = folder / "vault1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    told = listing((name, text.encode()) for name, text in FILES.items())
    (folder / "vault1.sha256").write_text(told, encoding="utf-8")
    raw, tables = lines(rows), ["schema = 1"]
    for name in SETS:
        held_out = name.startswith("heldout")
        path = folder / f"{name}.jsonl{'.gz' if held_out else ''}"
        path.write_bytes(gzip.compress(raw, mtime=0) if held_out else raw)
        tables.append(
            f'[[set]]\nname = "{name}"\nvault = "vault1"\nheld_out = {str(held_out).lower()}\n'
            f'floors_from = "{"dev" if held_out else name}"\nregistered = 2026-11-30\n'
            f'sha256 = "{hashlib.sha256(raw).hexdigest()}"\n'
            "counts = { correction = 2, current = 2, refuse = 2 }\n"
        )
    (folder / "sets.toml").write_text("\n".join(tables), encoding="utf-8")
    return folder


def answer(question: str, cited: Said = None, *scores: float | None, **more: Any) -> Answer:
    """An answer; without scores, or with one for each page."""
    pages = tuple(cited or ())
    return Answer(
        question=question,
        cited=pages,
        scores=scores or (None,) * len(pages),
        **{"refused": cited is None, **more},
    )


def oracle(asked: Exam) -> dict[str, Said]:
    """What a memory without fault says."""
    return {one.id: one.gold or None for one in asked.asked()}


def result(asked: Exam, said: Said, score: float | None = 1.0) -> dict[str, Any]:
    """What a driver answers to a question."""
    return {
        "pages": [{"name": name, "score": score} for name in said or ()],
        "refused": said is None,
        "receipt": {"why": "a test"},
    }


def answered(
    asked: Exam, said: Mapping[str, Said] | None = None, *, index: int = 1, **results: Any
) -> tuple[StepRecord, ...]:
    """The steps of one run, in the order they are asked in; ``results`` by question."""
    told = {**oracle(asked), **(said or {})}
    taken = []
    for number, step in enumerate(steps(asked, asked.set, index, vault(asked.marker))):
        id_ = step.name.removeprefix("ask ")
        reply = {"pages": len(asked.pages)} if step.verb == "index" else result(asked, told[id_])
        taken.append(
            StepRecord(
                name=step.name,
                verb=step.verb,
                seconds=0.25 if step.verb == "index" else number / 1000,
                result=results.get(id_, reply),
            )
        )
    return tuple(taken)


def run(
    asked: Exam,
    said: Mapping[str, Said] | None = None,
    *,
    index: int = 1,
    outcome: str = "passed",
    why: str = "graded",
    spec: Mapping[str, Any] | None = None,
    **more: Any,
) -> RunRecord:
    return RunRecord(
        spec=RunSpec(
            **{
                "id": f"memory-honesty-{asked.set}-{index}",
                "suite": "memory-honesty",
                "case": "memory-honesty",
                "kind": asked.set,
                "index": index,
                "system": "bm25",
                "arm": "scripted",
                "model": "model-a",
                "clock": "now",
                **(spec or {}),
            },
        ),
        ending=Ending(outcome=Outcome(outcome), kind=why),
        started_at=datetime(2026, 12, 1, tzinfo=UTC),
        seconds=1.0,
        **{"steps": answered(asked, said, index=max(1, index)), **more},
    )
