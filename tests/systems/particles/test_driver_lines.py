"""The driver's lines, where there is no engine: they hold, and every verb says what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from runner.paths import images

SETTINGS = json.dumps({"model": "m", "pins": {}, "options": {}})


def served(home: Path, sent: bytes, settings: str = SETTINGS) -> list[dict[str, Any]]:
    """All replies to these bytes; the driver ends when they do."""
    done = subprocess.run(
        [sys.executable, "-m", "particles_driver"],
        input=sent,
        capture_output=True,
        timeout=30,
        check=True,
        env={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(images() / "particles"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "BENCH_SETTINGS": settings,
        },
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def errors(replies: list[dict[str, Any]]) -> list[str | None]:
    return [None if reply["ok"] else reply["error"]["type"] for reply in replies]


def test_lines_of_every_kind(tmp_path: Path) -> None:
    sent = [
        b"{",
        b"[]",
        b'{"id": true, "verb": "describe"}',
        b'{"id": 3}',
        b'{"id": 4, "verb": "dance"}',
        b'{"id": 5, "verb": "learn"}',
        b'{"id": 6, "verb": "describe"}',
        b'{"id": 7, "verb": "' + b"x" * (16 * 2**20) + b'"}',
        b'{"id": 8, "verb": "stop"}',
        b'{"id": 9, "verb": "describe"}',
    ]
    replies = served(tmp_path, b"\n".join(sent) + b"\n")
    assert [reply["id"] for reply in replies] == [None, None, None, 3, 4, 5, 6, None, 8]
    kinds = ["bad_request"] * 5 + ["unsupported", "internal", "bad_request", None]
    assert errors(replies) == kinds
    assert "does not start" in replies[6]["error"]["message"]
    assert all(reply["now"].endswith("+00:00") and reply["ms"] >= 0 for reply in replies)


def test_settings_that_make_no_sense_are_told(tmp_path: Path) -> None:
    for settings in (
        "",
        '{"model": 7}',
        '{"model": "m", "pins": {"divination": "m"}}',
        '{"model": "m", "options": {"batches": 1}}',
    ):
        (reply,) = served(tmp_path, b'{"id": 1, "verb": "describe"}\n', settings)
        assert reply["error"]["type"] == "bad_request", settings


def test_half_a_line_is_no_request(tmp_path: Path) -> None:
    assert served(tmp_path, b'{"id": 1, "verb": "describe"}') == []
