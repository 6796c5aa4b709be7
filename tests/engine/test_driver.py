import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memory_engine import driver as engine_driver
from memory_engine.migrations import SCHEMA_VERSION

from tests.engine._process import Process
from tests.engine._provider import Failure, Provider
from tests.engine._worlds import MID_TRIP, READER

pytestmark = pytest.mark.slow

Start = Callable[..., Process]


def deposit(process: Process, note: tuple[str, str, str]) -> dict[str, object]:
    name, day, text = note
    reply = process.ask("deposit", name=name, day=day, text=text)
    assert reply["ok"], reply
    result: dict[str, object] = reply["result"]
    return result


def test_a_whole_case_over_the_line_protocol(
    provider: Provider, driver: Start, tmp_path: Path
) -> None:
    provider.script = MID_TRIP.script
    process = driver()
    before = datetime.now(UTC)
    described = process.ask("describe")
    assert described["ok"]
    assert before <= datetime.fromisoformat(described["now"]) <= datetime.now(UTC)
    assert described["ms"] >= 0
    assert described["result"]["name"] == "engine"
    assert described["result"]["encoder"] is None
    assert described["result"]["settings"]["model"] == "m-1"
    results = [deposit(process, note) for note in MID_TRIP.notes]
    assert results[0]["calls"] == {"extraction": 1}
    assert results[2]["retired"] == 3
    consolidated = process.ask("consolidate")["result"]
    assert consolidated["restated"] == 2
    assert consolidated["calls"]["reanchor"] == 1
    assert process.ask("snapshot")["result"] == {"path": str(tmp_path / "exchange" / "1")}
    assert process.ask("snapshot")["result"] == {"path": str(tmp_path / "exchange" / "2")}
    assert process.ask("stop")["ok"]
    assert process.wait() == 0
    (copy,) = (tmp_path / "exchange" / "1").iterdir()
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM notes WHERE status = 'done'").fetchone() == (3,)


def test_a_driver_starts_from_its_command_and_answers_before_its_sdk_is_there(
    tmp_path: Path,
) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m-1"}'}
    started = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "memory_engine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"id": 1, "verb": "describe"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["ok"]
        answered = time.monotonic() - started
        # The lifeline, in the middle of the import.
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    assert answered < 5


@pytest.mark.parametrize(
    ("raw", "number", "kind"),
    [
        (b"\n", None, "bad_request"),
        (b"not json\n", None, "bad_request"),
        (b"[1]\n", None, "bad_request"),
        (b"\xff\xfe\n", None, "bad_request"),
        (b"[" * 100_000 + b"\n", None, "bad_request"),
        (b'{"verb": "describe"}\n', None, "bad_request"),
        (b'{"id": "1", "verb": "describe"}\n', None, "bad_request"),
        (b'{"id": true, "verb": "describe"}\n', None, "bad_request"),
        (b'{"id": 7}\n', 7, "bad_request"),
        (b'{"id": 7, "verb": "dance"}\n', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "?"}\n', 7, "unsupported"),
        (b'{"id": 7, "verb": "index"}\n', 7, "unsupported"),
        (b'{"id": 7, "verb": "deposit"}\n', 7, "bad_request"),
        (b'{"id": 7, "verb": "deposit", "name": "a", "text": "b"}\n', 7, "bad_request"),
        (
            b'{"id": 7, "verb": "deposit", "name": "a", "text": "b", "day": "2026-W37-2"}\n',
            7,
            "bad_request",
        ),
        (
            b'{"id": 7, "verb": "deposit", "name": "a", "text": "\\ud800", "day": "2026-09-01"}\n',
            7,
            "bad_request",
        ),
        (
            b'{"id": 7, "verb": "deposit", "name": " ", "text": "b", "day": "2026-09-01"}\n',
            7,
            "bad_request",
        ),
    ],
)
def test_a_bad_request_is_answered_and_the_driver_goes_on(
    tmp_path: Path, raw: bytes, number: int | None, kind: str
) -> None:
    driver = engine_driver.Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m"}'})
    reply = driver.answer(raw)
    assert (reply["id"], reply["ok"], reply["error"]["type"]) == (number, False, kind)
    assert reply["error"]["message"]
    assert "now" in reply
    assert driver.answer(b'{"id": 8, "verb": "describe"}')["ok"]


def test_a_request_too_long_is_refused_and_the_next_one_read(driver: Start) -> None:
    process = driver()
    process.write(b"neither this\n")
    assert process.reply()["error"]["type"] == "bad_request"
    process.write(b'{"id": 1, "pad": "' + b"x" * (17 * 2**20) + b'"}\n')
    assert "longer than" in process.reply()["error"]["message"]
    assert process.ask("describe")["ok"]


@pytest.mark.parametrize("settings", ["{", '{"model": "m", "options": {"sam_slot_admits": 1}}'])
def test_wrong_settings_are_said_by_every_verb(tmp_path: Path, settings: str) -> None:
    driver = engine_driver.Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": settings})
    driver.warm()
    for verb in ("describe", "deposit", "consolidate", "snapshot"):
        line = {"id": 1, "verb": verb, "name": "a", "text": "b", "day": "2026-09-01"}
        reply = driver.answer(json.dumps(line).encode())
        assert reply["error"]["type"] == "bad_request"
    assert driver.answer(b'{"id": 2, "verb": "stop"}')["ok"]


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(529), "provider"),
        (Failure(403, headers={"x-should-retry": "false"}), "gateway_refused"),
    ],
)
def test_failures_of_the_model_are_typed_and_the_deposit_can_be_made_again(
    provider: Provider, driver: Start, failure: Failure, kind: str
) -> None:
    provider.script = lambda asked: failure
    process = driver()
    name, day, text = READER.notes[0]
    reply = process.ask("deposit", name=name, day=day, text=text)
    assert reply["error"]["type"] == kind
    provider.script = READER.script
    assert deposit(process, READER.notes[0])["claims"] == 2
    assert deposit(process, READER.notes[0])["already"] is True


def test_an_unparseable_reply_is_its_own_type(provider: Provider, driver: Start) -> None:
    provider.script = lambda asked: "hm"
    process = driver()
    name, day, text = READER.notes[0]
    reply = process.ask("deposit", name=name, day=day, text=text)
    assert reply["error"]["type"] == "unparseable_reply"


def test_a_store_of_a_later_engine_is_refused_over_the_line(driver: Start, tmp_path: Path) -> None:
    process = driver()
    assert process.ask("snapshot")["ok"]
    process.kill()
    db = sqlite3.connect(tmp_path / ".memory-engine" / "memory.db")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")
    db.close()
    reply = driver().ask("consolidate")
    assert reply["error"]["type"] == "degraded"
    assert str(SCHEMA_VERSION + 7) in reply["error"]["message"]


def test_what_nobody_foresaw_is_internal_and_on_the_log(driver: Start, tmp_path: Path) -> None:
    process = driver()
    (tmp_path / "exchange").rmdir()
    reply = process.ask("snapshot")
    assert reply["error"]["type"] == "internal"
    assert "FileNotFoundError" in reply["error"]["message"]
    assert "Traceback" in process.log.read_text()
    assert process.ask("describe")["ok"]


def test_when_the_input_ends_the_driver_stops_in_the_middle_of_a_call(
    provider: Provider, driver: Start
) -> None:
    provider.hold = lambda asked: True
    process = driver()
    name, day, text = READER.notes[0]
    process.send("deposit", name=name, day=day, text=text)
    assert provider.held.wait(10)
    started = time.monotonic()
    process.close_input()
    assert process.wait(5) == 0
    assert time.monotonic() - started < 2


def test_a_stray_print_is_no_reply(tmp_path: Path) -> None:
    code = (
        "import os, threading; from memory_engine import driver;"
        "real = driver.serve;"
        "stray = lambda: (print('stray', flush=True), os.system('echo stray'));"
        "driver.serve = lambda *a: (stray(), real(*a))[1];"
        "driver.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"",
        capture_output=True,
        timeout=30,
        env={**os.environ, "HOME": str(tmp_path), "BENCH_SETTINGS": "{}"},
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr.count(b"stray") == 2


def test_a_partial_snapshot_is_never_taken_for_one(driver: Start, tmp_path: Path) -> None:
    left = tmp_path / "exchange" / ".partial-1"
    left.mkdir()
    (left / "memory.db").write_bytes(b"half")
    assert driver().ask("snapshot")["result"]["path"].endswith("/exchange/1")
    assert not left.exists()
