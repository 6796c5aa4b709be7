"""The driver is killed at every model call of a whole case; the case is then finished as it was."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_engine.driver import Driver
from memory_engine.store import FILE, Store

from tests.engine._process import Process
from tests.engine._provider import Asked, Provider
from tests.engine._worlds import READER, SMALL, World

pytestmark = pytest.mark.slow

Start = Callable[..., Process]


def steps(world: World) -> list[tuple[str, dict[str, str]]]:
    deposits = [
        ("deposit", {"name": name, "day": day, "text": text}) for name, day, text in world.notes
    ]
    return [*deposits, ("consolidate", {})]


def content(folder: Path) -> tuple[Any, ...]:
    """A store without what differs from run to run: its ids and times."""
    store = Store(folder)
    claims = store.claims()
    names = {claim.id: claim.text for claim in claims}
    told = [
        (
            claim.text,
            claim.status,
            claim.reason,
            claim.sources,
            claim.valid_until,
            claim.restatement,
            names.get(claim.anchor or ""),
            names.get(claim.retired_by or ""),
        )
        for claim in claims
    ]
    happened = [
        (event.type, sorted(names[v] for v in event.payload.values() if str(v) in names))
        for event in store.events()
        if event.type != "NOTE_RECEIVED"
    ]
    store.close()
    return told, happened


def sound(file: Path) -> None:
    with sqlite3.connect(file) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        # A pending note has left nothing behind.
        orphans = db.execute(
            "SELECT count(*) FROM claim_sources JOIN notes ON name = note WHERE status = 'pending'"
        ).fetchone()
        assert orphans == (0,)
        losers = db.execute("SELECT count(*) FROM claims WHERE status != 'ACTIVE'").fetchone()[0]
        told = db.execute(
            "SELECT count(*) FROM events WHERE type = 'UPDATE_SUPERSESSION' OR"
            " (type = 'RESTATEMENT_EXAMINED' AND payload ->> 'outcome' = 'restated')"
        ).fetchone()[0]
        assert losers == told
    db.close()


@pytest.mark.parametrize("world", [READER, SMALL], ids=["retired", "restated"])
def test_killed_at_any_call_the_store_is_sound_and_the_case_is_finished(
    provider: Provider,
    driver: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    world: World,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    # The second half of every story is told in this process: it need not be killed.
    engine = Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m-1"}'})
    provider.script = world.script
    calls = whole(driver, world, provider)
    expected = content(tmp_path / ".memory-engine")
    file = tmp_path / ".memory-engine" / FILE
    for deadly in range(1, calls + 1):
        for left in (tmp_path / ".memory-engine").iterdir():
            left.unlink()
        provider.reset()
        provider.script = world.script
        provider.hold = nth(deadly, provider)
        process = driver()
        dead = False
        for verb, payload in steps(world):
            process.send(verb, **payload)
            if arrived(provider, process):
                dead = True
                break
        assert dead
        process.kill()
        provider.hold = lambda asked: False
        sound(file)
        # Everything again, as somebody would who does not know how far it came.
        for verb, payload in steps(world):
            again = engine.answer(json.dumps({"id": 1, "verb": verb, **payload}).encode())
            assert again["ok"], again
        engine.close()
        sound(file)
        assert content(tmp_path / ".memory-engine") == expected


def whole(driver: Start, world: World, provider: Provider) -> int:
    with driver() as process:
        for verb, payload in steps(world):
            assert process.ask(verb, **payload)["ok"]
    return len(provider.asked)


def nth(deadly: int, provider: Provider) -> Callable[[Asked], bool]:
    return lambda asked: len(provider.asked) == deadly


def arrived(provider: Provider, process: Process) -> bool:
    """Whether the held call came before the verb's reply did."""
    while not provider.held.wait(0.002):
        if process.answered():
            process.reply()
            return False
    return True


def test_killed_while_it_writes_the_store_holds_whole_notes_only(tmp_path: Path) -> None:
    code = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memory_engine.store import Changes, Claim, Event, Note, Store, digest

store = Store(Path(sys.argv[1]))
at = datetime(2026, 9, 1, tzinfo=UTC)
print("ready", flush=True)
for n in range(10_000):
    note = Note(f"{sys.argv[2]}-{n}", "text", "2026-09-01", digest("text"))
    store.receive(note, at)
    claims = [
        Claim(f"{note.name}-{k}", "t", "s", "2026-09-01", (note.name,), at.isoformat())
        for k in range(20)
    ]
    store.finish(note, Changes(claims, [], [Event("E", at.isoformat(), {})]), at)
"""
    for attempt in range(5):
        arguments = [sys.executable, "-c", code, str(tmp_path), str(attempt)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.02 + 0.013 * attempt)
            process.kill()
        sound(tmp_path / FILE)
        with sqlite3.connect(tmp_path / FILE) as db:
            counts = db.execute(
                "SELECT status, count(claim_id) FROM notes LEFT JOIN claim_sources ON note = name"
                " GROUP BY name"
            ).fetchall()
        db.close()
        assert set(counts) <= {("done", 20), ("pending", 0)}
        assert counts
