import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from baselines_driver.driver import MAX_LINE, OTHER_VERBS, VERBS
from baselines_driver.methods import METHODS

from runner.model import Store
from runner.paths import images
from runner.systems.baselines.reader import read
from tests.baselines.conftest import PAGES, Asked

Made = Callable[..., Asked]


def started(home: Path, **options: Any) -> "subprocess.Popen[bytes]":
    """The driver as its image starts it, but for where it lies."""
    return subprocess.Popen(
        [sys.executable, "-m", "baselines_driver"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(images() / "baselines"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "BASELINES_EXCHANGE": str(home),
            "BENCH_SETTINGS": json.dumps({"model": "none", "options": options}),
        },
    )


def told(process: "subprocess.Popen[bytes]", line: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    return reply


def test_a_whole_talk_ends_by_itself(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "verb": "describe"},
        {"id": 2, "verb": "index", "pages": PAGES},
        {"id": 3, "verb": "ask", "question": "Where is the office?", "top_k": 1},
        {"id": 4, "verb": "snapshot"},
        {"id": 5, "verb": "stop"},
    ]
    with started(tmp_path, method="bm25") as process:
        replies = [told(process, json.dumps(line).encode()) for line in lines]
        assert process.wait(10) == 0
    assert [reply["id"] for reply in replies] == [1, 2, 3, 4, 5]
    assert all(reply["ok"] and reply["now"] and reply["ms"] >= 0 for reply in replies)
    assert replies[1]["result"] == {"pages": 4, "findable": 4}
    assert replies[2]["result"]["pages"][0]["name"] == "Office.md"
    assert replies[3]["result"] == {"path": str(tmp_path / "1")}


def test_it_stops_when_its_input_ends(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert told(process, b'{"id": 1, "verb": "describe"}')["ok"]
        began = time.monotonic()
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0
    assert time.monotonic() - began < 2


def test_a_request_too_long_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        reply = told(process, b'{"id": 1, "pad": "' + b"x" * MAX_LINE + b'"}')
        assert (reply["error"]["type"], reply["id"]) == ("bad_request", None)
        assert told(process, b'{"id": 2, "verb": "describe"}')["ok"]
        assert process.stdin is not None
        process.stdin.close()


def test_full_text_imports_no_numpy(tmp_path: Path) -> None:
    code = (
        "import io, json, sys; from baselines_driver.driver import Driver;"
        "d = Driver({'HOME': sys.argv[1], 'BENCH_SETTINGS': '{}'});"
        f"print([d.answer(line)['ok'] for line in {_lines()!r}], 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(images() / "baselines")},
    )
    assert done.stdout == "[True, True, True] False\n"


def _lines() -> list[bytes]:
    asked = {"id": 3, "verb": "ask", "question": "office", "top_k": 1}
    lines = [{"id": 1, "verb": "describe"}, {"id": 2, "verb": "index", "pages": PAGES}, asked]
    return [json.dumps(line).encode() for line in lines]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_describes_itself(system: Made, method: str) -> None:
    described = system(method=method).result("describe")
    assert (described["name"], described["settings"]["method"]) == (method, method)
    assert tuple(described["verbs"]) == VERBS
    assert (described["encoder"] is not None) == (method in ("dense", "dense-rules", "agree"))
    assert described["settings"]["sqlite"] == sqlite3.sqlite_version


@pytest.mark.parametrize(
    ("raw", "number", "kind"),
    [
        (b"\n", None, "bad_request"),
        (b"not json", None, "bad_request"),
        (b"[1]", None, "bad_request"),
        (b"\xff\xfe", None, "bad_request"),
        (b"[" * 100_000, None, "bad_request"),
        (b"", None, "bad_request"),
        (b'{"verb": "describe"}', None, "bad_request"),
        (b'{"id": "1", "verb": "describe"}', None, "bad_request"),
        (b'{"id": true, "verb": "describe"}', None, "bad_request"),
        (b'{"id": 7}', 7, "bad_request"),
        (b'{"id": 7, "verb": "dance"}', 7, "bad_request"),
        (b'{"id": 7, "verb": "index"}', 7, "bad_request"),
        (b'{"id": 7, "verb": "index", "pages": [1]}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask"}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": " ", "top_k": 1}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": 4, "top_k": 1}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "\\ud800", "top_k": 1}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "q"}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "q", "top_k": 0}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "q", "top_k": 101}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "q", "top_k": true}', 7, "bad_request"),
        (b'{"id": 7, "verb": "ask", "question": "q", "top_k": 1.0}', 7, "bad_request"),
        *((f'{{"id": 7, "verb": "{verb}"}}'.encode(), 7, "unsupported") for verb in OTHER_VERBS),
    ],
)
def test_a_bad_request_is_answered_and_the_driver_goes_on(
    indexed: Made, raw: bytes, number: int | None, kind: str
) -> None:
    made = indexed(method="bm25")
    reply = made.driver.answer(raw)
    assert (reply["id"], reply["ok"], reply["error"]["type"]) == (number, False, kind)
    assert reply["error"]["message"]
    assert made.cited("office") == ["Office.md"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        ('{"options": []}', "no JSON object"),
        ('{"purpose": {}}', "not known: purpose"),
        ('{"options": {"flor": 1}}', "not known: flor"),
        ('{"options": {"method": "bm26"}}', "no method 'bm26'"),
        ('{"options": {"method": ["bm25"]}}', "no method"),
        ('{"options": {"floor": "high"}}', "floor takes a score"),
        ('{"options": {"floor": -2}}', "floor takes a score"),
        ('{"options": {"floor_dense": true}}', "floor_dense takes a score"),
        ('{"options": {"floor": 1e999}}', "floor takes a score"),
        ('{"options": {"floor": NaN}}', "floor takes a score"),
        ('{"options": {"floors_from": "heldout"}}', "no floors come from 'heldout'"),
    ],
)
def test_wrong_settings_are_said_by_every_verb(system: Made, settings: str, words: str) -> None:
    made = system()
    made.driver._env = {**made.driver._env, "BENCH_SETTINGS": settings}
    made.driver.warm()
    asked = {"question": "q", "top_k": 1}
    for verb, payload in (("describe", {}), ("index", {"pages": PAGES}), ("ask", asked)):
        kind, message = made.error(verb, **payload)
        assert (kind, words in message) == ("bad_request", True), message
    assert made.result("stop") == {}


def test_a_search_that_fails_is_no_refusal(
    indexed: Made, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made = indexed(method="bm25")
    made.driver._method._search._db.execute("DROP TABLE pages")  # type: ignore[union-attr]
    kind, message = made.error("ask", question="office", top_k=1)
    assert (kind, "OperationalError" in message) == ("internal", True)
    assert "Traceback" in capfd.readouterr().err


def test_a_snapshot_is_a_store_without_a_claim(indexed: Made, tmp_path: Path) -> None:
    made = indexed(method="bm25-rules")
    left = tmp_path / "exchange" / ".partial-1"
    left.mkdir()
    (left / "pages.db").write_bytes(b"half")
    for number in (1, 2):
        path = Path(made.result("snapshot")["path"])
        assert path == tmp_path / "exchange" / str(number)
        assert [file.name for file in path.iterdir()] == ["pages.db"]
        assert read(path) == Store()
    names = sqlite3.connect(path / "pages.db").execute("SELECT name FROM pages").fetchall()
    assert len(names) == len(PAGES)
    assert not left.exists()


def test_a_snapshot_of_nothing_is_one_too(system: Made) -> None:
    assert read(Path(system(method="dense").result("snapshot")["path"])) == Store()


def test_a_snapshot_that_cannot_be_written_is_internal(system: Made, tmp_path: Path) -> None:
    made = system()
    (tmp_path / "exchange").rmdir()
    assert made.error("snapshot")[0] == "internal"
    assert made.result("describe")
