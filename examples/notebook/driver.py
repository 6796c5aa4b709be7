"""A tiny memory: what is said is kept line by line, and looked up by its words. No model, no wit.

It is an example of a driver: one JSON request a line in, one JSON reply a line out.
"""

import json
import os
import re
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOTES = Path(os.environ.get("HOME", ".")) / "notes.jsonl"
EXCHANGE = Path(os.environ.get("NOTEBOOK_EXCHANGE", "/run/exchange"))
FLOOR = json.loads(os.environ.get("BENCH_SETTINGS") or "{}").get("options", {}).get("floor", 0.6)
ALIKE = 0.5
"""A newer statement takes the place of an older one that shares so many of its words, or more."""


class Wrong(Exception):
    """What the bench is told as an error: a type of its own, and a sentence."""


class Notebook:
    """The memory, and a method for each verb: it is given the request and returns the result."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []
        self.pages: dict[str, set[str]] = {}
        self.rarity: dict[str, float] = {}

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        settings = {"floor": FLOOR, "alike": ALIKE}
        return {"name": "notebook", "version": "1.0.0", "settings": settings, "encoder": None}

    def deposit(self, request: dict[str, Any]) -> dict[str, Any]:
        said = statements(request["text"])
        for text in said:
            note = {"id": f"n{len(self.notes) + 1}", "text": text, "day": request["day"]}
            self.notes.append(note | {"source": request["name"], "retired_by": None})
        save(self.notes)
        return {"statements": len(said)}

    def consolidate(self, request: dict[str, Any]) -> dict[str, Any]:
        retired = 0
        for number, old in enumerate(self.notes):
            for new in self.notes[number + 1 :]:
                other_note = new["source"] != old["source"] and not old["retired_by"]
                if other_note and ALIKE <= alike(old["text"], new["text"]) < 1:
                    old["retired_by"], retired = new["id"], retired + 1
        save(self.notes)
        return {"retired": retired}

    def recall(self, request: dict[str, Any]) -> dict[str, Any]:
        asked = words(request["question"])
        held = [note for note in self.notes if not note["retired_by"]]
        best = sorted(held, key=lambda note: -len(asked & words(note["text"])))
        found = [note for note in best if asked & words(note["text"])][: request["top_k"]]
        return {"statements": [{key: note[key] for key in ("text", "day")} for note in found]}

    def index(self, request: dict[str, Any]) -> dict[str, Any]:
        self.pages = {page["name"]: words(page["text"]) for page in request["pages"]}
        seen = Counter(word for page in self.pages.values() for word in page)
        self.rarity = {word: 1 / count for word, count in seen.items()}
        return {"pages": len(self.pages)}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self.pages:
            raise Wrong("degraded", "nothing is indexed: an empty memory must not look honest")
        asked = words(request["question"])
        # A word that no page has weighs as much as one that a single page has.
        weights = {word: self.rarity.get(word, 1.0) for word in asked}
        whole = sum(weights.values()) or 1.0
        scores = {
            name: round(sum(weights[word] for word in asked & page) / whole, 6)
            for name, page in self.pages.items()
        }
        best = sorted(scores, key=lambda name: (-scores[name], name))[: request["top_k"]]
        cited = [{"name": name, "score": scores[name]} for name in best if scores[name] >= FLOOR]
        receipt = {"best": best[0], "score": scores[best[0]], "floor": FLOOR}
        return {"pages": cited, "refused": not cited, "receipt": receipt}

    def snapshot(self, request: dict[str, Any]) -> dict[str, Any]:
        save(self.notes)
        folder = EXCHANGE / f"snapshot-{time.monotonic_ns()}"
        folder.mkdir(parents=True)
        (folder / NOTES.name).write_bytes(NOTES.read_bytes())
        return {"path": str(folder)}

    def export(self, request: dict[str, Any]) -> dict[str, Any]:
        claims = []
        for line in (Path(request["path"]) / NOTES.name).read_text().splitlines():
            note = json.loads(line)
            gone = note["retired_by"]
            claim = {"id": note["id"], "text": note["text"], "sources": [note["source"]]}
            claim |= {"status": "REPLACED" if gone else "ACTIVE", "retired_by": gone}
            claims.append(claim | {"asserted_at": f"{note['day']}T12:00:00Z"})
        return {"claims": claims, "events": [], "unmapped": []}

    def stop(self, request: dict[str, Any]) -> dict[str, Any]:
        return {}


def save(notes: list[dict[str, Any]]) -> None:
    NOTES.write_text("".join(json.dumps(note) + "\n" for note in notes))


def statements(text: str) -> list[str]:
    """A note without its headings and without who speaks, a sentence each."""
    lines = [re.sub(r"^\*\*.*?:\*\*", "", line) for line in text.splitlines() if line[:1] != "#"]
    found = (one.strip() for line in lines for one in re.split(r"(?<=[.!?])\s+", line))
    return [one for one in found if one]


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def alike(one: str, other: str) -> float:
    """The share of words that two statements have in common, of the shorter one's."""
    shorter = min(len(words(one)), len(words(other)))
    return len(words(one) & words(other)) / shorter if shorter else 0.0


def answer(notebook: Notebook, line: str) -> dict[str, Any]:
    request, started = {}, time.perf_counter()
    try:
        request = json.loads(line)
        method = getattr(Notebook, request["verb"], None)
        if method is None:
            raise Wrong("unsupported", f"a notebook does not {request['verb']}")
        reply = {"ok": True, "result": method(notebook, request)}
    except Exception as error:
        kind, told = error.args if isinstance(error, Wrong) else ("internal", repr(error))
        reply = {"ok": False, "error": {"type": kind, "message": told}}
    reply |= {"id": request.get("id"), "now": datetime.now(UTC).isoformat()}
    return reply | {"ms": (time.perf_counter() - started) * 1000}


if __name__ == "__main__":
    memory = Notebook()
    for line in sys.stdin:  # It ends when the bench does: then this ends too.
        told = answer(memory, line)
        print(json.dumps(told), flush=True)
        if told["ok"] and json.loads(line)["verb"] == "stop":
            break
