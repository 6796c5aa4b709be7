"""Stores as mem0 writes them: a vector store of pickled points, and a history."""

import base64
import pickle
import sqlite3
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from runner.systems.mem0.reader import HISTORY, POINTS, TABLES

MODULE = "qdrant_client.http.models.models"
NOON = "2026-09-01T12:00:00.840050+00:00"
LATER = "2026-10-01T12:00:00.415634+00:00"


@contextmanager
def qdrant() -> Iterator[types.ModuleType]:
    """A module of that name with the two classes of points, as long as something is pickled."""

    class SparseVector(BaseModel):
        indices: list[int]
        values: list[float]

    class PointStruct(BaseModel):
        id: str
        vector: Any
        payload: Any = None

    packages = MODULE.split(".")
    names = [".".join(packages[:length]) for length in range(1, len(packages) + 1)]
    modules = {name: types.ModuleType(name) for name in names}
    for each in (SparseVector, PointStruct):
        each.__module__, each.__qualname__ = MODULE, each.__name__
        setattr(modules[MODULE], each.__name__, each)
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.modules.update(modules)
    try:
        yield modules[MODULE]
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(before)


def pickled(id_: str, payload: Any, protocol: int | None = None) -> bytes:
    """A point with a vector for either half of the search."""
    with qdrant() as module:
        words = module.SparseVector(indices=[7, 70_000, 2**31], values=[1.5, 0.25, -1.0])
        vector = {"": [0.125 * number for number in range(40)], "bm25": words}
        point = module.PointStruct.model_construct(id=id_, vector=vector, payload=payload)
        return pickle.dumps(point, protocol=protocol)


def payload(text: str, source: Any = "a.md", **more: Any) -> dict[str, Any]:
    named = {} if source is None else {"source": source}
    stored = {"created_at": NOON, "updated_at": NOON, "user_id": "user", "attributed_to": "user"}
    return {**named, "data": text, "hash": "0" * 32, "text_lemmatized": text, **stored, **more}


def event(memory: str, kind: str, old: str | None, new: str | None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{memory}-{kind}-{new}",
        "memory_id": memory,
        "old_memory": old,
        "new_memory": new,
        "event": kind,
        "created_at": NOON,
        "updated_at": None if kind == "ADD" else LATER,
        "is_deleted": int(kind == "DELETE"),
        **more,
    }


def write(
    folder: Path, points: Mapping[str, Any], history: Sequence[Mapping[str, Any]] | None = None
) -> Path:
    """A snapshot. ``points``: payloads by id, or a pickle; without a history, each was added."""
    (folder / POINTS).parent.mkdir(parents=True)
    with closing(sqlite3.connect(folder / POINTS)) as db:
        db.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        for id_, stored in points.items():
            key = base64.b64encode(pickle.dumps(id_, protocol=4)).decode()
            blob = stored if isinstance(stored, bytes) else pickled(id_, stored)
            db.execute("INSERT INTO points VALUES (?, ?)", (key, blob))
        db.commit()
    if history is None:
        history = [
            event(id_, "ADD", None, stored["data"])
            for id_, stored in points.items()
            if not isinstance(stored, bytes)
        ]
    with closing(sqlite3.connect(folder / HISTORY)) as db:
        for name, columns in TABLES.items():
            db.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        for row in history:
            marks = ", ".join("?" * len(row))
            db.execute(f"INSERT INTO history ({', '.join(row)}) VALUES ({marks})", [*row.values()])
        db.commit()
    return folder
