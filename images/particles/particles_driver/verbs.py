"""What each verb does, in a process of its own that was forked from the driver.

A verb is the engine's own command, run where its modules lie imported already: the process sees
the day of its step from its first moment, and leaves nothing behind for the next one but what it
wrote to the store.
"""

import functools
import importlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from particles_driver import asking, probes, recalling
from particles_driver.errors import BadRequest, DriverError, ProviderFailed
from particles_driver.settings import Place

TEMPLATE = "PARTICLES_TEMPLATE"
"""Names a store that was migrated when the image was built; copied where it is set."""
EXCHANGE = "BENCH_EXCHANGE"
"""Names the folder snapshots are put into, where it is not the container's own."""
SERVER_PORT = "_port"
"""What the driver adds to a question: where the engine's server listens."""

_LAZY = (
    *("aiosqlite", "alembic.command", "alembic.script", "sqlalchemy.dialects.sqlite.aiosqlite"),
    *("anthropic.resources.messages.messages", "anthropic.lib.streaming"),
    *("particles._orm_modules", "particles.api.client.local", "particles.api.client.http"),
    *("particles.corpus.fetch", "particles.corpus.follow_edges", "particles.operations.audit"),
    *("particles.corpus.refresh_outcome", "particles.ingest.pending_collapse"),
    *("particles.operations.closure_measure", "particles.operations.consolidation"),
    *("particles.operations.corpus_refresh", "particles.operations.deposit"),
    *("particles.operations.extract", "particles.operations.held_release"),
    *("particles.operations.utility_exposure", "particles.operations.utility_mining"),
    *("particles.store.synthesis_cache_store", "particles.extraction.migration_preview"),
    *("particles.api.cli._schema", "particles.extraction.docstrings"),
    *("particles.extraction.mcp_memory", "typer._adapters", "typer._click.decorators"),
    *("_strptime", "anyio.streams.tls", "concurrent.futures.thread", "opentelemetry.propagate"),
)
"""What the engine and its SDK import only when a command needs it."""


def preload() -> None:
    """Import what the verbs will need; a module that a version does not have is no loss."""
    importlib.import_module("particles.api.cli")
    for name in _LAZY:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    # What every command would make for itself first, and make alike: the tree of commands, the
    # mappings of the store, and the model's client, which connects to nobody before it is asked.
    _tree()
    importlib.import_module("sqlalchemy.orm").configure_mappers()
    importlib.import_module("particles.llm").get_client()


def create(place: Place) -> None:
    """A store with every migration: a copy of the one made beforehand, else a fresh one."""
    if place.store.exists():
        return
    template = os.environ.get(TEMPLATE)
    if template:
        shutil.copyfile(template, place.store)
    else:
        _command("db", "init")


def created(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """See that there is a store."""
    create(place)
    return {}


def deposit(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Put a note into the folder, as of now, and have the engine audit it."""
    create(place)
    _written(place, request)
    _audited(place)
    return _counted(place)


def index(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Put all pages into the folder, as of now, and have the engine audit them at once."""
    pages = request.get("pages")
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise BadRequest("index needs a list of pages")
    create(place)
    for page in pages:
        _written(place, page)
    if pages:
        _audited(place)
    return {"pages": len(pages), **_counted(place)}


def _written(place: Place, given: Mapping[str, Any]) -> None:
    name, text = given.get("name"), given.get("text")
    if not isinstance(name, str) or Path(name).name != name or name in ("", ".", ".."):
        raise BadRequest("a note needs the plain name of a file")
    if not isinstance(text, str):
        raise BadRequest("a note needs a text")
    note = place.notes / name
    note.write_text(text, encoding="utf-8")
    # The engine takes a note's day from its file, which the kernel dates by the true clock.
    now = time.time()
    os.utime(note, (now, now))
    if abs(note.stat().st_mtime - now) > 1:
        raise DriverError("the file of the note does not keep the day it was given")


def _audited(place: Place) -> None:
    _command("audit", str(place.notes), "--yes")
    _read_whole(place)


def consolidate(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have the engine go over the whole store."""
    create(place)
    _command("memory", "consolidate", "--scope", "store")
    return _counted(place)


def snapshot(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """A consistent copy of the store in a folder of its own."""
    create(place)
    exchange = Path(os.environ.get(EXCHANGE, "/run/exchange"))
    taken = [int(path.name) for path in exchange.iterdir() if path.name.isdecimal()]
    target = exchange / str(max(taken, default=0) + 1)
    target.mkdir()
    source = sqlite3.connect(place.store)
    copy = sqlite3.connect(target / place.store.name)
    with closing(source), closing(copy):
        source.backup(copy)
        # One file, whole: a reader opens it where it cannot write.
        copy.execute("PRAGMA journal_mode = DELETE")
    return {"path": str(target)}


def recall(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine finds for a question, without an answer to it."""
    create(place)
    return recalling.recalled(place, request)


def ask(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the engine's server, which listens where the driver says."""
    return asking.asked(place, request[SERVER_PORT], request)


def probe(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have the engine judge two claims; its store is not touched, nor made."""
    return probes.probe(request)


VERBS = {
    "deposit": deposit,
    "consolidate": consolidate,
    "recall": recall,
    "index": index,
    "ask": ask,
    "probe": probe,
    "snapshot": snapshot,
}
"""What can be asked of the driver, and is done in a process of its own."""
CREATE = "create"
WORK = {**VERBS, CREATE: created}
"""The same, and what the driver itself wants done so."""


def _command(*arguments: str) -> None:
    """Run one command of the engine, in this process.

    Raises:
        DriverError: it ended with another code than 0.
    """
    try:
        code = _tree().main(list(arguments), standalone_mode=False)
    except SystemExit as ended:
        code = ended.code
    if code not in (None, 0):
        raise DriverError(f"particles {' '.join(arguments[:2])} ended with {code}")


@functools.cache
def _tree() -> Any:
    """All of the engine's commands."""
    import typer.main
    from particles.api.cli import app

    return typer.main.get_command(app)


def _read_whole(place: Place) -> None:
    """See that the note just given was read, and that nothing the engine asked went amiss.

    Raises:
        ProviderFailed: a note was not read whole, or the engine says it went without a model.
    """
    with closing(sqlite3.connect(place.store)) as store:
        unread = store.execute(
            "SELECT count(*) FROM snapshots WHERE extraction_status <> 'COMPLETE'"
        ).fetchone()[0]
        refused = _refusals(store)
        runs = store.execute(
            "SELECT payload FROM operator_events WHERE event_type = 'CONSOLIDATION_RUN'"
            " ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
    if unread or refused:
        raise ProviderFailed(f"{unread} notes were not read whole, {refused} were refused")
    last = json.loads(runs[0]) if runs else {}
    if last.get("semantic_degraded"):
        raise ProviderFailed(f"went without a model: {last.get('semantic_degraded_reason')}")


def _refusals(store: sqlite3.Connection) -> int:
    """Notes the model would not read; a version without a table of them leaves them unread."""
    there = store.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'extraction_refusals'"
    ).fetchone()[0]
    if not there:
        return 0
    count: int = store.execute("SELECT count(*) FROM extraction_refusals").fetchone()[0]
    return count


def _counted(place: Place) -> dict[str, Any]:
    with closing(sqlite3.connect(place.store)) as store:
        rows = store.execute("SELECT status, count(*) FROM particles GROUP BY status").fetchall()
    return {"claims": dict(sorted(rows))}
